package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"fairdice/api"
	"fairdice/client"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/beacon"
	"fairdice/internal/relay"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/translog"
	"fairdice/translog/witness"
)

// demoOptions are what a demo plays unless it is told otherwise.
const demoOptions = "raise=mars stake=win series=single crawford=off"

// demo is a match to be played for show.
type demo struct {
	variant, mode, level, profile, options string
	relays                                 string // of the beacon, level L1
	games                                  int
	seed                                   uint64
	seeded                                 bool
	data, out                              string

	now   func() time.Time // nil: the system's clock
	probe uint64           // round that a relay must have to be believed alive; 0: the one before the present one
}

func newDemo() *cobra.Command {
	var d demo
	c := &cobra.Command{
		Use:   "demo --out DIR",
		Short: "Play a whole match through the real HTTP API on a private service",
		Long: `Play a whole match through the real HTTP API on a private service, and keep
what proves it: DIR/bundle.json, DIR/game-N.record, the log's verifier key in
DIR/log.key, if the players cut the dice their anchors in DIR/anchor-a and
DIR/anchor-b, and at level L1 the trust policy with its witnesses in DIR/policy.

Levels: L0 nobody cuts; L1 a round of the drand beacon cuts, which takes half a
minute a game and a relay that can be reached; L2 both players cut; L3 both
players cut and every throw is fixed only when both have released a link for
it (mode live).`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d.seeded = c.Flags().Changed("seed")
			// Live dice are level L3 and the other way round.
			if d.mode == "live" && !c.Flags().Changed("level") {
				d.level = "L3"
			}
			if d.level == "L3" && !c.Flags().Changed("mode") {
				d.mode = "live"
			}
			return d.run(c.Context(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&d.variant, "variant", "short", "variant to play, by its name in docs/games.md")
	f.StringVar(&d.mode, "mode", "random", "dice mode: "+joined(modeNames()))
	f.StringVar(&d.level, "level", "L2", "proof level: L0, L1, L2 or L3")
	f.StringVar(&d.profile, "profile", "refereed", "who keeps the record: refereed (the service) or dice-only (the platform)")
	f.StringVar(&d.options, "options", demoOptions, "options of the match")
	f.StringVar(&d.relays, "relay", joined(relay.Public), "relays of the beacon for level L1, with commas between")
	f.IntVar(&d.games, "games", 1, "most games to play; more than one needs a points: or combined: series")
	f.Uint64Var(&d.seed, "seed", 0, "makes the moves repeatable, never the dice (default: random moves)")
	f.StringVar(&d.data, "data", "", "keep the service's data in this directory (default: throw it away)")
	f.StringVar(&d.out, "out", "", "directory for what proves the match")
	if err := c.MarkFlagRequired("out"); err != nil {
		panic(err) // the flag is three lines up
	}
	return c
}

// terms checks what was asked for before anything is started.
func (d *demo) terms() (replay.Match, error) {
	v, err := rules.Lookup(d.variant)
	if err != nil {
		return replay.Match{}, err
	}
	o, err := replay.ParseOptions(d.options)
	if err != nil {
		return replay.Match{}, err
	}
	d.options = o.String()
	if _, err := commitment.ParseMode(d.mode); err != nil {
		return replay.Match{}, fmt.Errorf("there is no mode %q: %s can be played", d.mode, joined(modeNames()))
	}
	if _, err := commitment.ParseProfile(d.profile); err != nil {
		return replay.Match{}, fmt.Errorf("there is no profile %q: refereed and dice-only can be played", d.profile)
	}
	switch {
	case d.level != "L0" && d.level != "L1" && d.level != "L2" && d.level != "L3":
		return replay.Match{}, fmt.Errorf("there is no level %q: L0, L1, L2 and L3 can be played", d.level)
	case (d.level == "L3") != (d.mode == "live"):
		return replay.Match{}, fmt.Errorf("level L3 is mode live and nothing else: not level %s with mode %s", d.level, d.mode)
	case d.level == "L3" && d.profile != "refereed":
		return replay.Match{}, errors.New("mode live needs the profile refereed")
	case d.games < 1:
		return replay.Match{}, errors.New("games: at least one is needed")
	case d.games > 1 && o.Series.Kind != replay.SeriesPoints && o.Series.Kind != replay.SeriesCombined:
		return replay.Match{}, fmt.Errorf("games: series=%s has one game; take points:N or combined:N", o.Series)
	}
	return replay.NewMatch(v, o)
}

// anchored reports whether the players cut the dice.
func (d *demo) anchored() bool { return d.level == "L2" || d.level == "L3" }

func (d *demo) run(ctx context.Context, out io.Writer) (err error) {
	series, err := d.terms()
	if err != nil {
		return err
	}
	cfg := config{listen: "127.0.0.1:0", tenant: "demo", sealed: 16, linkRate: 1000 * api.DefaultLinkRate, readRate: 1000 * api.DefaultReadRate, relays: noBeacon, now: d.now}
	if d.level == "L1" {
		if cfg.relays, err = d.beacon(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return fmt.Errorf("make output directory: %w", err)
	}
	if err := d.clear(); err != nil {
		return err
	}
	if cfg.data = d.data; cfg.data == "" {
		if cfg.data, err = os.MkdirTemp("", "fairdice-demo-"); err != nil {
			return fmt.Errorf("make data directory: %w", err)
		}
		defer os.RemoveAll(cfg.data)
	}
	cfg.master = filepath.Join(cfg.data, "master.key")
	s, err := d.open(ctx, cfg, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.bind(); err != nil {
		return err
	}
	if _, err := s.prepare(ctx); err != nil {
		return err
	}
	if err := d.record(ctx, s, out); err != nil {
		return err
	}
	key, err := s.house.IssueKey(ctx, cfg.tenant, "demo", house.Scopes())
	if err != nil {
		return err
	}
	if err := s.serve(); err != nil {
		return err
	}
	c, err := client.New(s.url(), client.WithKey(key))
	if err != nil {
		return err
	}
	if err := d.play(ctx, c, s.keys.log.public, cfg.data, series, out); err != nil {
		return err
	}
	d.tellVerify(out)
	return nil
}

// open opens the service. At level L1 a witness runs in this process and the
// policy that trusts it is written.
func (d *demo) open(ctx context.Context, cfg config, out io.Writer) (*service, error) {
	log := config{level: slog.LevelWarn}.logger(os.Stderr)
	if d.level != "L1" {
		return openService(ctx, cfg, log)
	}
	k, err := openKeys(cfg)
	if err != nil {
		return nil, err
	}
	skey, vkey, err := translog.NewWitnessKey("witness.demo/w1", rand.Reader)
	if err != nil {
		return nil, err
	}
	cosigner, err := translog.NewCosigner(skey, d.clock())
	if err != nil {
		return nil, err
	}
	w, err := witness.New(cosigner, []note.Verifier{k.log.verifier}, witness.InMemory())
	if err != nil {
		return nil, err
	}
	if cfg.trusted, err = translog.NewPolicy(k.log.public, []string{vkey}); err != nil {
		return nil, err
	}
	cfg.witnesses = []house.Witness{watcher{"witness.demo/w1", w}}
	fmt.Fprintln(out, "witness in this process: it shows how the check works; only a witness of somebody else proves anything")
	if err := d.write("policy", []byte(cfg.trusted.Text())); err != nil {
		return nil, err
	}
	return openService(ctx, cfg, log)
}

func (d *demo) clock() func() time.Time {
	if d.now == nil {
		return time.Now
	}
	return d.now
}

// exhibits are the names of what a demo writes.
var exhibits = regexp.MustCompile(`^(bundle\.json|log\.key|policy|throws\.txt|anchor-[ab]|game-[0-9]+\.record)$`)

// clear removes what an earlier demo has left, and nothing else: an anchor or
// a game that belongs to another bundle would prove the wrong thing.
func (d *demo) clear() error {
	entries, err := os.ReadDir(d.out)
	if err != nil {
		return fmt.Errorf("clear output directory: %w", err)
	}
	for _, e := range entries {
		if !exhibits.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(d.out, e.Name())); err != nil {
			return fmt.Errorf("clear output directory: %w", err)
		}
	}
	return nil
}

// beacon makes sure that a relay can be reached, before half a minute is
// spent on waiting for a round that never comes.
func (d *demo) beacon(ctx context.Context) (relays string, err error) {
	relays = d.relays
	rounds, err := config{relays: relays}.beacon()
	if err == nil && rounds == nil {
		err = errors.New("none is named")
	}
	if err == nil {
		probe := d.probe
		if probe == 0 { // out for three seconds at least
			probe = beacon.RoundFor(d.clock()().Add(-beacon.Lead)) - 2
		}
		_, err = rounds.Signature(ctx, probe)
	}
	if err != nil {
		return "", fmt.Errorf("level L1 needs a relay of the quicknet beacon, and none answered with a recent round: %w", err)
	}
	return relays, nil
}

// tellVerify prints the command that checks everything.
func (d *demo) tellVerify(out io.Writer) {
	file := func(name string) string { return filepath.Join(d.out, name) }
	fmt.Fprintf(out, "verify  verify bundle %s", file("bundle.json"))
	if d.level == "L1" {
		fmt.Fprintf(out, " --policy %s", file("policy"))
	} else {
		fmt.Fprintf(out, " --key \"$(cat %s)\"", file("log.key"))
	}
	if d.anchored() {
		fmt.Fprintf(out, " --my-anchor \"$(cat %s)\"", file("anchor-a"))
	}
	fmt.Fprintln(out)
}

// modeNames are the dice modes that a match can have.
func modeNames() (names []string) {
	for _, m := range commitment.Modes() {
		names = append(names, m.String())
	}
	return names
}
