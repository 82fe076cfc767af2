//go:build !js

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairdice/audit"
	"fairdice/internal/phrase"
)

// trustFlags are the flags that say whom the user trusts.
type trustFlags struct {
	key, policy, rules, anchor string
	witnesses                  []string
}

func (t *trustFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.key, "key", "", "the log's verifier `VKEY`, pinned")
	f.StringVar(&t.policy, "policy", "", "trust policy `FILE` (C2SP tlog-policy): logs and witnesses")
	f.StringVar(&t.rules, "rules", "", "`FILE` of further known rules versions, one VERSION HASH a line")
	f.StringVar(&t.anchor, "my-anchor", "", "your own anchor, 64 `HEX` digits: proves L2 and L3 to you")
	f.StringArrayVar(&t.witnesses, "witness", nil, "witness `VKEY` that must have cosigned; may be repeated")
	cmd.MarkFlagsMutuallyExclusive("key", "policy")
}

// trust reads the flags' values; everything that is wrong with them is wrong
// usage.
func (t *trustFlags) trust(cmd *cobra.Command) (audit.Trust, error) {
	if err := refuseEmpty(cmd); err != nil {
		return audit.Trust{}, err
	}
	p := pins{key: t.key, anchor: t.anchor, witnesses: t.witnesses}
	// The key is looked at before any file, so that of two faults the one on
	// the command line is named.
	if _, err := p.trust(time.Time{}); err != nil {
		if _, e := os.Stat(t.key); t.key != "" && e == nil { // its name in the place of what is in it
			return audit.Trust{}, fmt.Errorf("the key itself is wanted, not its file: --key \"$(cat %s)\"", t.key)
		}
		return audit.Trust{}, err
	}
	var err error
	if p.policy, err = readText(t.policy); err != nil {
		return audit.Trust{}, err
	}
	if p.rules, err = readText(t.rules); err != nil {
		return audit.Trust{}, err
	}
	return p.trust(time.Now())
}

// readText reads a policy or rules file, if one was named.
func readText(path string) (text, error) {
	if path == "" {
		return text{}, nil
	}
	content, err := readFile(path, maxTrustFile)
	return text{name: path, content: string(content), given: true}, err
}

func bundleCommand() *cobra.Command {
	var trust trustFlags
	var speech speech
	var asJSON bool
	var html string
	cmd := &cobra.Command{
		Use:   "bundle FILE [--key VKEY | --policy FILE]",
		Short: "verify the bundle of a match",
		Long: `Verify a bundle: the signed log, the sealed dice, every roll, every move and
the result. Without a pinned key or policy the bundle can only be shown to be
self-consistent, and the exit status is 2.`,
		Example: `  verify bundle match.json --key "$(cat log.key)"
  verify bundle match.json --policy policy --my-anchor "$(cat anchor-a)" --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := trust.trust(cmd)
			if err == nil {
				err = speech.choose(cmd)
			}
			if err != nil {
				return err
			}
			report, err := verifyFile(args[0], t)
			if err != nil {
				return err
			}
			if html != "" {
				if err := writeHTML(html, report, speech); err != nil {
					return err
				}
			}
			return printReport(cmd, args[0], report, asJSON, speech)
		},
	}
	trust.register(cmd)
	speech.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&html, "html", "", "also write the report as a self-contained page to `FILE`")
	return cmd
}

// oneFile demands exactly one argument.
func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one FILE, not %d", len(args))
	}
	return nil
}

// refuseEmpty refuses flags that were given an empty value. With
// --key "$(cat missing-file)" the key would be forgotten in silence, and with it
// the difference between "verified" and "self-consistent only".
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); v == "" || v == "[]" || v == `[""]` {
			err = fmt.Errorf("the value is empty: --%s", f.Name)
		}
	})
	return err
}

// verifyFile verifies the bundle in a file. A file that is too large is a
// malformed bundle and is not read at all; a file that cannot be read is an
// error.
func verifyFile(path string, t audit.Trust) (audit.Report, error) {
	data, err := readFile(path, audit.MaxBundle)
	if errors.Is(err, errTooLarge) {
		return audit.Refuse(err), nil
	}
	if err != nil {
		return audit.Report{}, err
	}
	return audit.Verify(data, t), nil
}

// printReport prints the report and turns its verdict into the exit status.
func printReport(cmd *cobra.Command, path string, r audit.Report, asJSON bool, s speech) error {
	out := cmd.OutOrStdout()
	var err error
	if asJSON {
		var data []byte
		if data, err = r.JSON(); err == nil {
			_, err = out.Write(data)
		}
	} else {
		_, err = io.WriteString(out, r.Text(audit.TextStyle{Color: colored(out), Board: drawState, Words: s.words}))
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if r.Verdict == audit.Malformed {
		fmt.Fprintf(cmd.ErrOrStderr(), "verify: %s: %s\n", r.Checks[0].Detail, path)
	}
	if code := r.Verdict.ExitCode(); code != 0 {
		return status(code)
	}
	return nil
}

// readFile reads at most limit bytes of a file. The size is asked for first, so
// that an oversized file costs nothing; a file that grows, or is no regular
// one, is still cut off at the limit.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, describe(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, describe(err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("a directory, not a file: %s", path)
	}
	if err := fits(info.Size(), limit); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, describe(err)
	}
	if int64(len(data)) > limit {
		return nil, phrase.Errorf("%w: more than %d bytes", errTooLarge, limit)
	}
	return data, nil
}

// describe turns a file error round: what is wrong first, then where.
func describe(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%w: %s", e.Err, e.Path)
	}
	return err
}
