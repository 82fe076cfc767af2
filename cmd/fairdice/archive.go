package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/house/export"
	"fairdice/store"
)

func newArchive(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "archive", Short: "Hand out everything that was published, as files", Args: cobra.NoArgs}
	one := &cobra.Command{
		Use:   "export DIR|FILE.tar.zst",
		Short: "Export the log and all games that have ended, also while the service runs",
		Long: `Export the log and all games that have ended to a directory or to one packed file,
for whoever wants to check everything ("verify archive") or to serve it as static
files. The service may be running.

A directory that was exported to before is continued: only what is new is read.
An export that is interrupted changes nothing of the archive that was there, and
the next one goes on where it was.

With --policy the archive ends in a checkpoint that the witnesses have cosigned.`,
		Example: `  fairdice archive export --data /srv/fairdice ./archive
  fairdice archive export --data /srv/fairdice archive.tar.zst`,
		Args: arguments("DIR|FILE.tar.zst"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			switch kind := filepath.Ext(args[0]); kind {
			case ".zip", ".tar", ".gz", ".tgz", ".zst":
				if !strings.HasSuffix(args[0], ".tar.zst") {
					return fmt.Errorf("export archive: no %s is written: name a directory, or a file that ends in .tar.zst", kind)
				}
			}
			return exportTo(c, cfg, args[0])
		},
	}
	s.flags(one, "data", "database", "master-key", "policy")
	c.AddCommand(one)
	return c
}

func exportTo(c *cobra.Command, cfg config, to string) (err error) {
	if err := cfg.errNoService(); err != nil {
		return err
	}
	key, err := readSigningKey(cfg.logKey())
	if err != nil {
		return err
	}
	src := export.Source{Key: key.public, Throws: throwsOf(cfg)}
	if cfg.policy != "" {
		text, err := os.ReadFile(cfg.policy)
		if err != nil {
			return fmt.Errorf("read policy: %w", err)
		}
		src.Policy = string(text)
	}
	db, err := openToRead(c.Context(), cfg.database(), export.DefaultWorkers+1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	src.Store = db
	meter := newMeter(c.ErrOrStderr())
	src.Progress = meter.show
	write := export.Directory
	if strings.HasSuffix(to, ".tar.zst") {
		write = export.File
	}
	start := time.Now()
	sum, err := write(c.Context(), src, to)
	meter.end()
	if err != nil {
		if export.Interrupted(err) {
			return fmt.Errorf("interrupted; the next export to a directory goes on from here: %w", err)
		}
		return err
	}
	took := time.Since(start)
	fmt.Fprintf(c.OutOrStdout(), "%d statements, %d of them new; %d games in %d matches written in %s (%.0f games/s)\n",
		sum.Size, sum.New, sum.Games, sum.Matches, took.Round(time.Millisecond), float64(sum.Games)/took.Seconds())
	return nil
}

// throwsOf reads the master key only when a game with real dice calls for it:
// whoever exports others need not be able to read it.
func throwsOf(c config) func(store.Reader, string) (commitment.Hash, []byte, error) {
	return func(r store.Reader, sequence string) (commitment.Hash, []byte, error) {
		text, err := readSecret(c.master)
		if err != nil {
			return commitment.Hash{}, nil, err
		}
		master, err := house.ParseMasterKey(text)
		if err != nil {
			return commitment.Hash{}, nil, fmt.Errorf("%s: %w", c.master, err)
		}
		return house.Throws(master)(r, sequence)
	}
}

// meter shows on a terminal how far something has come; elsewhere nothing.
type meter struct {
	out   io.Writer
	live  bool
	start time.Time
	last  time.Time
}

func newMeter(out io.Writer) *meter {
	f, ok := out.(*os.File)
	return &meter{out: out, live: ok && term.IsTerminal(int(f.Fd())), start: time.Now()}
}

func (m *meter) show(p export.Progress) {
	now := time.Now()
	if !m.live || now.Sub(m.last) < 100*time.Millisecond && p.Done < p.Size {
		return
	}
	m.last = now
	share := float64(p.Done-p.First) / float64(max(1, p.Size-p.First))
	left := ""
	if share > 0 && share < 1 {
		took := now.Sub(m.start)
		left = ", " + time.Duration(float64(took)*(1-share)/share).Round(time.Second).String() + " left"
	}
	fmt.Fprintf(m.out, "\r\x1b[K%d of %d statements, %d games (%.0f %%%s)", p.Done, p.Size, p.Games, 100*share, left)
}

// end leaves the line.
func (m *meter) end() {
	if m.live && !m.last.IsZero() {
		fmt.Fprintln(m.out)
	}
}
