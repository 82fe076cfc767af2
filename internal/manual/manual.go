// Package manual writes pages for man(1) of the commands of a program, from the
// same texts that --help prints, so that neither can say what the other does not.
//
//	err := manual.Write(root, "man1", time.Unix(made, 0))
//
// writes fairdice.1, fairdice-serve.1, fairdice-keys-show.1 … into a directory.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Write writes one page for the command and one for each below it. Hidden ones
// have none.
func Write(c *cobra.Command, dir string, made time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write manual: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name(c)+".1"), []byte(page(c, made)), 0o644); err != nil {
		return fmt.Errorf("write manual: %w", err)
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := Write(sub, dir, made); err != nil {
			return err
		}
	}
	return nil
}

func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func page(c *cobra.Command, made time.Time) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %s %s\n", quoted(strings.ToUpper(name(c))), quoted(made.UTC().Format(time.DateOnly)), quoted(c.Root().Name()+" "+c.Root().Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", text(name(c)), text(c.Short), text(c.UseLine()))
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, long)
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLE\n.nf\n%s\n.fi\n", text(c.Example))
	}
	options(&b, "OPTIONS", c.NonInheritedFlags())
	options(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	var see []string
	if c.HasParent() {
		see = append(see, name(c.Parent())+"(1)")
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			see = append(see, name(sub)+"(1)")
		}
	}
	if len(see) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", text(strings.Join(see, ", ")))
	}
	return b.String()
}

// paragraphs sets what is indented, as examples are, as it stands.
func paragraphs(b *strings.Builder, long string) {
	for i, p := range strings.Split(strings.TrimSpace(long), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, " ") || strings.HasPrefix(p, "\t") {
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", text(p))
		} else {
			b.WriteString(text(p) + "\n")
		}
	}
}

func options(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		if kind != "" {
			head += " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", text(head), text(usage))
	})
}

// text is text that troff takes for nothing else: no line of it is a request,
// and hyphens are those that can be copied into a shell.
func text(s string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, "\t", "    ").Replace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

func quoted(s string) string {
	return `"` + strings.ReplaceAll(text(strings.ReplaceAll(s, "\n", " ")), `"`, `\(dq`) + `"`
}

// Command is the hidden command "manual DIR" of a program.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the pages of man",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			made, err := date(os.Getenv("SOURCE_DATE_EPOCH"))
			if err != nil {
				return fmt.Errorf("write manual: %w", err)
			}
			return Write(c.Root(), args[0], made)
		},
	}
}

// date is what the pages say: a given one, so that two builds are the same.
func date(seconds string) (time.Time, error) {
	if seconds == "" {
		return time.Now(), nil
	}
	var n int64
	if _, err := fmt.Sscanf(seconds, "%d", &n); err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q is not a number of seconds", seconds)
	}
	return time.Unix(n, 0), nil
}
