package main

import (
	"context"
	"encoding/json"
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

// order is one thing an operator wants done with tenants, their keys and their endpoints.
type order struct {
	Do      string   `json:"do"` // add, list, rotate, revoke or import, or "webhooks " and a verb of those
	Tenant  string   `json:"tenant,omitempty"`
	Label   string   `json:"label,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
	Expires string   `json:"expires,omitempty"` // as parseExpiry has it
	Prefix  string   `json:"prefix,omitempty"`
	Overlap string   `json:"overlap,omitempty"` // as parseSpan has it
	Throws  string   `json:"throws,omitempty"`  // two digits each

	Hook hookOrder `json:"hook,omitzero"`
}

// report is what came of an order.
type report struct {
	Key     string    `json:"key,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // of that key
	OldEnds time.Time `json:"oldEnds,omitzero"` // of the key it replaces
	Keys    []keyRow  `json:"keys,omitempty"`
	Revoked int       `json:"revoked,omitempty"`

	Imported []house.ImportedArchive `json:"imported,omitempty"`
	Left     int                     `json:"left,omitempty"`

	Hook hookReport `json:"hook,omitzero"`

	Error string `json:"error,omitempty"`
}

// keyRow is a key in the list. Revoked lies ahead while State is ending.
type keyRow struct {
	Tenant  string         `json:"tenant"`
	Prefix  string         `json:"prefix"`
	Label   string         `json:"label"`
	Scopes  []string       `json:"scopes"`
	State   house.KeyState `json:"state"`
	Created time.Time      `json:"created"`
	Expires time.Time      `json:"expires,omitzero"`
	Revoked time.Time      `json:"revoked,omitzero"`
	Used    time.Time      `json:"used,omitzero"`
	Next    string         `json:"next,omitempty"` // prefix of its successor
}

// maxLabel bounds what a key is said to be for, in bytes.
const maxLabel = 200

// carryOut does what the order says, inside the process that has the database.
func (s *service) carryOut(ctx context.Context, o order) (report, error) {
	rep, err := s.obey(ctx, o)
	var e *house.Error
	if errors.As(err, &e) { // the code is for machines on the network
		err = errors.New(e.Message)
		if e.Code == house.NotFound {
			err = fmt.Errorf("%w; \"fairdice %s\" shows what there is", err, o.listedBy())
		}
	}
	return rep, err
}

// listedBy is the command that lists what an order names.
func (o order) listedBy() string {
	switch {
	case o.Do == "webhooks replay" && o.Hook.Message != "":
		return "webhooks dead"
	case strings.HasPrefix(o.Do, "webhooks ") && o.Do != "webhooks add":
		return "webhooks list"
	}
	return "tenants list"
}

func (s *service) obey(ctx context.Context, o order) (report, error) {
	if strings.HasPrefix(o.Do, "webhooks ") {
		return s.hook(ctx, o)
	}
	switch o.Do {
	case "add":
		// A label is printed on the operator's terminal, in a table.
		if strings.ContainsFunc(o.Label, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(o.Label) || len(o.Label) > maxLabel {
			return report{}, fmt.Errorf("label %.80q is not at most %d bytes of printable text on one line", o.Label, maxLabel)
		}
		expires, err := parseExpiry(o.Expires, s.now())
		if err != nil {
			return report{}, err
		}
		if err := s.house.AddTenant(ctx, o.Tenant); err != nil && !errors.Is(err, store.ErrExists) {
			return report{}, err
		}
		key, err := s.house.IssueKeyUntil(ctx, o.Tenant, o.Label, o.Scopes, expires)
		if err != nil {
			return report{}, err
		}
		return report{Key: key, Expires: expires}, s.seal(ctx, o.Tenant)
	case "list":
		keys, err := s.house.Keys(ctx)
		var rep report
		for _, k := range keys {
			rep.Keys = append(rep.Keys, keyRow{k.Tenant, k.Prefix, k.Label, k.Scopes, k.State, k.Created, k.Expires, k.Revoked, k.Used, k.Next})
		}
		return rep, err
	case "rotate":
		overlap, err := parseSpan(o.Overlap)
		if err != nil {
			return report{}, fmt.Errorf("overlap %w", err)
		}
		r, err := s.house.RotateKey(ctx, o.Prefix, overlap)
		return report{Key: r.Key, Expires: r.Expires, OldEnds: r.OldEnds}, err
	case "revoke":
		n, err := s.house.RevokeKeys(ctx, o.Prefix)
		return report{Revoked: n}, err
	case "import":
		return s.importThrows(ctx, o)
	}
	return report{}, fmt.Errorf("unknown order %q", o.Do)
}

func (s *service) now() time.Time {
	if s.config.now != nil {
		return s.config.now()
	}
	return time.Now()
}

func newTenants(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "tenants",
		Short: "Add platforms, list, replace and revoke their API keys, also while the service runs",
		Args:  cobra.NoArgs,
	}
	for _, sub := range []*cobra.Command{newTenantsAdd(s), newTenantsList(s), newTenantsRotate(s), newTenantsRevoke(s)} {
		s.flags(sub, "data", "database", "master-key")
		c.AddCommand(sub)
	}
	return c
}

func newTenantsAdd(s *settings) *cobra.Command {
	o := order{Do: "add"}
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a tenant, or another key for one; the key is printed this once",
		Long: `Add a tenant with its first API key, or another key for a tenant that is there.
The key is printed this once; the service keeps only its hash.

A key has no end unless --expires gives one: a time from now (90d, 12h), the
last day on which it works, in UTC (2027-01-31), or an instant
(2027-01-31T18:00:00Z). After that it is refused with 401, and the answer says why.`,
		Example: `  fairdice tenants add club --label "dice server" --scopes match,draw --expires 90d`,
		Args:    arguments("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Tenant = args[0]
			rep, err := s.command(c, o)
			if err != nil {
				return err
			}
			return showKey(c, rep)
		},
	}
	c.Flags().StringVar(&o.Label, "label", "", "what the key is for, for the list")
	c.Flags().StringSliceVar(&o.Scopes, "scopes", house.Scopes(), "what the key may do")
	c.Flags().StringVar(&o.Expires, "expires", never, "when the key ends")
	return c
}

// showKey prints a new key alone on stdout, for a pipe, and what is to be
// known about it on stderr.
func showKey(c *cobra.Command, rep report) error {
	if _, err := fmt.Fprintln(c.OutOrStdout(), rep.Key); err != nil {
		return fmt.Errorf("show key: %w; make another in its place: the list shows how this one begins", err)
	}
	if !rep.Expires.IsZero() {
		fmt.Fprintf(c.ErrOrStderr(), "this key expires on %s\n", rep.Expires.Format(time.RFC3339))
	}
	if !rep.OldEnds.IsZero() {
		fmt.Fprintf(c.ErrOrStderr(), "the key before it ends on %s\n", rep.OldEnds.Format(time.RFC3339))
	}
	return nil
}

func newTenantsList(s *settings) *cobra.Command {
	var machine bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the API keys of all tenants, by the beginning of each",
		Long: `List the API keys of all tenants, by the beginning of each.

A key is valid, ending (it was replaced; ENDS says when), revoked or expired.
USED is when it was last used, to the minute.`,
		Example: `  fairdice tenants list --data /srv/fairdice`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rep, err := s.command(c, order{Do: "list"})
			if err != nil {
				return err
			}
			if machine {
				return writeJSON(c, struct {
					Keys []keyRow `json:"keys"`
				}{append([]keyRow{}, rep.Keys...)})
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "TENANT\tKEY\tLABEL\tSCOPES\tSTATE\tCREATED\tENDS\tUSED")
			for _, k := range rep.Keys {
				ends := k.Revoked
				if ends.IsZero() || !k.Expires.IsZero() && k.Expires.Before(ends) {
					ends = k.Expires
				}
				fmt.Fprintf(w, "%s\t%s…\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Tenant, k.Prefix, k.Label, strings.Join(k.Scopes, ","), k.State,
					k.Created.Format(time.RFC3339), instantOr(ends, never), instantOr(k.Used, never))
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&machine, "json", false, "print JSON")
	return c
}

func instantOr(t time.Time, zero string) string {
	if t.IsZero() {
		return zero
	}
	return t.Format(time.RFC3339)
}

func writeJSON(c *cobra.Command, v any) error {
	e := json.NewEncoder(c.OutOrStdout())
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func newTenantsRotate(s *settings) *cobra.Command {
	o := order{Do: "rotate"}
	c := &cobra.Command{
		Use:   "rotate PREFIX",
		Short: "Issue a key in the place of the one that the list shows with this beginning",
		Long: `Issue a key in the place of the one that the list shows with this beginning, with
its label and scopes, for as long as that one was issued for. The new key is
printed this once. The old one goes on working through the overlap, so that
the platform changes over without a pause; --overlap 0h ends it at once.

Asked again for the same key, it does nothing and says which key is the
successor. If the new key got lost, revoke it and rotate again.`,
		Example: `  fairdice tenants rotate fd_club_Ab3d --overlap 7d`,
		Args:    arguments("PREFIX"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Prefix = strings.TrimSuffix(args[0], "…")
			rep, err := s.command(c, o)
			if err != nil {
				return err
			}
			return showKey(c, rep)
		},
	}
	c.Flags().StringVar(&o.Overlap, "overlap", "24h", "how long the old key goes on working, at most 90d")
	return c
}

func newTenantsRevoke(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke PREFIX",
		Short: "End the life of the keys that the list shows with this beginning",
		Long: `End the life of the keys that the list shows with this beginning, also of one
that was replaced and is in its overlap. A running service refuses them within
three seconds.`,
		Example: `  fairdice tenants revoke fd_club_Ab3d`,
		Args:    arguments("PREFIX"),
		RunE: func(c *cobra.Command, args []string) error {
			rep, err := s.command(c, order{Do: "revoke", Prefix: strings.TrimSuffix(args[0], "…")})
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "revoked %d\n", rep.Revoked)
			}
			return err
		},
	}
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
