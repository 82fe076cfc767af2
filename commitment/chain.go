package commitment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// DefaultChain is the number of links of a player's chain: enough for a long live match.
const DefaultChain = 16_384

// MaxChain bounds what a reader of a stored chain will compute.
const MaxChain = 1 << 20

// LinkHash returns v_(t−1) = H("fairdice/v1 link\n" ‖ v_t). A released link proves itself: its LinkHash is the link
// released before it, or the anchor.
func LinkHash(v Hash) Hash {
	const domain = "fairdice/v1 link\n"
	var b [len(domain) + len(v)]byte
	copy(b[:], domain)
	copy(b[len(domain):], v[:])
	return sha256.Sum256(b[:])
}

// A Chain is a player's row of links v_1 … v_n, each the preimage of the one before, with the anchor v_0 (PROTOCOL.md §4).
// The player keeps the last one, v_n, and releases them from v_1 on; nobody can compute a link from those before it.
type Chain struct {
	n     int
	step  int
	marks []Hash // marks[j] = v_(n − j·step): any link is at most step hashes away
}

// NewChain makes a chain of n links from 32 random bytes of r.
func NewChain(r io.Reader, n int) (*Chain, error) {
	var last Hash
	if _, err := io.ReadFull(r, last[:]); err != nil {
		return nil, fmt.Errorf("make chain: %w", err)
	}
	return RestoreChain(last, n)
}

// RestoreChain makes the chain of n links that ends in last: Seed and Len are all that has to be stored of a chain.
func RestoreChain(last Hash, n int) (*Chain, error) {
	if n < 1 || n > MaxChain {
		return nil, fmt.Errorf("make chain: %d links, want 1 to %d", n, MaxChain)
	}
	c := &Chain{n: n, step: 1}
	for c.step*c.step < n {
		c.step *= 2
	}
	v := last
	for i := 0; i <= n; i++ {
		if i%c.step == 0 || i == n {
			c.marks = append(c.marks, v)
		}
		v = LinkHash(v)
	}
	return c, nil
}

// Anchor returns v_0, which the `open` statement names.
func (c *Chain) Anchor() Hash { return c.marks[len(c.marks)-1] }

// Len returns the number of links n.
func (c *Chain) Len() int { return c.n }

// Seed returns v_n, from which all links follow. It is as secret as all unreleased links together.
func (c *Chain) Seed() Hash { return c.marks[0] }

// ErrSpent says that a chain has no such link: a used-up chain counts as a refusal.
var ErrSpent = errors.New("chain is used up")

// Link returns v_t for t from 1 to n.
func (c *Chain) Link(t int) (Hash, error) {
	if t < 1 {
		return Hash{}, fmt.Errorf("find link: links count from 1, not %d", t)
	}
	if t > c.n {
		return Hash{}, fmt.Errorf("find link %d of %d: %w", t, c.n, ErrSpent)
	}
	back := c.n - t
	v := c.marks[back/c.step]
	for range back % c.step {
		v = LinkHash(v)
	}
	return v, nil
}

// Format keeps the unreleased links out of logs, also those of a dereferenced copy.
func (c Chain) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "chain of %d links, anchor %s", c.n, c.Anchor())
}
