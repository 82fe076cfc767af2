package player_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
)

// copyOf is the player that a copy of his file makes, as it was when it was taken.
func copyOf(t *testing.T, state string) *twin {
	t.Helper()
	file := filepath.Join(t.TempDir(), "copy.json")
	must(t, os.WriteFile(file, []byte(state), 0o600))
	return loadTwin(t, file)
}

func aborted(game int, link *commitment.Hash, sequences ...string) commitment.Abort {
	a := commitment.Abort{Match: match, Game: game, By: "platform", Reason: "crash", LinkA: link, RecordHead: commitment.Sum(nil), Time: start}
	for _, q := range sequences {
		a.Secrets = append(a.Secrets, commitment.RevealedSecret{Sequence: q})
	}
	return a
}

// A copy that was taken before the links of game 1 had left gives none, whatever
// shows that they have.
func TestOldCopy(t *testing.T) {
	for _, c := range []struct {
		name     string
		game     int // that the copy is asked for
		released int // that the refusal says
		then     func(d *dealer, link commitment.Hash)
	}{
		{"dealt", 1, 1, func(d *dealer, link commitment.Hash) { d.log(dealt(link)) }},
		{"dealt, then another game", 2, 1, func(d *dealer, link commitment.Hash) {
			d.log(dealt(link), aborted(1, nil, seqOne), assign(2, 1, 1, seqTwo))
		}},
		{"aborted before the deal", 2, 1, func(d *dealer, link commitment.Hash) {
			d.log(aborted(1, &link, seqOne), assign(2, 1, 1, seqTwo))
		}},
		{"waiting for the opponent", 1, 1, func(d *dealer, _ commitment.Hash) { d.taken = []int{1, 0} }},
		{"by the word of the service alone", 2, 3, func(d *dealer, _ commitment.Hash) {
			d.log(aborted(1, nil, seqOne), assign(2, 1, 1, seqTwo))
			d.taken = []int{3, 0}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDealer(t)
			p, _ := newPlayer(t, d.vkey)
			d.log(commit(0, seqOne), commit(1, seqTwo), open(p.Anchor()), assign(1, 1, 0, seqOne))
			before := p.state()
			l, err := p.Release(t.Context(), d, 1, 1)
			must(t, err)
			c.then(d, l.Link)
			old := copyOf(t, before)
			got, err := old.Release(t.Context(), d, c.game, 1)
			var outdated *player.Outdated
			if !errors.As(err, &outdated) || outdated.Known != 0 || outdated.Released != c.released || got != (player.Link{}) {
				t.Fatalf("the old copy released %v, %v", got, err)
			}
			if !strings.Contains(err.Error(), "make a new chain") {
				t.Errorf("the refusal offers no way out: %v", err)
			}
			if n, _ := old.Spent(); n != 0 {
				t.Errorf("the old copy has spent %d links", n)
			}
			// The newest copy goes on.
			if c.game == 2 {
				d.taken = []int{1, 0}
				next, err := p.Release(t.Context(), d, 2, 1)
				must(t, err)
				if commitment.LinkHash(next.Link) != l.Link {
					t.Error("the second link does not continue the first")
				}
			}
		})
	}
}

// Links of throws are in no statement: how many there are is what the service says.
func TestOldCopyOfThrows(t *testing.T) {
	p, d, link := seated(t, nil)
	d.log(dealt(link))
	copies := []string{p.state()}
	for throw := 1; throw <= 3; throw++ {
		d.game.Draw.Throw = throw
		_, err := p.ReleaseThrow(t.Context(), d, 1, 1, throw)
		must(t, err)
		d.taken = []int{1 + throw, throw}
		copies = append(copies, p.state())
	}
	d.game.Draw.Throw = 4
	for known, state := range copies[:3] {
		for throw := 1; throw <= 4; throw++ {
			old := copyOf(t, state)
			l, err := old.ReleaseThrow(t.Context(), d, 1, 1, throw)
			if throw <= known { // the same link for the same throw
				must(t, err)
				continue
			}
			var outdated *player.Outdated
			if !errors.As(err, &outdated) || outdated.Released != 4 || outdated.Known != 1+known {
				t.Errorf("a copy that knows of %d throws released %v for throw %d: %v", known, l, throw, err)
			}
		}
	}
	if _, err := copyOf(t, copies[3]).ReleaseThrow(t.Context(), d, 1, 1, 4); err != nil {
		t.Errorf("the newest copy: %v", err)
	}
}

// However many copies of a file there are, a link leaves for one deal only.
func TestCopiesNeverSpendTwice(t *testing.T) {
	d := newDealer(t)
	p, _ := newPlayer(t, d.vkey)
	var texts []commitment.Statement
	sequence := func(game int) string { return fmt.Sprintf("01940c3e-7b4a-7c1d-9a52-%012d", game) }
	for game := 1; game <= 4; game++ {
		texts = append(texts, commit(uint64(game-1), sequence(game)))
	}
	d.log(append(texts, open(p.Anchor()))...)
	copies, left := []string{p.state()}, map[commitment.Hash]int{}
	for game := 1; game <= 4; game++ {
		d.log(assign(game, 1, uint64(game-1), sequence(game)))
		for i, state := range copies { // the last one is the newest
			l, err := copyOf(t, state).Release(t.Context(), d, game, 1)
			var outdated *player.Outdated
			switch {
			case i < len(copies)-1 && !errors.As(err, &outdated):
				t.Errorf("game %d: the copy of game %d released %v, %v", game, i, l, err)
			case i == len(copies)-1 && err != nil:
				t.Errorf("game %d: the newest copy: %v", game, err)
			}
			if other := left[l.Link]; err == nil && other != 0 && other != game {
				t.Errorf("the link of game %d was released for game %d as well", other, game)
			}
		}
		l, err := p.Release(t.Context(), d, game, 1)
		must(t, err)
		left[l.Link] = game
		copies = append(copies, p.state())
		if game%2 == 0 {
			d.log(aborted(game, &l.Link, sequence(game)))
			continue
		}
		deal := dealt(l.Link)
		deal.Game, deal.Sequence, deal.Cut = game, sequence(game), commitment.NewCut(match, game, 1, &l.Link, &otherLink, nil)
		d.log(deal, aborted(game, nil, sequence(game)))
	}
}

// Nothing is asked of a copy that is as new as the service: also one that knows
// of a link which never arrived.
func TestCopyIsNewEnough(t *testing.T) {
	for _, c := range []struct {
		name  string
		taken []int
		ok    bool
	}{
		{"all arrived", []int{1, 0}, true},
		{"the last one was lost", []int{0, 0}, true},
		{"the opponent's are his own", []int{1, 7}, true},
		{"the service does not say", []int{}, false},
		{"the service says it of one seat", []int{1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDealer(t)
			p, _ := newPlayer(t, d.vkey)
			d.log(commit(0, seqOne), commit(1, seqTwo), open(p.Anchor()), assign(1, 1, 0, seqOne))
			_, err := p.Release(t.Context(), d, 1, 1)
			must(t, err)
			d.log(assign(1, 2, 1, seqTwo))
			d.taken = c.taken
			_, err = p.Release(t.Context(), d, 1, 2)
			var outdated *player.Outdated
			if (err == nil) != c.ok || errors.As(err, &outdated) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The seat of a player decides which links are his.
func TestOldCopyOfSeatB(t *testing.T) {
	d := newDealer(t)
	p, _ := newPlayerOn(t, d.vkey, player.Terms{Match: match})
	o := open(p.Anchor())
	o.AnchorA, o.AnchorB = o.AnchorB, o.AnchorA
	d.log(commit(0, seqOne), commit(1, seqTwo), o, assign(1, 1, 0, seqOne))
	before := p.state()
	d.taken = []int{5, 0}
	l, err := p.Release(t.Context(), d, 1, 1)
	must(t, err)
	if l.Seat != client.SeatB {
		t.Fatalf("the seat is %s", l.Seat)
	}
	d.log(commitment.Deal{Match: match, Game: 1, Segment: 1, Sequence: seqOne, LinkA: &otherLink, LinkB: &l.Link,
		Cut: commitment.NewCut(match, 1, 1, &otherLink, &l.Link, nil), Root: commitment.Sum([]byte("root")), Time: start})
	var outdated *player.Outdated
	if _, err := copyOf(t, before).Release(t.Context(), d, 1, 1); !errors.As(err, &outdated) {
		t.Errorf("an old copy of seat b: %v", err)
	}
}

// A house that puts a link where it does not belong is not excused by copies.
func TestLinkElsewhere(t *testing.T) {
	stranger := commitment.Sum([]byte("stranger"))
	for _, c := range []struct {
		name string
		log  func(d *dealer, link commitment.Hash)
	}{
		{"another game dealt with it", func(d *dealer, link commitment.Hash) {
			deal := dealt(link)
			deal.Game = 2
			d.log(assign(2, 1, 1, seqTwo), deal)
		}},
		{"another game aborted with it", func(d *dealer, link commitment.Hash) {
			d.log(assign(2, 1, 1, seqTwo), aborted(2, &link, seqTwo))
		}},
		{"a game aborted with a stranger's", func(d *dealer, _ commitment.Hash) {
			d.log(aborted(1, &stranger, seqOne), assign(2, 1, 1, seqTwo))
		}},
		{"dealt with a stranger's", func(d *dealer, _ commitment.Hash) { d.log(dealt(stranger), assign(2, 1, 1, seqTwo)) }},
		{"dealt with none", func(d *dealer, _ commitment.Hash) {
			deal := dealt(stranger)
			deal.LinkA, deal.Cut = nil, commitment.NewCut(match, 1, 1, nil, &otherLink, nil)
			d.log(deal, assign(2, 1, 1, seqTwo))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDealer(t)
			p, _ := newPlayer(t, d.vkey)
			d.log(commit(0, seqOne), commit(1, seqTwo), open(p.Anchor()), assign(1, 1, 0, seqOne))
			l, err := p.Release(t.Context(), d, 1, 1)
			must(t, err)
			c.log(d, l.Link)
			refused(t, p, d, 2, 1, "deal.links")
		})
	}
}
