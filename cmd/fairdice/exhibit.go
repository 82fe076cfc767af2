package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/internal/beacon"
	"fairdice/internal/selfplay"
	"fairdice/replay"
)

// seat is one player of the demo with what he gets to know.
type seat struct {
	name  string
	token string
	chain *player.Player // nil: takes no part in the cut
}

// play plays the match of a demo and writes down what proves it.
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
		Variant: d.variant, Mode: client.Mode(d.mode), Profile: new(client.OpenRequestProfile(d.profile)), Options: new(d.options),
		A: seats[0].player(), B: seats[1].player(),
	}
	if d.level == "L1" {
		request.Beacon = new(client.OpenRequestBeaconQuicknet)
	}
	if _, err := c.OpenMatch(ctx, id, request, 0); err != nil {
		return err
	}
	rolls := 0
	host := &croupier{
		api: c, match: id, moves: selfplay.New(selfplay.Random, d.moves()), live: d.mode == "live", diceOnly: d.profile == "dice-only",
		rolled: func(int, client.DrawDue, client.Roll, time.Duration) { rolls++ },
		waiting: func(g client.Game) {
			fmt.Fprintf(out, "game %d  waits for round %d of the beacon, public at %s\n", g.Game, g.Round, beacon.Time(uint64(g.Round)).Format(time.RFC3339))
		},
	}
	for i, s := range seats {
		if s.chain == nil {
			continue
		}
		err := s.chain.Join(player.Terms{
			Match: id, Token: s.token, Opponent: seats[1-i].token, Tenant: "demo",
			Variant: d.variant, Mode: d.mode, Profile: d.profile, Options: d.options,
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
	if err := d.keep(ctx, c, id, logKey, seats); err != nil {
		return err
	}
	fmt.Fprintf(out, "match   %s: %s, %s, %s, %s, %d rolls in %s\n", id, d.variant, d.mode, d.profile, d.level, rolls, time.Since(started).Round(time.Millisecond))
	return nil
}

// keep writes the bundle, the log's key and the anchors.
func (d *demo) keep(ctx context.Context, c *client.Client, match, logKey string, seats [2]seat) error {
	bundle, err := c.Bundle(ctx, match)
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
	return nil
}

// seats makes the players, at levels L2 and L3 each with a chain in a file of his own.
func (d *demo) seats(dir, logKey string) ([2]seat, error) {
	seats := [2]seat{{name: "a"}, {name: "b"}}
	for i := range seats {
		token := make([]byte, 8)
		if _, err := rand.Read(token); err != nil {
			return seats, fmt.Errorf("make player token: %w", err)
		}
		seats[i].token = seats[i].name + "-" + hex.EncodeToString(token)
		if !d.anchored() {
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

// record makes the throws that a demo of mode real imports.
func (d *demo) record(ctx context.Context, s *service, out io.Writer) error {
	if d.mode != "real" {
		return nil
	}
	file := filepath.Join(d.out, "throws.txt")
	fmt.Fprintf(out, "throws  in %s come from the system's randomness, for want of recorded ones\n", file)
	text := []byte("# Made by fairdice demo from the system's randomness: nobody has thrown these dice.\n")
	sequences := 2*d.games + 2 // a game rarely needs a second one
	random := make([]byte, 1)
	for n := 0; n < sequences*commitment.DefaultLengths().Total(); {
		rand.Read(random)      // never fails (package crypto/rand)
		if random[0] >= 7*36 { // the rest would favour some pairs
			continue
		}
		k := random[0] % 36
		text = append(text, '1'+k/6, ' ', '1'+k%6, '\n')
		n++
	}
	if err := d.write("throws.txt", text); err != nil {
		return err
	}
	read, err := readThrows(bytes.NewReader(text))
	if err != nil {
		return err
	}
	_, err = s.house.ImportThrows(ctx, s.config.tenant, read.dice)
	return err
}

func (d *demo) write(name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(d.out, name), data, 0o644); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
