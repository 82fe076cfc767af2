//go:build unix

package house_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"fairdice/house"
	"fairdice/replay"

	"github.com/google/go-cmp/cmp"
)

// rush asks the same thing of the houses in turn by 64 clients at once, each
// with one of the contents, until each has an answer. Of the contents one
// alone gets answers, all of them equal; it is returned. The others get that refusal.
func rush[A any](t *testing.T, houses []*bench, contents []string, refusal house.Code, ask func(b *bench, content string) (A, error)) string {
	t.Helper()
	const clients = 64
	answers, errs := make([]A, clients), make([]error, clients)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for {
				answers[c], errs[c] = ask(houses[c%len(houses)], contents[c%len(contents)])
				if house.CodeOf(errs[c]) != house.Unavailable {
					return
				}
			}
		})
	}
	wg.Wait()
	won := -1
	for c, err := range errs {
		switch {
		case err == nil && won < 0:
			won = c
		case err == nil && contents[c%len(contents)] != contents[won%len(contents)]:
			t.Fatalf("both %q and %q were accepted", contents[won%len(contents)], contents[c%len(contents)])
		case err == nil:
			if d := cmp.Diff(answers[won], answers[c]); d != "" {
				t.Errorf("clients %d and %d got different answers:\n%s", won, c, d)
			}
		case house.CodeOf(err) != refusal:
			t.Errorf("client %d, %q: %v, want %s", c, contents[c%len(contents)], err, refusal)
		}
	}
	if won < 0 {
		t.Fatalf("nobody was answered: %v", errors.Join(errs...))
	}
	for c, err := range errs {
		if err != nil && contents[c%len(contents)] == contents[won%len(contents)] {
			t.Errorf("client %d was refused what another got: %v", c, err)
		}
	}
	return contents[won%len(contents)]
}

// TestOneMatch: 64 clients do all of one match at the same time: everything
// that has an address of its own happens once, and everybody hears the same of it.
func TestOneMatch(t *testing.T) {
	for _, on := range []struct {
		name   string
		houses func(t *testing.T) []*bench
	}{
		{"SQLite", func(t *testing.T) []*bench { return []*bench{newBench(t)} }},
		{"PostgreSQL, two instances", func(t *testing.T) []*bench { return instances(t, 2) }},
	} {
		t.Run(on.name, func(t *testing.T) {
			houses := on.houses(t)
			ctx := context.Background()
			for _, end := range []string{"close", "abort"} {
				m := &match{bench: houses[0], id: newID(), a: newPlayer(t, "a"), b: newPlayer(t, "b")}
				opened := houses[0].open("short", single, nil, nil) // for its variant, options and setting
				m.variant, m.options, m.series = opened.variant, opened.options, opened.series
				name := rush(t, houses, []string{"carl", "dora"}, house.OtherContent, func(b *bench, name string) (house.OpenAnswer, error) {
					r := m.request()
					r.A = name
					return b.OpenMatch(ctx, b.p, r)
				})
				t.Logf("%s plays", name)
				rush(t, houses, []string{""}, "", func(b *bench, _ string) (house.GameAnswer, error) {
					return b.NextGame(ctx, b.p, m.id, 1, 0)
				})
				for _, p := range []*player{m.a, m.b} {
					link := p.next(t)
					rush(t, houses, []string{"right", "wrong"}, house.OtherContent, func(b *bench, which string) (house.LinkAnswer, error) {
						l := link
						if which == "wrong" {
							l[0]++
						}
						a, err := b.PutLink(ctx, m.id, 1, 1, p.seat, l, 0)
						if house.CodeOf(err) == house.WrongLink { // before the right one was there
							err = &house.Error{Code: house.OtherContent}
						}
						return a, err
					})
				}
				var err error
				if m.state, err = replay.Start(m.series.Next()); err != nil {
					t.Fatal(err)
				}
				for throws := 0; throws < 4; {
					stream, ok := m.state.NextDraw()
					if ok {
						var answer house.DrawAnswer
						rush(t, houses, []string{""}, "", func(b *bench, _ string) (house.DrawAnswer, error) {
							a, err := b.Draw(ctx, b.p, m.id, 1, 1, stream, thrown(m.state, stream))
							if err == nil && b == houses[0] {
								m.mu.Lock()
								answer = a
								m.mu.Unlock()
							}
							return a, err
						})
						m.went(t, rollLine(stream, answer.Dice))
						throws++
						continue
					}
					var lines []string
					for _, e := range m.state.LegalMoves(&m.gen) {
						lines = append(lines, e.String())
					}
					first := len(m.lines) + 1
					m.went(t, rush(t, houses, lines, house.OtherContent, func(b *bench, line string) (house.AppendAnswer, error) {
						return b.Append(ctx, b.p, m.id, 1, first, []string{line})
					}))
				}
				if end == "abort" {
					rush(t, houses, []string{"power-cut", "fire"}, house.OtherContent, func(b *bench, reason string) (house.AbortAnswer, error) {
						return b.AbortGame(ctx, b.p, m.id, 1, reason, 0)
					})
					continue
				}
				first := len(m.lines) + 1
				flag := rush(t, houses, []string{"timeout A", "timeout B"}, house.OtherContent, func(b *bench, line string) (house.AppendAnswer, error) {
					return b.Append(ctx, b.p, m.id, 1, first, []string{line})
				})
				m.went(t, flag)
				if due, ok := m.state.EndDue(); ok {
					rush(t, houses, []string{due.String()}, "", func(b *bench, line string) (house.AppendAnswer, error) {
						return b.Append(ctx, b.p, m.id, 1, first+1, []string{line})
					})
				}
				rush(t, houses, []string{""}, "", func(b *bench, _ string) (house.CloseAnswer, error) {
					return b.CloseGame(ctx, b.p, m.id, 1, nil, 0)
				})
			}
			verifyLog(t, houses[0])
		})
	}
}

// rollLine is the record line of a draw.
func rollLine(stream string, dice [2]int) string {
	if stream == replay.StreamOpening {
		return fmt.Sprintf("opening %d %d", dice[0], dice[1])
	}
	return fmt.Sprintf("roll %c %d %d", stream[0]-'a'+'A', dice[0], dice[1])
}
