// Example plays a match of backgammon through the API of a service to a
// bundle, and verifies the bundle in the same process. It plays three parts:
// the platform, and two players who believe neither it nor the service. In
// earnest the players' parts run on the players' devices.
//
//	FAIRDICE_KEY=… go run ./client/example -service http://127.0.0.1:8080 -log-key "$LOG_KEY"
//
// The log key is got elsewhere than from the service; `fairdice serve` prints
// it when it starts.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/replay"
	"fairdice/rules"
)

const (
	variant = "short"
	options = "raise=mars stake=win series=points:3 crawford=on"
)

func main() {
	service := flag.String("service", "http://127.0.0.1:8080", "address of the service")
	logKey := flag.String("log-key", "", "verifier key of its log")
	out := flag.String("out", ".", "directory for the bundle and the players' files")
	flag.Parse()
	if err := run(context.Background(), *service, os.Getenv("FAIRDICE_KEY"), *logKey, *out); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, service, key, logKey, out string) error {
	api, err := client.New(service, client.WithKey(key))
	if err != nil {
		return err
	}
	id, err := uuid.NewV7() // chosen before anything is sent, so that opening can be repeated
	if err != nil {
		return err
	}
	t := &table{api: api, match: id.String()}
	if err := t.sit(ctx, service, logKey, out); err != nil {
		return err
	}

	v, err := rules.Lookup(variant)
	if err != nil {
		return err
	}
	o, err := replay.ParseOptions(options)
	if err != nil {
		return err
	}
	m, err := replay.NewMatch(v, o)
	for err == nil && !m.Over() {
		var r replay.Result
		if r, err = t.play(ctx, m.Next()); err == nil {
			fmt.Printf("game %d: %s\n", m.Next().Game, r)
			m, err = m.Add(r)
		}
	}
	if err != nil {
		return err
	}

	bundle, err := api.Bundle(ctx, t.match)
	if err != nil {
		return err
	}
	file := filepath.Join(out, "bundle.json")
	if err := os.WriteFile(file, bundle, 0o644); err != nil {
		return fmt.Errorf("keep bundle: %w", err)
	}
	mine := t.seats[0].Anchor()
	report := audit.Verify(bundle, audit.Trust{Key: logKey, MyAnchor: &mine})
	fmt.Printf("%s: %s, %s %s\n", file, report.Verdict, report.Level, report.LevelNote)
	if report.Verdict != audit.Verified {
		return fmt.Errorf("verify bundle: failed %v", report.Failed())
	}
	return nil
}

// table is one match: the platform's client and the two players.
type table struct {
	api   *client.Client // with the platform's key
	open  *client.Client // without one, as players have it
	match string
	seats [2]*player.Player
	gen   rules.Generator
}

// sit makes the players' chains and opens the match with their anchors.
func (t *table) sit(ctx context.Context, service, logKey, out string) error {
	var err error
	if t.open, err = client.New(service); err != nil {
		return err
	}
	tokens := [2]string{"ada-7f3k", "ben-91xq"} // in earnest: new ones for each match
	terms := client.OpenRequest{Variant: variant, Mode: client.ModeLevelled, Options: new(options)}
	for i, side := range []*client.Player{&terms.A, &terms.B} {
		if t.seats[i], err = player.New(filepath.Join(out, tokens[i]+".player"), logKey, 1024, rand.Reader); err != nil {
			return err
		}
		*side = client.Player{Token: tokens[i], Anchor: &client.Anchor{Hash: t.seats[i].Anchor().String()}}
	}
	if _, err := t.api.OpenMatch(ctx, t.match, terms, 0); err != nil {
		return err
	}
	for i, p := range t.seats {
		agreed := player.Terms{Match: t.match, Token: tokens[i], Opponent: tokens[1-i], Variant: variant, Mode: "levelled", Options: options, Beacon: "none"}
		if err := p.Join(agreed); err != nil {
			return err
		}
	}
	return nil
}

// play plays one game: the platform folds the same events as the service, so
// that it knows what is due without asking.
func (t *table) play(ctx context.Context, s replay.Setting) (replay.Result, error) {
	var none replay.Result
	st, err := replay.Start(s)
	if err != nil {
		return none, err
	}
	if _, err := t.api.NextGame(ctx, t.match, s.Game, 0); err != nil {
		return none, err
	}
	if err := t.cut(ctx, s.Game, 1); err != nil {
		return none, err
	}
	for line := 1; !st.Over(); line++ {
		event, err := t.next(ctx, st, s.Game, line)
		if err != nil {
			return none, err
		}
		if st, err = st.Apply(&t.gen, event); err != nil {
			return none, fmt.Errorf("game %d, line %d: %w", s.Game, line, err)
		}
	}
	_, err = t.api.CloseGame(ctx, t.match, s.Game, 0)
	return st.Result(), err
}

// next is the next event of a game: a roll that the service has drawn, or the
// first that the rules allow, which it is told.
func (t *table) next(ctx context.Context, st replay.State, game, line int) (replay.Event, error) {
	if stream, ok := st.NextDraw(); ok {
		dice, err := t.draw(ctx, game)
		if err != nil {
			return replay.Event{}, err
		}
		text := "roll " + strings.ToUpper(stream)
		if stream == "opening" {
			text = stream
		}
		return replay.ParseEvent(fmt.Sprintf("%s %d %d", text, dice[0], dice[1]))
	}
	legal := st.Legal(&t.gen)
	if len(legal) == 0 {
		return replay.Event{}, fmt.Errorf("game %d: nothing is legal, %s is due", game, st.Due())
	}
	_, err := t.api.Append(ctx, t.match, game, line, legal[0].String())
	return legal[0], err
}

// draw draws the roll that is due and has both players check it. A stream
// that is used up goes on in another segment, which they cut first.
func (t *table) draw(ctx context.Context, game int) ([]int, error) {
	m, err := t.api.Match(ctx, t.match)
	if err != nil {
		return nil, err
	}
	due := m.Games[game-1].Draw
	roll, err := t.api.Draw(ctx, t.match, game, due.Segment, due.Stream, due.Index)
	if client.Code(err) == "awaiting-links" {
		if err = t.cut(ctx, game, due.Segment); err == nil {
			roll, err = t.api.Draw(ctx, t.match, game, due.Segment, due.Stream, due.Index)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, p := range t.seats {
		if err := p.CheckRoll(roll); err != nil {
			return nil, err
		}
	}
	return roll.Dice, nil
}

// cut has each player check the log for himself and release his link.
func (t *table) cut(ctx context.Context, game, segment int) error {
	for _, p := range t.seats {
		_, err := p.Play(ctx, t.open, game, segment)
		var distrust *player.Distrust
		if errors.As(err, &distrust) {
			return fmt.Errorf("the match must not go on: %w; keep %s, it is evidence", err, p.Checkpoint())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
