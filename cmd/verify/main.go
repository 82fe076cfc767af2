//go:build !js

// Verify checks what fairdice claims, with nothing but public files and the
// keys its user trusts. It needs no server and no account.
//
//	verify bundle match.json --key "$(cat log.key)"
//
// Exit status of every command: 0 verified, 1 a check failed, 2 evidence is
// incomplete, 3 malformed or empty input or wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"fairdice/internal/manual"
	"fairdice/web/wasm"
)

// status is the error of a command that has said everything it had to say and
// only the exit status is left.
type status int

// Error implements error; it is never printed.
func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Exit statuses that have a name of their own; the others follow from a
// report's verdict.
const exitUsage status = 3

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status. Errors go to
// stderr as "verify: what is wrong: where" and exit 3; data goes to stdout.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	fmt.Fprintf(stderr, "verify: %v\n", err)
	return int(exitUsage)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "verify",
		Short: "check the dice, the log and the games of fairdice",
		Long: `Verify checks what fairdice claims, with nothing but public files and the
keys you trust.

Exit status: 0 verified, 1 a check failed, 2 evidence is incomplete,
3 malformed or empty input, or wrong usage.`,
		Version:       version() + wasm.Line(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noCommand,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no command given: try verify --help")
		},
	}
	root.AddCommand(bundleCommand(), rollCommand(), anchorCommand(), recordCommand(), playsCommand(),
		logCommand(), archiveCommand(), luckCommand(), manual.Command())
	takeOnce(root)
	return root
}

// takeOnce makes every flag that has one value refuse a second one. Of two
// keys the last would be trusted in silence, and the first forgotten.
func takeOnce(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list && f.Value.Type() != "bool" {
			f.Value = &single{Value: f.Value}
		}
	})
	for _, sub := range cmd.Commands() {
		takeOnce(sub)
	}
}

// single is the value of a flag that is given at most once.
type single struct {
	pflag.Value
	given bool
}

// Set implements pflag.Value.
func (s *single) Set(text string) error {
	if s.given {
		return errors.New("the flag is given twice")
	}
	s.given = true
	return s.Value.Set(text)
}

// noCommand refuses arguments that name no command.
func noCommand(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no command %q: try verify --help", args[0])
	}
	return nil
}

// colored reports whether w is a terminal whose user wants colours.
func colored(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && wantsColor() && term.IsTerminal(int(file.Fd()))
}

// wantsColor reports what the environment says: NO_COLOR and TERM=dumb are
// respected.
func wantsColor() bool { return os.Getenv("NO_COLOR") == "" && !dumb() }

// dumb reports whether the terminal knows neither colours nor a cursor.
func dumb() bool { return os.Getenv("TERM") == "dumb" }
