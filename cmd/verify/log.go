//go:build !js

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"fairdice/audit/archive"
	"fairdice/commitment"
)

// auditFlags are what the audits of logs and archives have in common.
type auditFlags struct {
	trustFlags
	seen    []string
	now     string
	workers int
	state   string
	asJSON  bool
}

func (a *auditFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.key, "key", "", "the log's verifier `VKEY`, pinned")
	f.StringVar(&a.policy, "policy", "", "trust policy `FILE` (C2SP tlog-policy): logs and witnesses")
	f.StringArrayVar(&a.witnesses, "witness", nil, "witness `VKEY` that must have cosigned; may be repeated")
	f.StringArrayVar(&a.seen, "seen", nil, "signed checkpoint `FILE` you kept; the log must have grown from it; may be repeated")
	f.StringVar(&a.now, "now", "", "judge deadlines that nothing has met at this `TIME` (2026-11-29T21:52:06Z)")
	f.IntVar(&a.workers, "workers", 0, "goroutines that verify `N` matches at a time (default: one for each processor)")
	f.BoolVar(&a.asJSON, "json", false, "print the report as JSON")
	cmd.MarkFlagsMutuallyExclusive("key", "policy")
}

// options reads the flags' values.
func (a *auditFlags) options(cmd *cobra.Command, now time.Time) (archive.Options, error) {
	trust, err := a.trust(cmd)
	if err != nil {
		return archive.Options{}, err
	}
	trust.Now = now
	if a.now != "" {
		if trust.Now, err = commitment.ParseTime(a.now); err != nil {
			return archive.Options{}, fmt.Errorf("%w: --now", err)
		}
	}
	if a.workers < 0 {
		return archive.Options{}, fmt.Errorf("%d is no number of workers: --workers", a.workers)
	}
	o := archive.Options{Trust: trust, Workers: a.workers}
	for _, path := range a.seen {
		raw, err := readFile(path, maxTrustFile)
		if err != nil {
			return o, err
		}
		o.Seen = append(o.Seen, string(raw))
	}
	return o, nil
}

// audit opens the archive and runs the audit over it, with progress and, if a
// state file is named, so that it can be interrupted and gone on with.
func (a *auditFlags) audit(cmd *cobra.Command, where string, o archive.Options,
	run func(context.Context, archive.Files, archive.Options) (*archive.Result, error)) (*archive.Result, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// What an audit holds is small and what it passes through is large: collect
	// rarely while there is room, and in time when there is not.
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(gcLimit)
	files, closeFiles, err := openFiles(ctx, where)
	if err != nil {
		return nil, err
	}
	defer closeFiles()
	keep, err := newScratch()
	if err != nil {
		return nil, err
	}
	defer keep.file.Close()
	o.Scratch = keep
	if a.state != "" {
		o.Resume, err = os.ReadFile(a.state)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, describe(err)
		}
		o.Save = func(data []byte) error { return replaceFile(a.state, data) }
	}
	show, done := progress(cmd.ErrOrStderr())
	o.Progress = show
	result, err := run(ctx, files, o)
	done()
	switch {
	case err != nil && ctx.Err() != nil && a.state != "":
		return nil, fmt.Errorf("interrupted; the same command goes on: %s", a.state)
	case err != nil && ctx.Err() != nil:
		return nil, errors.New("interrupted; with --state FILE an audit can be gone on with")
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, where)
	}
	if a.state != "" {
		if err := os.Remove(a.state); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, describe(err)
		}
	}
	return result, nil
}

// When garbage is collected: at gcPercent beyond what is held, and as often as
// it takes to stay below gcLimit.
const (
	gcPercent = 400
	gcLimit   = 192 << 20
)

// print prints the report and turns its verdict into the exit status.
func (a *auditFlags) print(cmd *cobra.Command, r *archive.Result) error {
	var err error
	if a.asJSON {
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetEscapeHTML(false)
		err = enc.Encode(r)
	} else {
		_, err = io.WriteString(cmd.OutOrStdout(), r.Text())
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if code := r.Verdict.ExitCode(); code != 0 {
		return status(code)
	}
	return nil
}

// replaceFile writes a file so that after a crash the old or the new one is
// there.
func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return describe(err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(describe(err), os.Remove(f.Name()))
	}
	return nil
}

func logCommand() *cobra.Command {
	var flags auditFlags
	cmd := &cobra.Command{
		Use:   "log URL|DIR [--key VKEY | --policy FILE]",
		Short: "verify a whole log",
		Long: `Read a log from its first statement to the last: rebuild every tile and the
root of every checkpoint, and check the statements' grammar, order and numbers,
the published secrets, and which sequences are overdue. Records and receipts
are not looked at; verify archive does that.`,
		Example: `  verify log https://dice.example.org --key "$(cat log.key)" --seen checkpoint-of-last-year
  verify log ./archive --policy policy --json`,
		Args: onePlace,
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Time{}
			if isAddress(args[0]) {
				now = time.Now().UTC().Truncate(time.Second) // a log that stands still misses deadlines too
			}
			o, err := flags.options(cmd, now)
			if err != nil {
				return err
			}
			r, err := flags.audit(cmd, args[0], o, archive.VerifyLog)
			if err != nil {
				return err
			}
			return flags.print(cmd, r)
		},
	}
	flags.register(cmd)
	return cmd
}

// onePlace demands exactly one argument.
func onePlace(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one URL, DIR or FILE, not %d", len(args))
	}
	return nil
}
