package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// endFile is the last checkpoint of a log that has ended; while it is there
// nothing is served and nothing signed.
func (c config) endFile() string { return filepath.Join(c.data, "ended") }

// errEnded refuses to go on with a log that has ended.
func (c config) errEnded() error {
	_, err := os.Stat(c.endFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("look for the end of the log: %w", err)
	}
	return fmt.Errorf("this log has ended, its last checkpoint is in %s: start the next one under a new origin in a new data directory", c.endFile())
}

func newEnd(s *settings) *cobra.Command {
	var sure bool
	reason := "log-ended"
	c := &cobra.Command{
		Use:   "end --for-ever",
		Short: "End the log of a stopped service for ever, as before a change of its key",
		Long: `End the log of a stopped service for ever. It is the first half of a change of the
log key: all sequences that are left are retired and their secrets published,
the last checkpoint is signed and cosigned, and the service does not start again
in this directory. Games that have not ended must be closed or aborted before.

The second half is a new data directory with a new origin; export the archive
of the old log, and publish its last checkpoint with the new key.`,
		Example: `  fairdice end --data /srv/fairdice --for-ever`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !sure {
				return errors.New("end log: nothing was done; a log that has ended cannot be taken up again, so say --for-ever")
			}
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			return endLog(c, cfg, reason)
		},
	}
	s.flags(c, "data", "master-key", "policy", "log-level")
	c.Flags().BoolVar(&sure, "for-ever", false, "do it; without it nothing is done")
	c.Flags().StringVar(&reason, "reason", reason, "reason that the retired sequences give")
	return c
}

func endLog(c *cobra.Command, cfg config, reason string) (err error) {
	if err := cfg.errNoService(); err != nil {
		return fmt.Errorf("end log: %w", err)
	}
	log := cfg.logger(c.ErrOrStderr())
	s, err := openService(c.Context(), cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	last, err := s.house.EndLog(c.Context(), reason)
	if err != nil {
		return fmt.Errorf("end log: %w", err)
	}
	if err := writeSecret(cfg.endFile(), last); err != nil {
		return fmt.Errorf("end log: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "the log %s has ended; its last checkpoint:\n\n%s", s.house.Origin(), last)
	return nil
}
