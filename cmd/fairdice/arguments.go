package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// arguments demands one argument for each name.
func arguments(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return fmt.Errorf("arguments given: %d, wanted: %s %s; %s --help says more", len(args), c.CommandPath(), strings.Join(names, " "), c.CommandPath())
	}
}

// guide has the command and those below it answer a wrong word with the way to
// the right one. A script that calls a command that is not there must not take
// a page of help for success.
func guide(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if c.HasSubCommands() {
		c.Args = noCommand
	}
	for _, sub := range c.Commands() {
		guide(sub)
	}
}

// noCommand refuses arguments that name no command.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := ""
	if c.SuggestionsMinimumDistance = 2; len(c.SuggestionsFor(args[0])) > 0 {
		near = fmt.Sprintf(", but %q", c.SuggestionsFor(args[0])[0])
	}
	return fmt.Errorf("there is no command %q%s: %s --help lists them", args[0], near, c.CommandPath())
}

// wrongFlag says where the right flags are.
func wrongFlag(c *cobra.Command, err error) error {
	return fmt.Errorf("%w; %s --help lists the flags", err, c.CommandPath())
}
