package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"fairdice/api"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
)

// demoOptions are what a demo plays unless it is told otherwise.
const demoOptions = "raise=mars stake=win series=single crawford=off"

// demo is a match to be played for show.
type demo struct {
	variant, mode, level, options string
	games                         int
	seed                          uint64
	seeded                        bool
	data, out                     string
}

func newDemo() *cobra.Command {
	var d demo
	c := &cobra.Command{
		Use:   "demo --out DIR",
		Short: "Play a whole match through the real HTTP API on a private service",
		Long: `Play a whole match through the real HTTP API on a private service, and keep
what proves it: DIR/bundle.json, DIR/game-N.record, the log's verifier key in
DIR/log.key and, if the players cut the dice, their anchors in DIR/anchor-a and
DIR/anchor-b.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d.seeded = c.Flags().Changed("seed")
			return d.run(c.Context(), c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&d.variant, "variant", "short", "variant to play")
	f.StringVar(&d.mode, "mode", "random", "dice mode")
	f.StringVar(&d.level, "level", "L2", "proof level: L0 (nobody cuts) or L2 (both players cut)")
	f.StringVar(&d.options, "options", demoOptions, "options of the match")
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
	switch {
	case d.level == "L1":
		return replay.Match{}, errors.New("level L1 needs a relay of the quicknet beacon, and this program asks none: L0 and L2 can be played")
	case d.level == "L3":
		return replay.Match{}, errors.New("level L3 needs mode live, and the service does not offer it: L0 and L2 can be played")
	case d.level != "L0" && d.level != "L2":
		return replay.Match{}, fmt.Errorf("there is no level %q: L0 and L2 can be played", d.level)
	case d.games < 1:
		return replay.Match{}, errors.New("games: at least one is needed")
	case d.games > 1 && o.Series.Kind != replay.SeriesPoints && o.Series.Kind != replay.SeriesCombined:
		return replay.Match{}, fmt.Errorf("games: series=%s has one game; take points:N or combined:N", o.Series)
	}
	return replay.NewMatch(v, o)
}

func (d *demo) run(ctx context.Context, out io.Writer) (err error) {
	series, err := d.terms()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return fmt.Errorf("make output directory: %w", err)
	}
	data := d.data
	if data == "" {
		if data, err = os.MkdirTemp("", "fairdice-demo-"); err != nil {
			return fmt.Errorf("make data directory: %w", err)
		}
		defer os.RemoveAll(data)
	}
	cfg := config{
		data: data, listen: "127.0.0.1:0", master: filepath.Join(data, "master.key"),
		tenant: "demo", sealed: 16, linkRate: 10 * api.DefaultLinkRate,
	}
	s, err := openService(ctx, cfg, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
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
	if err := d.play(ctx, c, s.keys.log.public, data, series, out); err != nil {
		return err
	}
	d.tellVerify(out)
	return nil
}

// seat is one player of the demo with what he gets to know.
type seat struct {
	name  string
	token string
	chain *player.Player // nil: takes no part in the cut
}

func (d *demo) play(ctx context.Context, c *client.Client, logKey, data string, series replay.Match, out io.Writer) error {
	match, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make match id: %w", err)
	}
	id := match.String()
	seats, err := d.seats(filepath.Join(data, "players", id), logKey)
	if err != nil {
		return err
	}
	request := client.OpenRequest{
		Variant: d.variant, Mode: client.Mode(d.mode), Profile: new(client.OpenRequestProfileRefereed), Options: new(d.options),
		A: seats[0].player(), B: seats[1].player(),
	}
	if _, err := c.OpenMatch(ctx, id, request, 0); err != nil {
		return err
	}
	rolls := 0
	host := &croupier{api: c, match: id, moves: selfplay.New(selfplay.Random, d.moves()), rolled: func(int, client.DrawDue, client.Roll, time.Duration) { rolls++ }}
	for i, s := range seats {
		if s.chain == nil {
			continue
		}
		err := s.chain.Join(player.Terms{
			Match: id, Token: s.token, Opponent: seats[1-i].token, Tenant: "demo",
			Variant: d.variant, Mode: d.mode, Profile: "refereed", Options: d.options,
		})
		if err != nil {
			return err
		}
		host.seats = append(host.seats, s.chain)
	}
	started := time.Now()
	for n := 1; n <= d.games && !series.Over(); n++ {
		before := rolls
		result, closed, err := host.game(ctx, series.Next())
		if err != nil {
			return err
		}
		if series, err = series.Add(result); err != nil {
			return err
		}
		fmt.Fprintf(out, "game %d  %d rolls, %s, score %d : %d\n", n, rolls-before, closed.Result, closed.Score[0], closed.Score[1])
		record, err := c.Record(ctx, id, n, "")
		if err != nil {
			return err
		}
		if err := d.write(fmt.Sprintf("game-%d.record", n), []byte(record.Record)); err != nil {
			return err
		}
	}
	if !series.Over() {
		if _, err := c.Abandon(ctx, id, 0); err != nil {
			return err
		}
	}
	bundle, err := c.Bundle(ctx, id)
	if err != nil {
		return err
	}
	if err := d.write("bundle.json", bundle); err != nil {
		return err
	}
	if err := d.write("log.key", []byte(logKey+"\n")); err != nil {
		return err
	}
	for _, s := range seats {
		if s.chain == nil {
			continue
		}
		if err := d.write("anchor-"+s.name, []byte(s.chain.Anchor().String()+"\n")); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "match   %s: %s, %s, %s, %d rolls in %s\n", id, d.variant, d.mode, d.level, rolls, time.Since(started).Round(time.Millisecond))
	return nil
}

// seats makes the players, at level L2 each with a chain in a file of his own.
func (d *demo) seats(dir, logKey string) ([2]seat, error) {
	seats := [2]seat{{name: "a"}, {name: "b"}}
	for i := range seats {
		token := make([]byte, 8)
		if _, err := rand.Read(token); err != nil {
			return seats, fmt.Errorf("make player token: %w", err)
		}
		seats[i].token = seats[i].name + "-" + hex.EncodeToString(token)
		if d.level == "L0" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return seats, fmt.Errorf("make players' directory: %w", err)
		}
		p, err := player.New(filepath.Join(dir, seats[i].name+".json"), logKey, commitment.DefaultChain, rand.Reader)
		if err != nil {
			return seats, err
		}
		seats[i].chain = p
	}
	return seats, nil
}

func (s seat) player() client.Player {
	p := client.Player{Token: s.token}
	if s.chain != nil {
		p.Anchor = &client.Anchor{Hash: s.chain.Anchor().String(), Custody: new(client.AnchorCustodySelf)}
	}
	return p
}

// moves is the seed of the moves; the dice know nothing of it.
func (d *demo) moves() uint64 {
	if d.seeded {
		return d.seed
	}
	var b [8]byte
	rand.Read(b[:]) // never fails (package crypto/rand)
	return binary.LittleEndian.Uint64(b[:])
}

func (d *demo) write(name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(d.out, name), data, 0o644); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

func (d *demo) tellVerify(out io.Writer) {
	file := func(name string) string { return filepath.Join(d.out, name) }
	fmt.Fprintf(out, "verify  verify bundle %s --key \"$(cat %s)\"", file("bundle.json"), file("log.key"))
	if d.level != "L0" {
		fmt.Fprintf(out, " --my-anchor \"$(cat %s)\"", file("anchor-a"))
	}
	fmt.Fprintln(out)
}
