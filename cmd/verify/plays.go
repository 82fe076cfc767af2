//go:build !js

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fairdice/internal/plays"
	"fairdice/rules"
)

func playsCommand() *cobra.Command {
	var o plays.Options
	cmd := &cobra.Command{
		Use:   "plays [--variant VARIANT] < REQUESTS",
		Short: "list all legal ends of single stages",
		Long: `Answer questions about single stages: one JSON object a line in, one a line out,
in order. A request names position, mover and dice; whatever is missing means an
ordinary roll in the middle of a game. A bad request is answered with its error,
and the exit status is 3 at the end.`,
		Example: `  echo '{"pid":"4HPwATDgc/ABMA","dice":[3,1]}' | verify plays --pid`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("requests are read from standard input: %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			if o.Variant != "" {
				if _, err := rules.Lookup(o.Variant); err != nil {
					return fmt.Errorf("%w: --variant", err)
				}
			}
			bad, err := plays.Serve(cmd.InOrStdin(), cmd.OutOrStdout(), o)
			if err != nil {
				return err
			}
			if bad > 0 {
				return exitUsage
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Variant, "variant", "", "`VARIANT` of requests that name none")
	cmd.Flags().BoolVar(&o.PID, "pid", false, "positions are GNU Backgammon Position IDs, seen by the mover")
	return cmd
}
