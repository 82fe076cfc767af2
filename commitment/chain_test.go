package commitment

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

type anchorVectors struct {
	Chains []struct {
		Last   Hash
		N      int
		Anchor Hash
		Links  []Hash
	}
	LinkChecks []struct {
		What           string
		Previous, Link Hash
		OK             bool
	} `json:"link_checks"`
	Follow struct {
		Anchor Hash
		Cases  []struct {
			What  string
			OK    bool
			Games []struct {
				Deals, Throws []Hash
				Abort         *Hash
				MayMiss       int `json:"may_miss"`
			}
		}
	}
	Cuts []struct {
		Match         string
		Game, Segment int
		LinkA         *Hash `json:"link_a"`
		LinkB         *Hash `json:"link_b"`
		Signature     *string
		Text          *string
		Cut           Cut
	}
}

func TestAnchorVectors(t *testing.T) {
	var v anchorVectors
	readVectors(t, "anchors.json", &v)
	if len(v.Chains) == 0 || len(v.LinkChecks) == 0 || len(v.Follow.Cases) == 0 || len(v.Cuts) == 0 {
		t.Fatal("a list is empty")
	}
	for _, c := range v.Chains {
		chain, err := RestoreChain(c.Last, c.N)
		if err != nil {
			t.Fatal(err)
		}
		if chain.Anchor() != c.Anchor || chain.Seed() != c.Last || chain.Len() != c.N {
			t.Errorf("chain of %d: anchor %s, want %s", c.N, chain.Anchor(), c.Anchor)
		}
		for i, want := range c.Links {
			if got, err := chain.Link(i + 1); err != nil || got != want {
				t.Errorf("link %d of %d is %s (%v), want %s", i+1, c.N, got, err, want)
			}
		}
		if got, err := chain.Link(c.N); err != nil || got != c.Last {
			t.Errorf("last link of %d is %s (%v)", c.N, got, err)
		}
	}
	for _, c := range v.LinkChecks {
		if (LinkHash(c.Link) == c.Previous) != c.OK {
			t.Errorf("link check %q is not %t", c.What, c.OK)
		}
	}
	for _, c := range v.Follow.Cases {
		var games []GameLinks
		for _, g := range c.Games {
			games = append(games, GameLinks{Deals: g.Deals, Throws: g.Throws, Abort: g.Abort, MayMiss: g.MayMiss})
		}
		if _, err := Follow(v.Follow.Anchor, games); (err == nil) != c.OK {
			t.Errorf("follow %q: %v, want ok %t", c.What, err, c.OK)
		}
	}
	for _, c := range v.Cuts {
		var signature []byte
		if c.Signature != nil {
			signature = unhex(t, *c.Signature)
		}
		got := NewCut(c.Match, c.Game, c.Segment, c.LinkA, c.LinkB, signature)
		if got != c.Cut {
			t.Errorf("cut %s, want %s", got, c.Cut)
		}
		if c.Text != nil && string(got) != Sum([]byte(*c.Text)).String() {
			t.Errorf("cut %s is not the hash of %q", got, *c.Text)
		}
		if back, err := ParseCut(string(got)); err != nil || back != got {
			t.Errorf("cut %s does not parse: %v", got, err)
		}
	}
}

// Every link of every chain hashes to the one before it, and none comes after the last.
func TestChainLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		seed := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")
		c, err := NewChain(bytes.NewReader(seed), n)
		if err != nil {
			t.Fatal(err)
		}
		last := c.Anchor()
		for i := 1; i <= n; i++ {
			v, err := c.Link(i)
			if err != nil {
				t.Fatal(err)
			}
			if LinkHash(v) != last {
				t.Fatalf("link %d of %d does not hash to the one before it", i, n)
			}
			last = v
		}
		if hex.EncodeToString(last[:]) != hex.EncodeToString(seed) {
			t.Fatal("the last link is not the seed")
		}
		if _, err := c.Link(n + 1); !errors.Is(err, ErrSpent) {
			t.Fatalf("link %d: %v, want ErrSpent", n+1, err)
		}
		if _, err := c.Link(0); err == nil {
			t.Fatal("the anchor was given as a link")
		}
	})
}
