package commitment

import "time"

// A Commit seals a sequence: from here on its dice with any cut are fixed, and only the house can know them.
type Commit struct {
	Log        string // origin
	Tenant     string // token
	Mode       Mode
	Number     uint64  // of the tenant and mode, from 0, without gaps
	Sequence   string  // id
	Rolls      Lengths // of the streams
	SecretHash Hash    // Secret.Hash
	Root       Hash    // of the roll tree with NoCut
	Archive    *Hash   // exactly in mode real
	Time       time.Time
}

// Type returns "commit".
func (Commit) Type() string { return "commit" }

// When returns the time of the statement.
func (c Commit) When() time.Time { return c.Time }

// Text returns the lines of the statement.
func (c Commit) Text() []byte {
	w := newPrinter("commit")
	w.line("log", c.Log)
	w.line("tenant", c.Tenant)
	w.line("mode", c.Mode.String())
	w.unsigned("number", c.Number)
	w.line("sequence", c.Sequence)
	w.rolls(c.Rolls)
	w.hash("secret-hash", c.SecretHash)
	w.hash("root", c.Root)
	w.optionalHash("archive", c.Archive)
	w.time(c.Time)
	return w
}

func readCommit(p *parser) Statement {
	c := Commit{
		Log:      p.checked("log", "name", CheckName),
		Tenant:   p.token("tenant"),
		Mode:     p.mode(),
		Number:   p.integer("number", 0, MaxInteger),
		Sequence: p.id("sequence"),
		Rolls:    p.rolls(),
	}
	if p.err == nil {
		p.check("rolls", "number", c.Rolls.Validate())
	}
	c.SecretHash = p.hash("secret-hash")
	c.Root = p.hash("root")
	c.Archive = p.optionalHash("archive")
	if p.err == nil && (c.Archive != nil) != (c.Mode == Real) {
		p.fail(p.at, "archive", "archive", "the line belongs to mode real and to no other")
	}
	c.Time = p.time()
	return c
}

// A Retire withdraws a sequence that no game was given, and publishes its secret.
type Retire struct {
	Sequence string
	Reason   string // token
	Secret   Secret
	Time     time.Time
}

// Type returns "retire".
func (Retire) Type() string { return "retire" }

// When returns the time of the statement.
func (r Retire) When() time.Time { return r.Time }

// Text returns the lines of the statement.
func (r Retire) Text() []byte {
	w := newPrinter("retire")
	w.line("sequence", r.Sequence)
	w.line("reason", r.Reason)
	w.line("secret", r.Secret.Reveal())
	w.time(r.Time)
	return w
}

func readRetire(p *parser) Statement {
	return Retire{Sequence: p.id("sequence"), Reason: p.token("reason"), Secret: p.secretOf("secret", p.text("secret")), Time: p.time()}
}
