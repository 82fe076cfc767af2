package player

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/note"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/translog"
)

// Terms are what a player has agreed to play. An empty field is not compared
// with the open; Match is always needed.
type Terms struct {
	Match    string `json:"match"`
	Token    string `json:"token,omitempty"`    // the player's own
	Opponent string `json:"opponent,omitempty"` // the other player's token
	Tenant   string `json:"tenant,omitempty"`
	Variant  string `json:"variant,omitempty"`
	Rules    string `json:"rules,omitempty"` // hash of the variant's rules, hex
	Mode     string `json:"mode,omitempty"`
	Profile  string `json:"profile,omitempty"`
	Options  string `json:"options,omitempty"`
	Beacon   string `json:"beacon,omitempty"` // none or quicknet
}

// Player holds one chain for one match. It is not safe for concurrent use,
// and no two processes may use one file.
type Player struct {
	file  string
	state state
	chain *commitment.Chain
	key   note.Verifier
}

// New makes a chain of n links and a file for it. The file must not exist:
// its anchor is for one match.
func New(file, logKey string, n int, random io.Reader) (*Player, error) {
	key, err := commitment.ParseVerifier(logKey)
	if err != nil {
		return nil, err
	}
	chain, err := commitment.NewChain(random, n)
	if err != nil {
		return nil, err
	}
	s := state{Format: stateFormat, Key: logKey, Last: chain.Seed().String(), Length: n, Released: []released{}}
	if err := s.create(file); err != nil {
		return nil, err
	}
	return &Player{file: file, state: s, chain: chain, key: key}, nil
}

// Load reads the file of a player.
func Load(file string) (*Player, error) {
	s, chain, err := load(file)
	if err != nil {
		return nil, err
	}
	key, err := commitment.ParseVerifier(s.Key)
	if err != nil {
		return nil, fmt.Errorf("load player's file: %w", err)
	}
	return &Player{file: file, state: s, chain: chain, key: key}, nil
}

// Anchor is the public end of the chain.
func (p *Player) Anchor() commitment.Hash { return p.chain.Anchor() }

// Key is the pinned verifier key of the log.
func (p *Player) Key() string { return p.state.Key }

// Match is the match the player has joined, "" before.
func (p *Player) Match() string { return p.state.Terms.Match }

// Spent is how many links have been released, and of how many.
func (p *Player) Spent() (links, of int) { return len(p.state.Released), p.chain.Len() }

// Checkpoint is the last checkpoint the player has checked, a signed note, ""
// before the first: evidence to keep.
func (p *Player) Checkpoint() string { return p.state.Checkpoint }

// Join binds the chain to a match for good; another match needs another chain,
// because an anchor used twice tells the house what the player will do. Joining
// again may say what was left open, and never changes what was said.
func (p *Player) Join(t Terms) error {
	if t.Match == "" {
		return fmt.Errorf("join match: the terms name no match")
	}
	next := p.state
	for _, c := range []struct {
		name   string
		joined *string
		given  string
	}{
		{"match", &next.Terms.Match, t.Match}, {"own token", &next.Terms.Token, t.Token}, {"opponent", &next.Terms.Opponent, t.Opponent},
		{"tenant", &next.Terms.Tenant, t.Tenant}, {"variant", &next.Terms.Variant, t.Variant}, {"rules hash", &next.Terms.Rules, t.Rules},
		{"mode", &next.Terms.Mode, t.Mode}, {"profile", &next.Terms.Profile, t.Profile}, {"options", &next.Terms.Options, t.Options},
		{"beacon", &next.Terms.Beacon, t.Beacon},
	} {
		switch {
		case c.given == "" || c.given == *c.joined:
		case *c.joined == "":
			*c.joined = c.given
		default:
			return fmt.Errorf("join match: the chain has joined with %s %q, not %q; make a new one for another match", c.name, *c.joined, c.given)
		}
	}
	if next.Terms == p.state.Terms {
		return nil
	}
	if err := next.save(p.file); err != nil {
		return err
	}
	p.state = next
	return nil
}

// Source is where statements come from, and what has no proof: how many links
// the service has taken, and in mode live which throw is due. It is not trusted:
// one that lies gets no link that it could not have had. A *client.Client is one.
type Source interface {
	Statements(ctx context.Context, match string, seen int64) (client.Published, error)
	Match(ctx context.Context, match string) (client.Match, error)
}

// Link is a link that may leave the player's hands.
type Link struct {
	Seat client.Seat
	Link commitment.Hash
}

// Release checks everything PROTOCOL.md §4 asks for, remembers durably that
// the next link belongs to this segment, and returns it. The same segment
// gets the same link again. An error that is a *Distrust means that the house
// is not to be believed, one that is an *Outdated that the file is an old copy
// of the chain; then no link leaves, whatever the reason.
func (p *Player) Release(ctx context.Context, from Source, game, segment int) (Link, error) {
	return p.release(ctx, from, slot{game, segment, 0}, func(next state, e evidence) (state, error) {
		return p.admit(ctx, from, next, e, game, segment)
	})
}

// release reads the evidence, has admit decide, and remembers the decision
// before anybody learns the link.
func (p *Player) release(ctx context.Context, from Source, at slot, admit func(state, evidence) (state, error)) (Link, error) {
	if p.state.Terms.Match == "" {
		return Link{}, fmt.Errorf("release link: no match was joined")
	}
	seen, err := p.seen()
	if err != nil {
		return Link{}, err
	}
	answer, err := from.Statements(ctx, p.state.Terms.Match, seen.Size)
	if err != nil {
		return Link{}, fmt.Errorf("release link: %w", err)
	}
	// The checkpoint is kept even if something else is wrong with the answer:
	// a fork shows against every signed tree the player has ever seen.
	head, err := p.extend(seen, answer)
	if err != nil {
		return Link{}, err
	}
	next := p.state
	next.Checkpoint = answer.Checkpoint
	e, err := readEvidence(answer, head)
	if err == nil {
		next, err = admit(next, e)
	}
	if err != nil {
		if saveErr := next.save(p.file); saveErr == nil {
			p.state = next
		}
		return Link{}, err
	}
	number := next.find(at) + 1
	link, err := p.chain.Link(number)
	if err != nil {
		return Link{}, fmt.Errorf("release link: %w", err)
	}
	if err := next.save(p.file); err != nil {
		return Link{}, err
	}
	p.state = next
	return Link{Seat: e.seat(p.chain.Anchor()), Link: link}, nil
}

// Play releases the link of a segment to the service.
func (p *Player) Play(ctx context.Context, c *client.Client, game, segment int) (client.LinkTaken, error) {
	l, err := p.Release(ctx, c, game, segment)
	if err != nil {
		return client.LinkTaken{}, err
	}
	return c.PutLink(ctx, p.state.Terms.Match, game, segment, l.Seat, l.Link.String(), 0)
}

func (p *Player) seen() (translog.Checkpoint, error) {
	if p.state.Checkpoint == "" {
		return translog.Checkpoint{}, nil
	}
	c, err := translog.OpenCheckpoint(p.state.Checkpoint, p.key)
	if err != nil {
		return c, fmt.Errorf("load player's file: %w", err)
	}
	return c, nil
}

// extend checks that the answer's checkpoint is the log's and extends the one seen last.
func (p *Player) extend(seen translog.Checkpoint, answer client.Published) (translog.Checkpoint, error) {
	head, err := translog.OpenCheckpoint(answer.Checkpoint, p.key)
	if err != nil {
		return head, distrust("log.signature", "%v", err)
	}
	if seen.Size == 0 {
		return head, nil
	}
	proof, err := hashes(answer.Consistency)
	if err != nil {
		return head, distrust("log.consistency", "%v", err)
	}
	if err := translog.VerifyConsistency(seen.Size, seen.Root, head.Size, head.Root, proof); err != nil {
		return head, distrust("log.consistency", "%v", err)
	}
	return head, nil
}
