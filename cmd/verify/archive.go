//go:build !js

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"fairdice/audit/archive"
)

func archiveCommand() *cobra.Command {
	var flags auditFlags
	var html, signatures string
	cmd := &cobra.Command{
		Use:   "archive DIR|URL|FILE [--key VKEY | --policy FILE]",
		Short: "verify all games of a service at once",
		Long: `Verify an archive: the whole log, and every game in it from its published
secret to its last move, on all processors; then the statistics of
docs/statistics.md. FILE is a .tar.zst of an archive's directory.

Receipts are authenticated by their chain up to the one that the log names;
--signatures all verifies each of them as well.`,
		Example: `  verify archive ./archive --key "$(cat log.key)" --html report.html
  verify archive archive.tar.zst --policy policy --state audit.state --json
  verify archive extract ./archive 01970000-0000-7000-8000-0123456789ab --key "$(cat log.key)" > bundle.json`,
		Args: onePlace,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := flags.options(cmd, time.Time{})
			if err != nil {
				return err
			}
			switch signatures {
			case "all":
				o.Signatures = true
			case "chain":
			default:
				return fmt.Errorf("%q is neither chain nor all: --signatures", signatures)
			}
			r, err := flags.audit(cmd, args[0], o, archive.Verify)
			if err != nil {
				return err
			}
			if html != "" {
				if err := writeArchiveHTML(html, r); err != nil {
					return err
				}
			}
			return flags.print(cmd, r)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.rules, "rules", "", "`FILE` of further known rules versions, one VERSION HASH a line")
	f.StringVar(&signatures, "signatures", "chain", "how receipts are authenticated: chain, or all for each one as well")
	f.StringVar(&flags.state, "state", "", "keep what is done in `FILE`, so that an interrupted audit goes on from there")
	f.StringVar(&html, "html", "", "also write the report as a self-contained page to `FILE`")
	cmd.AddCommand(extractCommand())
	return cmd
}

func extractCommand() *cobra.Command {
	var flags auditFlags
	cmd := &cobra.Command{
		Use:   "extract ARCHIVE MATCH [--key VKEY | --policy FILE]",
		Short: "make the bundle of one match, with its openings rebuilt",
		Long: `Check the log of an archive and print the bundle of one match, which verify
bundle and every other verifier read. The openings, which an archive leaves
out, are rebuilt from the published secrets.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("give one ARCHIVE and one MATCH, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := flags.options(cmd, time.Time{})
			if err != nil {
				return err
			}
			files, closeFiles, err := openFiles(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer closeFiles()
			b, err := archive.Extract(cmd.Context(), files, args[1], o)
			if err != nil {
				return fmt.Errorf("%w: %s", err, args[0])
			}
			data, err := b.Encode()
			if err != nil {
				return err
			}
			if _, err := cmd.OutOrStdout().Write(append(data, '\n')); err != nil {
				return fmt.Errorf("write bundle: %w", err)
			}
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}

// writeArchiveHTML writes the report as one page.
func writeArchiveHTML(path string, r *archive.Result) error {
	page, err := archivePage(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, page, 0o644); err != nil {
		return describe(err)
	}
	return nil
}
