package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newConfig(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Look at the settings, or check them before a start", Args: cobra.NoArgs}
	keys := make([]string, len(list))
	for i, l := range list {
		keys[i] = l.key
	}
	for _, sub := range []*cobra.Command{newConfigPrint(s), newConfigCheck(s)} {
		s.flags(sub, keys...)
		c.AddCommand(sub)
	}
	return c
}

// printed is a setting as `config print --json` has it.
type printed struct {
	Setting  string `json:"setting"`
	Value    any    `json:"value"`
	Origin   string `json:"origin"`
	Variable string `json:"variable"`
	Help     string `json:"help"`
}

func newConfigPrint(s *settings) *cobra.Command {
	var machine bool
	c := &cobra.Command{
		Use:   "print",
		Short: "Print every setting with its value and where that comes from, in the form of a settings file",
		Example: `  fairdice config print >fairdice.yaml
  FAIRDICE_LISTEN=127.0.0.1:9000 fairdice config print --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := s.read(c); err != nil {
				return err
			}
			all := make([]printed, len(list))
			for i, l := range list {
				all[i] = printed{l.key, s.v.Get(l.key), s.from(l.key), envOf(l.key), l.help}
				if _, text := l.initial.(string); text {
					all[i].Value = s.v.GetString(l.key)
				} else {
					all[i].Value = s.v.GetInt(l.key)
				}
				if l.key == "database" {
					all[i].Value = withoutPassword(s.v.GetString(l.key))
				}
			}
			if machine {
				return writeJSON(c, struct {
					Settings []printed `json:"settings"`
				}{all})
			}
			out := c.OutOrStdout()
			for _, p := range all {
				fmt.Fprintf(out, "# %s (%s)\n# from: %s\n", p.Help, p.Variable, p.Origin)
				if text, ok := p.Value.(string); ok {
					p.Value = fmt.Sprintf("%q", text)
				}
				fmt.Fprintf(out, "%s: %v\n", p.Setting, p.Value)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&machine, "json", false, "print JSON")
	return c
}

func newConfigCheck(s *settings) *cobra.Command {
	var machine bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check the settings and the files they name, without starting anything",
		Long: `Check the settings and the files they name as serve would read them, and say all
that is wrong at once: what, in which setting, and whether that came from a flag,
the environment or the settings file. Nothing is written, bound or connected to.

An error keeps the service from starting: then the exit code is 1. A warning
is unwise, a secret that others can read for instance; with warnings alone
the exit code is 0.`,
		Example: `  fairdice config check --config /etc/fairdice.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, found := s.gather(c)
			s.inspect(cfg, &found)
			if machine {
				err := writeJSON(c, struct {
					OK       bool     `json:"ok"`
					Problems problems `json:"problems"`
				}{found.count(severe) == 0, append(problems{}, found...)})
				if err != nil {
					return err
				}
			} else {
				for _, p := range found {
					fmt.Fprintf(c.OutOrStdout(), "%s: %v\n", p.Severity, p)
				}
			}
			if n := found.count(severe); n > 0 {
				return fmt.Errorf("check settings: errors: %d", n)
			}
			if !machine {
				fmt.Fprintln(c.OutOrStdout(), "the settings are good")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&machine, "json", false, "print JSON")
	return c
}
