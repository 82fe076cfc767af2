package commitment

import (
	"fmt"
	"strings"
	"time"

	"fairdice/internal/phrase"
)

// A Profile says who checks the moves and when (PROTOCOL.md §5). The zero value is no profile.
type Profile uint8

// The profiles.
const (
	Refereed Profile = iota + 1 // moves are posted and checked as they are played
	DiceOnly                    // the platform draws dice and uploads the record at the close
)

// String returns "refereed" or "dice-only".
func (p Profile) String() string {
	switch p {
	case Refereed:
		return "refereed"
	case DiceOnly:
		return "dice-only"
	}
	return fmt.Sprintf("profile(%d)", uint8(p))
}

// ParseProfile reads "refereed" or "dice-only".
func ParseProfile(s string) (Profile, error) {
	for _, p := range []Profile{Refereed, DiceOnly} {
		if s == p.String() {
			return p, nil
		}
	}
	return 0, phrase.Errorf("parse profile: %q is neither refereed nor dice-only", clip(s))
}

// An Anchor is v_0 of a player's chain. A custodial one is kept by the platform for a player without a client of his own;
// it lowers the proof level.
type Anchor struct {
	Hash      Hash
	Custodial bool
}

// An Open starts a match.
type Open struct {
	Log              string // origin
	Match            string // id
	Tenant           string // token
	Variant          string // id of RULES.md §2
	RulesVersion     string // token
	RulesHash        Hash   // H of the variant's canonical profile text
	Mode             Mode
	Profile          Profile
	Options          string // as written; see CheckOptions
	A, B             string // player tokens, different
	AnchorA, AnchorB *Anchor
	Beacon           bool   // quicknet takes part in every cut
	ReceiptKey       string // verifier key of the receipts
	Time             time.Time
}

// Type returns "open".
func (Open) Type() string { return "open" }

// When returns the time of the statement.
func (o Open) When() time.Time { return o.Time }

// Text returns the lines of the statement.
func (o Open) Text() []byte {
	w := newPrinter("open")
	w.line("log", o.Log)
	w.line("match", o.Match)
	w.line("tenant", o.Tenant)
	w.line("variant", o.Variant)
	w.line("rules", o.RulesVersion, o.RulesHash.String())
	w.line("mode", o.Mode.String())
	w.line("profile", o.Profile.String())
	w.line("options", o.Options)
	w.line("a", o.A)
	w.line("b", o.B)
	w.anchor("anchor-a", o.AnchorA)
	w.anchor("anchor-b", o.AnchorB)
	beacon := "none"
	if o.Beacon {
		beacon = "quicknet"
	}
	w.line("beacon", beacon)
	w.line("receipt-key", o.ReceiptKey)
	w.time(o.Time)
	return w
}

func (w *printer) anchor(name string, a *Anchor) {
	switch {
	case a == nil:
	case a.Custodial:
		w.line(name, a.Hash.String(), "custodial")
	default:
		w.line(name, a.Hash.String(), "self")
	}
}

func readOpen(p *parser) Statement {
	o := Open{
		Log:     p.checked("log", "name", CheckName),
		Match:   p.id("match"),
		Tenant:  p.token("tenant"),
		Variant: p.text("variant"),
	}
	if p.err == nil && !isVariant(o.Variant) {
		p.fail(p.at, "variant", "value", "no variant %q", clip(o.Variant))
	}
	f := p.fields("rules", 2)
	o.RulesVersion = field(f, 0)
	if p.err == nil {
		p.check("rules", "token", CheckToken(o.RulesVersion))
	}
	o.RulesHash = p.hashOf("rules", field(f, 1))
	o.Mode = p.mode()
	if s := p.text("profile"); p.err == nil {
		var err error
		o.Profile, err = ParseProfile(s)
		p.check("profile", "value", err)
	}
	o.Options = strings.Join(p.fields("options", 0), " ")
	if p.err == nil {
		p.check("options", "options", CheckOptions(o.Variant, o.Options))
	}
	o.A, o.B = p.token("a"), p.token("b")
	o.AnchorA, o.AnchorB = p.anchor("anchor-a"), p.anchor("anchor-b")
	o.Beacon = p.oneOf("beacon", "none", "quicknet") == "quicknet"
	o.ReceiptKey = p.checked("receipt-key", "vkey", checkSignatureKey)
	o.Time = p.time()
	p.checkPlayers(o)
	return o
}

func (p *parser) anchor(name string) *Anchor {
	f, ok := p.optional(name, 2)
	if !ok {
		return nil
	}
	a := &Anchor{Hash: p.hashOf(name, f[0]), Custodial: f[1] == "custodial"}
	if p.err == nil && !a.Custodial && f[1] != "self" {
		p.fail(p.at, name, "value", "%q is neither self nor custodial", clip(f[1]))
	}
	return a
}

// checkPlayers refuses what can be no match at all (PROTOCOL.md §3): one player on both seats, one chain behind both
// anchors, and live throws without two links or without a referee who asks for them.
func (p *parser) checkPlayers(o Open) {
	switch {
	case p.err != nil:
	case o.A == o.B:
		p.fail(0, "b", "equal-players", "both players have the token %s", o.A)
	case o.AnchorA != nil && o.AnchorB != nil && o.AnchorA.Hash == o.AnchorB.Hash:
		p.fail(0, "anchor-b", "equal-anchors", "both players have the anchor %s", o.AnchorA.Hash)
	case o.Mode == Live && (o.AnchorA == nil || o.AnchorB == nil):
		p.fail(0, "mode", "live-needs-anchors", "mode live needs the anchors of both players")
	case o.Mode == Live && o.Profile != Refereed:
		p.fail(0, "profile", "live-needs-refereed", "mode live needs the profile refereed")
	}
}
