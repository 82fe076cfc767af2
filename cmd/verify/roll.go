//go:build !js

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"fairdice/audit"
)

func rollCommand() *cobra.Command {
	var trust trustFlags
	var speech speech
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "roll FILE [--key VKEY | --policy FILE]",
		Short: "verify one roll while the game is played",
		Long: `Verify one roll by itself, during the game, from the file that a draw answers:
that it opens the root the house published before the first roll, under the
signed log and the players' links. What needs the secret is checked by verify
bundle when the game has ended. Without a pinned key or policy the exit status
is 2.`,
		Example: `  verify roll roll.json --key "$(cat log.key)"`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := trust.trust(cmd)
			if err == nil {
				err = speech.choose(cmd)
			}
			if err != nil {
				return err
			}
			data, err := readFile(args[0], audit.MaxRoll)
			report := audit.Report{}
			switch {
			case errors.Is(err, errTooLarge):
				report = audit.RefuseRoll(err)
			case err != nil:
				return err
			default:
				report = audit.VerifyRoll(data, t)
			}
			return printReport(cmd, args[0], report, asJSON, speech)
		},
	}
	trust.register(cmd)
	speech.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}
