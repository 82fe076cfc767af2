package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairdice/house"
	"fairdice/internal/webhook"
)

// courier is the sender of webhooks in the words of the house.
type courier struct{ *webhook.Sender }

func (c courier) Send(ctx context.Context, p house.Parcel) house.Delivery {
	return house.Delivery(c.Sender.Send(ctx, webhook.Request(p)))
}

// hookOrder is what an operator wants done with endpoints; the verb is in order.Do.
type hookOrder struct {
	ID       string    `json:"id,omitempty"` // of an endpoint
	Message  string    `json:"message,omitempty"`
	Address  string    `json:"address,omitempty"`
	Events   []string  `json:"events,omitempty"`
	Plain    bool      `json:"plain,omitempty"`
	Unshared bool      `json:"unshared,omitempty"` // Ed25519
	Since    time.Time `json:"since,omitzero"`
	Limit    int       `json:"limit,omitempty"`
}

// hookReport is what came of it.
type hookReport struct {
	Endpoint  string        `json:"endpoint,omitempty"`
	Endpoints []endpointRow `json:"endpoints,omitempty"`
	Dead      []deadRow     `json:"dead,omitempty"`
	Replayed  int           `json:"replayed,omitempty"`
	Status    int           `json:"status,omitempty"`
	Failure   string        `json:"failure,omitempty"`
}

type endpointRow struct {
	ID       string    `json:"id"`
	Tenant   string    `json:"tenant"`
	Address  string    `json:"address"`
	Events   []string  `json:"events"` // none: all
	Created  time.Time `json:"created"`
	Rotating time.Time `json:"rotatingUntil,omitzero"`
	Disabled time.Time `json:"disabled,omitzero"`
	Reason   string    `json:"reason,omitempty"`
}

type deadRow struct {
	Message  string    `json:"message"`
	Endpoint string    `json:"endpoint"`
	Type     string    `json:"type"`
	Created  time.Time `json:"created"`
	GivenUp  time.Time `json:"givenUp"`
	Attempts int       `json:"attempts"`
	Failure  string    `json:"failure"`
}

// hook carries out an order about endpoints.
func (s *service) hook(ctx context.Context, o order) (report, error) {
	var rep report
	var err error
	switch h := o.Hook; strings.TrimPrefix(o.Do, "webhooks ") {
	case "add":
		k, e := s.house.AddEndpoint(ctx, house.EndpointRequest{Tenant: o.Tenant, Address: h.Address, Events: h.Events, Plain: h.Plain, Asymmetric: h.Unshared})
		rep.Key, rep.Hook.Endpoint, err = k.Key, k.ID, e
	case "list":
		all, e := s.house.Endpoints(ctx)
		for _, p := range all {
			rep.Hook.Endpoints = append(rep.Hook.Endpoints, endpointRow{p.ID, p.Tenant, p.Address, append([]string{}, p.Events...), p.Created, p.OldEnds, p.Disabled, p.Reason})
		}
		err = e
	case "test":
		d, e := s.house.TestEndpoint(ctx, h.ID)
		rep.Hook.Status, rep.Hook.Failure, err = d.Status, d.Failure, e
	case "dead":
		dead, e := s.house.DeadMessages(ctx, h.Limit)
		for _, m := range dead {
			rep.Hook.Dead = append(rep.Hook.Dead, deadRow{m.ID, m.Endpoint, m.Type, m.Created, m.Due, m.Attempts, m.Failure})
		}
		err = e
	case "replay":
		if h.Message != "" {
			rep.Hook.Replayed, err = s.house.Replay(ctx, h.ID, h.Message)
		} else {
			rep.Hook.Replayed, err = s.house.ReplaySince(ctx, h.ID, h.Since)
		}
	case "remove":
		err = s.house.RemoveEndpoint(ctx, h.ID)
	case "enable":
		err = s.house.EnableEndpoint(ctx, h.ID)
	case "rotate":
		overlap, e := parseSpan(o.Overlap)
		if e != nil {
			return rep, fmt.Errorf("overlap %w", e)
		}
		k, e := s.house.RotateEndpoint(ctx, h.ID, overlap)
		rep.Key, rep.OldEnds, err = k.Key, k.OldEnds, e
	default:
		err = fmt.Errorf("unknown order %q", o.Do)
	}
	return rep, err
}

func newWebhooks(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "webhooks",
		Short: "Tell platforms of events: endpoints, their keys, and what could not be delivered",
		Long: `Tell platforms of events by signed requests (Standard Webhooks): add endpoints, replace
their keys, and look after what could not be delivered, also while the service runs.`,
		Args: cobra.NoArgs,
	}
	add, test := newWebhooksAdd(s), newWebhooksTest(s)
	for _, sub := range []*cobra.Command{add, test} { // the others look up no address
		s.flags(sub, "webhook-private")
	}
	for _, sub := range []*cobra.Command{
		add, newWebhooksList(s), test, newWebhooksReplay(s), newWebhooksDead(s), newWebhooksRotate(s),
		hookCommand(s, "enable", "Send to an endpoint again that has answered 410", "An endpoint that answers 410 Gone is told nothing more until this command.\n\"fairdice webhooks replay --since\" sends what it has missed."),
		hookCommand(s, "remove", "Remove an endpoint with all that it was still to be told", "Remove an endpoint with all that it was still to be told. This cannot be undone:\nadded again it gets another id and another key."),
	} {
		s.flags(sub, "data", "database", "master-key")
		c.AddCommand(sub)
	}
	return c
}

// hookCommand is an order that needs no more than the endpoint.
func hookCommand(s *settings, verb, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ENDPOINT", Short: short, Long: long, Args: arguments("ENDPOINT"),
		Example: "  fairdice webhooks " + verb + " 01a229eb-8529-7ebf-bf54-bbbe224079d1",
		RunE: func(c *cobra.Command, args []string) error {
			_, err := s.command(c, order{Do: "webhooks " + verb, Hook: hookOrder{ID: args[0]}})
			return err
		},
	}
}

func newWebhooksAdd(s *settings) *cobra.Command {
	o := order{Do: "webhooks add"}
	c := &cobra.Command{
		Use:   "add URL",
		Short: "Add an endpoint of a tenant; its key is printed this once",
		Long: `Add an endpoint of a tenant: a URL that is told of the tenant's events from now on.
The key that its receiver checks signatures with is printed this once: a secret
(whsec_…), or with --ed25519 a public key (whpk_…).

The URL is https, on port 443 or from 1024 on, and leads to the public internet
whenever it is looked up. Addresses of your own network must be named in the
setting webhook-private.`,
		Example: `  fairdice webhooks add https://club.example/dice --tenant club --events game.closed,match.finished`,
		Args:    arguments("URL"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			o.Hook.Address = args[0]
			if o.Tenant, err = s.tenant(c); err != nil {
				return err
			}
			rep, err := s.command(c, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "endpoint %s\n", rep.Hook.Endpoint)
			return showKey(c, rep)
		},
	}
	s.flags(c, "tenant")
	c.Flags().Lookup("tenant").Usage = "tenant whose events are told"
	c.Flags().StringSliceVar(&o.Hook.Events, "events", nil, "what it is told of: "+strings.Join(house.Events(), ", ")+" (default all)")
	c.Flags().BoolVar(&o.Hook.Plain, "allow-http", false, "accept an http URL: whoever is on the way reads what is sent, and can hold it back")
	c.Flags().BoolVar(&o.Hook.Unshared, "ed25519", false, "sign with Ed25519, so that the receiver holds no secret")
	return c
}

func newWebhooksList(s *settings) *cobra.Command {
	var machine bool
	c := &cobra.Command{
		Use: "list", Short: "List the endpoints of all tenants", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rep, err := s.command(c, order{Do: "webhooks list"})
			if err != nil {
				return err
			}
			if machine {
				return writeJSON(c, struct {
					Endpoints []endpointRow `json:"endpoints"`
				}{append([]endpointRow{}, rep.Hook.Endpoints...)})
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "ENDPOINT\tTENANT\tURL\tEVENTS\tSTATE\tCREATED")
			for _, e := range rep.Hook.Endpoints {
				events, state := strings.Join(e.Events, ","), "on"
				if events == "" {
					events = "all"
				}
				switch {
				case !e.Disabled.IsZero():
					state = "off: " + e.Reason
				case e.Rotating.After(time.Now()):
					state = "rotating until " + e.Rotating.Format(time.RFC3339)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, e.Tenant, e.Address, events, state, e.Created.Format(time.RFC3339))
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&machine, "json", false, "print JSON")
	return c
}

func newWebhooksTest(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "test ENDPOINT",
		Short: "Send an event of type webhook.test to an endpoint, once, and say what it has answered",
		Long: `Send an event of type webhook.test to an endpoint, once, and say what it has
answered. ENDPOINT is its id in "fairdice webhooks list". Exit status 0: it has
answered 2xx; 1: it has not, or there is none.`,
		Example: `  fairdice webhooks test 01a229eb-8529-7ebf-bf54-bbbe224079d1`,
		Args:    arguments("ENDPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			rep, err := s.command(c, order{Do: "webhooks test", Hook: hookOrder{ID: args[0]}})
			if err != nil {
				return err
			}
			if rep.Hook.Failure != "" {
				return fmt.Errorf("test endpoint: %s", rep.Hook.Failure)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "answered %d\n", rep.Hook.Status)
			return err
		},
	}
}

func newWebhooksReplay(s *settings) *cobra.Command {
	o := order{Do: "webhooks replay"}
	var since string
	c := &cobra.Command{
		Use:   "replay [MESSAGE]",
		Short: "Send a message again under its id, or with --since everything that has happened since then",
		Long: `Send a message again under its id, or with --since everything that has happened
since then: to the endpoint given with --endpoint, or to all that have it. Receivers know by the id
that it is the same. Messages are kept for 30 days after they were delivered, for
90 after they were given up.`,
		Example: "  fairdice webhooks replay msg_0123456789abcdef0123456789abcdef\n  fairdice webhooks replay --since 12h --endpoint 01a229eb-8529-7ebf-bf54-bbbe224079d1",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if (len(args) == 1) == (since != "") {
				return errors.New("replay: give either the id of a message or --since")
			}
			if since != "" {
				o.Hook.Since, err = parseSince(since, time.Now())
			} else {
				o.Hook.Message = args[0]
			}
			if err != nil {
				return err
			}
			rep, err := s.command(c, o)
			if err == nil {
				_, err = fmt.Fprintf(c.OutOrStdout(), "to be sent again: %d\n", rep.Hook.Replayed)
			}
			return err
		},
	}
	c.Flags().StringVar(&since, "since", "", "a time ago (12h, 3d), a day in UTC (2027-01-31) or an instant (2027-01-31T18:00:00Z)")
	c.Flags().StringVar(&o.Hook.ID, "endpoint", "", "only to this endpoint")
	return c
}

// parseSince reads a time that lies behind.
func parseSince(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	ago, err := parseSpan(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("since %q is not a time ago like 12h or 3d, a date like 2027-01-31 or an instant like 2027-01-31T18:00:00Z", text)
	}
	return now.Add(-ago), nil
}

func newWebhooksDead(s *settings) *cobra.Command {
	var machine bool
	limit := 100
	c := &cobra.Command{
		Use:   "dead",
		Short: "List the messages that were given up after their last attempt",
		Long: `List the messages that were given up after their last attempt, with the reason.
"fairdice webhooks replay MESSAGE" sends one again.`,
		Example: `  fairdice webhooks dead --limit 20`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rep, err := s.command(c, order{Do: "webhooks dead", Hook: hookOrder{Limit: limit}})
			if err != nil {
				return err
			}
			if machine {
				return writeJSON(c, struct {
					Dead []deadRow `json:"dead"`
				}{append([]deadRow{}, rep.Hook.Dead...)})
			}
			return writeDead(c.OutOrStdout(), rep.Hook.Dead)
		},
	}
	c.Flags().BoolVar(&machine, "json", false, "print JSON")
	c.Flags().IntVar(&limit, "limit", limit, "most messages that are listed")
	return c
}

func writeDead(out io.Writer, dead []deadRow) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "MESSAGE\tENDPOINT\tTYPE\tHAPPENED\tGIVEN UP\tATTEMPTS\tFAILURE")
	for _, m := range dead {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", m.Message, m.Endpoint, m.Type, m.Created.Format(time.RFC3339), m.GivenUp.Format(time.RFC3339), m.Attempts, m.Failure)
	}
	return w.Flush()
}

func newWebhooksRotate(s *settings) *cobra.Command {
	o := order{Do: "webhooks rotate"}
	c := &cobra.Command{
		Use:   "rotate ENDPOINT",
		Short: "Give an endpoint a new key; it is printed this once",
		Long: `Give an endpoint a new key of the same kind; it is printed this once. Through the
overlap every message is signed with both keys, so the receiver changes over
without missing one. --overlap 0h ends the old key at once.`,
		Example: `  fairdice webhooks rotate 01a229eb-8529-7ebf-bf54-bbbe224079d1 --overlap 7d`,
		Args:    arguments("ENDPOINT"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Hook.ID = args[0]
			rep, err := s.command(c, o)
			if err != nil {
				return err
			}
			return showKey(c, rep)
		},
	}
	c.Flags().StringVar(&o.Overlap, "overlap", "24h", "how long the old key signs too, at most 90d")
	return c
}
