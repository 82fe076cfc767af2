package commitment

import (
	"fmt"
	"strconv"
	"time"
)

// A Result is who won a game and how many points, cube included. Seat 0 is a draw, with 0 points.
type Result struct {
	Seat   byte // 'A', 'B', or 0
	Points int
}

// String returns "A 2" or "draw 0".
func (r Result) String() string {
	if r.Seat == 0 {
		return fmt.Sprintf("draw %d", r.Points)
	}
	return fmt.Sprintf("%c %d", r.Seat, r.Points)
}

// A Close ends a game that was played out, and publishes the secrets of its segments.
type Close struct {
	Match          string
	Game           int
	Rolls          Lengths // used per stream, summed over the segments; may be zero
	Receipt        *Hash   // of the last receipt; nil without a roll
	RecordLines    int     // event lines of the record
	RecordHead     Hash    // its head
	Result         Result
	ScoreA, ScoreB int              // of the match after the game
	Secrets        []RevealedSecret // one per assigned segment, in segment order
	Time           time.Time
}

// Type returns "close".
func (Close) Type() string { return "close" }

// When returns the time of the statement.
func (c Close) When() time.Time { return c.Time }

// Text returns the lines of the statement.
func (c Close) Text() []byte {
	w := newPrinter("close")
	w.line("match", c.Match)
	w.integer("game", c.Game)
	w.rolls(c.Rolls)
	w.hashOrDash("receipt", c.Receipt)
	w.record(c.RecordLines, c.RecordHead)
	w.line("result", c.Result.String())
	w.pair("score", c.ScoreA, c.ScoreB)
	w.secrets(c.Secrets)
	w.time(c.Time)
	return w
}

func readClose(p *parser) Statement {
	c := Close{Match: p.id("match"), Game: p.game(), Rolls: p.rolls(), Receipt: p.hashOrDash("receipt")}
	c.RecordLines, c.RecordHead = p.record()
	c.Result = p.result()
	c.ScoreA, c.ScoreB = p.score()
	c.Secrets = p.secrets()
	c.Time = p.time()
	return c
}

// result reads "A n", "B n" with n at least 1, or "draw 0" (vectors, C4).
func (p *parser) result() Result {
	f := p.fields("result", 2)
	points := int(p.integerOf("result", field(f, 1), 0, MaxInteger))
	var r Result
	switch seat := field(f, 0); {
	case p.err != nil:
		return Result{}
	case seat == "A" || seat == "B":
		r = Result{Seat: seat[0], Points: points}
	case seat == "draw":
		r = Result{Points: points}
	default:
		p.fail(p.at, "result", "value", "%q is none of A, B, draw", clip(seat))
		return Result{}
	}
	if (r.Seat == 0) != (points == 0) {
		p.fail(p.at, "result", "result", "%s %s: a winner has at least 1 point, a draw has 0", f[0], strconv.Itoa(points))
	}
	return r
}

// An Abort ends a game that platform or house could not bring to its end, and publishes the secrets of its segments: the
// luck of dropped games can be compared with that of finished ones.
type Abort struct {
	Match        string
	Game         int
	By           string // "platform" or "house"
	Reason       string // token
	LinkA, LinkB *Hash  // received for a segment not dealt
	Signature    []byte // likewise
	Rolls        Lengths
	Receipt      *Hash
	RecordLines  int
	RecordHead   Hash
	Secrets      []RevealedSecret
	Time         time.Time
}

// Type returns "abort".
func (Abort) Type() string { return "abort" }

// When returns the time of the statement.
func (a Abort) When() time.Time { return a.Time }

// Text returns the lines of the statement.
func (a Abort) Text() []byte {
	w := newPrinter("abort")
	w.line("match", a.Match)
	w.integer("game", a.Game)
	w.line("by", a.By)
	w.line("reason", a.Reason)
	w.inputs(a.LinkA, a.LinkB, a.Signature)
	w.rolls(a.Rolls)
	w.hashOrDash("receipt", a.Receipt)
	w.record(a.RecordLines, a.RecordHead)
	w.secrets(a.Secrets)
	w.time(a.Time)
	return w
}

func readAbort(p *parser) Statement {
	a := Abort{Match: p.id("match"), Game: p.game(), By: p.oneOf("by", "platform", "house"), Reason: p.token("reason")}
	a.LinkA, a.LinkB, a.Signature = p.inputs()
	a.Rolls = p.rolls()
	a.Receipt = p.hashOrDash("receipt")
	a.RecordLines, a.RecordHead = p.record()
	a.Secrets = p.secrets()
	a.Time = p.time()
	return a
}

// A Finish ends a match.
type Finish struct {
	Match          string
	ScoreA, ScoreB int
	Reason         string // "decided" or "abandoned"
	Time           time.Time
}

// Type returns "finish".
func (Finish) Type() string { return "finish" }

// When returns the time of the statement.
func (f Finish) When() time.Time { return f.Time }

// Text returns the lines of the statement.
func (f Finish) Text() []byte {
	w := newPrinter("finish")
	w.line("match", f.Match)
	w.pair("score", f.ScoreA, f.ScoreB)
	w.line("reason", f.Reason)
	w.time(f.Time)
	return w
}

func readFinish(p *parser) Statement {
	f := Finish{Match: p.id("match")}
	f.ScoreA, f.ScoreB = p.score()
	f.Reason = p.oneOf("reason", "decided", "abandoned")
	f.Time = p.time()
	return f
}
