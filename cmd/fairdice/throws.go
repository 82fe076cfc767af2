package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
)

const (
	// maxThrows bounds one import; what is longer is imported in parts.
	maxThrows = 1 << 20
	// maxBadLines is how many bad lines a refusal names.
	maxBadLines = 20
)

// recorded are throws read from a file, each with the line it stood on.
type recorded struct {
	dice []commitment.Dice
	line []int
}

// readThrows reads recorded throws, one "d1 d2" a line. Empty lines and those
// that begin with # are passed over; every other line that is no throw is named.
func readThrows(r io.Reader) (recorded, error) {
	var out recorded
	var bad []error
	more := 0
	scan := bufio.NewScanner(r)
	n := 0
	for scan.Scan() {
		n++
		text := strings.TrimSuffix(scan.Text(), "\r")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if len(text) != 3 || text[1] != ' ' || !(commitment.Dice{D1: text[0] - '0', D2: text[2] - '0'}).Valid() {
			if len(bad) < maxBadLines {
				bad = append(bad, fmt.Errorf("line %d: %.40q is not a throw \"d1 d2\" of dice from 1 to 6", n, text))
			} else {
				more++
			}
			continue
		}
		if len(out.dice) == maxThrows {
			return out, fmt.Errorf("read throws: line %d: more than %d throws; import them in parts", n, maxThrows)
		}
		out.dice = append(out.dice, commitment.Dice{D1: text[0] - '0', D2: text[2] - '0'})
		out.line = append(out.line, n)
	}
	if err := scan.Err(); err != nil {
		return out, fmt.Errorf("read throws: line %d: %w", n+1, err)
	}
	if more > 0 {
		bad = append(bad, fmt.Errorf("and %d more", more))
	}
	if len(bad) > 0 {
		return out, fmt.Errorf("read throws: nothing was imported:\n%w", errors.Join(bad...))
	}
	return out, nil
}

// throwsText is the order's form of throws: two digits each.
func throwsText(dice []commitment.Dice) string {
	b := make([]byte, 0, 2*len(dice))
	for _, d := range dice {
		b = append(b, '0'+d.D1, '0'+d.D2)
	}
	return string(b)
}

func (s *service) importThrows(ctx context.Context, o order) (report, error) {
	if len(o.Throws)%2 != 0 {
		return report{}, errors.New("the throws of the order break off")
	}
	dice := make([]commitment.Dice, 0, len(o.Throws)/2)
	for i := 0; i < len(o.Throws); i += 2 {
		dice = append(dice, commitment.Dice{D1: o.Throws[i] - '0', D2: o.Throws[i+1] - '0'})
	}
	known := false
	if err := s.store.View(ctx, func(r store.Reader) error {
		tenants, err := r.Tenants()
		known = slices.ContainsFunc(tenants, func(t store.Tenant) bool { return t.Name == o.Tenant })
		return err
	}); err != nil {
		return report{}, fmt.Errorf("list tenants: %w", err)
	}
	if !known {
		return report{}, fmt.Errorf("there is no tenant %q", o.Tenant)
	}
	imp, err := s.house.ImportThrows(ctx, o.Tenant, dice)
	var refused *house.Error
	if errors.As(err, &refused) {
		return report{}, errors.New(refused.Message)
	}
	if err != nil {
		return report{}, err
	}
	return report{Imported: imp.Archives, Left: imp.Left}, nil
}

func newThrows(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "throws", Short: "Import recorded physical throws for mode real", Args: cobra.NoArgs}
	imp := &cobra.Command{
		Use:   "import FILE",
		Short: "Cut recorded throws into sealed sequences of mode real, also while the service runs",
		Long: `Cut recorded throws into sealed sequences of mode real.

FILE has one throw "d1 d2" a line, in the order in which they were thrown; lines
that begin with # are comments. Every sequence gets a random salt; the hash of
its archive file is in the public log at once, the file itself only when the
secret of the sequence is published. A throw is used once: throws that were
imported before are refused with the whole file. What is left at the end and
does not fill a sequence is not imported: put it at the head of the next file.`,
		Example: `  fairdice throws import throws-2026-07.txt --tenant club`,
		Args:    arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("read throws: %w", err)
			}
			defer f.Close()
			read, err := readThrows(f)
			if err != nil {
				return fmt.Errorf("%w: %s", err, args[0])
			}
			tenant, err := s.tenant(c)
			if err != nil {
				return err
			}
			rep, err := s.command(c, order{Do: "import", Tenant: tenant, Throws: throwsText(read.dice)})
			if err != nil {
				return fmt.Errorf("import throws: %w: %s", err, args[0])
			}
			out := c.OutOrStdout()
			for _, a := range rep.Imported {
				fmt.Fprintf(out, "real %d  %s  lines %d to %d  archive %s\n", a.Number, a.Sequence, read.line[a.First-1], read.line[a.Last-1], a.Hash)
			}
			fmt.Fprintf(out, "imported %d throws in %d sequences of tenant %s", len(read.dice)-rep.Left, len(rep.Imported), tenant)
			if rep.Left > 0 {
				fmt.Fprintf(out, "; the last %d, from line %d on, do not fill one and are unused", rep.Left, read.line[len(read.line)-rep.Left])
			}
			fmt.Fprintln(out)
			return nil
		},
	}
	s.flags(imp, "data", "master-key", "tenant")
	imp.Flags().Lookup("tenant").Usage = "tenant whose matches get the sequences"
	c.AddCommand(imp)
	return c
}
