package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"fairdice/house"
	"fairdice/store"
)

// order is one thing an operator wants done with tenants and their keys.
type order struct {
	Do     string   `json:"do"` // add, list, revoke or import
	Tenant string   `json:"tenant,omitempty"`
	Label  string   `json:"label,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
	Prefix string   `json:"prefix,omitempty"`
	Throws string   `json:"throws,omitempty"` // two digits each
}

// report is what came of an order.
type report struct {
	Key     string   `json:"key,omitempty"`
	Keys    []keyRow `json:"keys,omitempty"`
	Revoked int      `json:"revoked,omitempty"`

	Imported []house.ImportedArchive `json:"imported,omitempty"`
	Left     int                     `json:"left,omitempty"`

	Error string `json:"error,omitempty"`
}

type keyRow struct {
	Tenant  string    `json:"tenant"`
	Prefix  string    `json:"prefix"`
	Label   string    `json:"label"`
	Scopes  []string  `json:"scopes"`
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// maxLabel bounds what a key is said to be for, in bytes.
const maxLabel = 200

// carryOut does what the order says, inside the process that has the database.
func (s *service) carryOut(ctx context.Context, o order) (report, error) {
	switch o.Do {
	case "add":
		// A label is printed on the operator's terminal, in a table.
		if strings.ContainsFunc(o.Label, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(o.Label) || len(o.Label) > maxLabel {
			return report{}, fmt.Errorf("label %.80q is not at most %d bytes of printable text on one line", o.Label, maxLabel)
		}
		if err := s.house.AddTenant(ctx, o.Tenant); err != nil && !errors.Is(err, store.ErrExists) {
			return report{}, err
		}
		key, err := s.house.IssueKey(ctx, o.Tenant, o.Label, o.Scopes)
		if err != nil {
			return report{}, err
		}
		return report{Key: key}, s.seal(ctx, o.Tenant)
	case "list":
		var rep report
		err := s.store.View(ctx, func(r store.Reader) error {
			rep = report{}
			return eachKey(r, func(k store.APIKey) error {
				rep.Keys = append(rep.Keys, keyRow{k.Tenant, k.Prefix, k.Label, k.Scopes, k.Created, k.Revoked})
				return nil
			})
		})
		return rep, err
	case "revoke":
		var rep report
		err := s.store.Update(ctx, func(tx store.Tx) error {
			rep = report{}
			return eachKey(tx, func(k store.APIKey) error {
				if k.Prefix != o.Prefix || !k.Revoked.IsZero() {
					return nil
				}
				rep.Revoked++
				return tx.RevokeAPIKey(k.Hash, time.Now().UTC().Truncate(time.Second))
			})
		})
		if err == nil && rep.Revoked == 0 {
			err = fmt.Errorf("no valid key begins with %q", o.Prefix)
		}
		return rep, err
	case "import":
		return s.importThrows(ctx, o)
	}
	return report{}, fmt.Errorf("unknown order %q", o.Do)
}

func eachKey(r store.Reader, fn func(store.APIKey) error) error {
	tenants, err := r.Tenants()
	if err != nil {
		return fmt.Errorf("list tenants: %w", err)
	}
	for _, t := range tenants {
		keys, err := r.APIKeys(t.Name)
		if err != nil {
			return fmt.Errorf("list keys of %s: %w", t.Name, err)
		}
		for _, k := range keys {
			if err := fn(k); err != nil {
				return err
			}
		}
	}
	return nil
}

func newTenants(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "tenants",
		Short: "Add platforms, list and revoke their API keys, also while the service runs",
		Args:  cobra.NoArgs,
	}
	var label string
	var scopes []string
	add := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a tenant, or another key for one; the key is printed this once",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			rep, err := s.command(c, order{Do: "add", Tenant: args[0], Label: label, Scopes: scopes})
			if err == nil {
				if _, err = fmt.Fprintln(c.OutOrStdout(), rep.Key); err != nil {
					err = fmt.Errorf("show API key: %w; make another, and revoke this one: the list shows how it begins", err)
				}
			}
			return err
		},
	}
	add.Flags().StringVar(&label, "label", "", "what the key is for, for the list")
	add.Flags().StringSliceVar(&scopes, "scopes", house.Scopes(), "what the key may do")
	show := &cobra.Command{
		Use:   "list",
		Short: "List the API keys of all tenants, by the beginning of each",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rep, err := s.command(c, order{Do: "list"})
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "TENANT\tKEY\tLABEL\tSCOPES\tCREATED\tREVOKED")
			for _, k := range rep.Keys {
				revoked := "-"
				if !k.Revoked.IsZero() {
					revoked = k.Revoked.Format(time.RFC3339)
				}
				fmt.Fprintf(w, "%s\t%s…\t%s\t%s\t%s\t%s\n", k.Tenant, k.Prefix, k.Label, strings.Join(k.Scopes, ","), k.Created.Format(time.RFC3339), revoked)
			}
			return w.Flush()
		},
	}
	revoke := &cobra.Command{
		Use:   "revoke PREFIX",
		Short: "End the life of the keys that the list shows with this beginning",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			rep, err := s.command(c, order{Do: "revoke", Prefix: strings.TrimSuffix(args[0], "…")})
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "revoked %d\n", rep.Revoked)
			}
			return err
		},
	}
	for _, sub := range []*cobra.Command{add, show, revoke} {
		s.flags(sub, "data", "master-key")
		c.AddCommand(sub)
	}
	return c
}

// command has the order carried out by the running service, or opens the
// database itself if none runs.
func (s *settings) command(c *cobra.Command, o order) (rep report, err error) {
	cfg, err := s.read(c)
	if err != nil {
		return rep, err
	}
	if rep, running, err := ask(c.Context(), cfg, o); running {
		return rep, err
	}
	if err := cfg.errNoService(); err != nil {
		return rep, err
	}
	svc, err := openService(c.Context(), cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, svc.stop()) }()
	return svc.carryOut(c.Context(), o)
}
