package audit

import (
	"errors"
	"strings"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// Proof levels of PROTOCOL.md §4.
const (
	L0 = "L0" // sealed: not changed after the commitment
	L1 = "L1" // beacon: nobody could choose the dice
	L2 = "L2" // players: nobody could, if the player whose anchor it is was honest
	L3 = "L3" // live: nobody knew a roll before both players released it
)

// Notes that go with a level.
const (
	NoteUnwitnessed = "beacon not witnessed"
	NoteDeclared    = "as declared"
	NoteProved      = "proved to you"
	NoteUnpinned    = "self-consistent only"
	NoteNotProved   = "not proved"
)

// levelOf reads the table of PROTOCOL.md §4: what a match declared, whether
// every deal's round was witnessed in time, and whether one of the anchors is
// the reader's own. One self anchor alone does not make L2 (C20).
func levelOf(o *commitment.Open, witnessed, mine bool) (level, note string) {
	self := func(a *commitment.Anchor) bool { return a != nil && !a.Custodial }
	switch {
	case self(o.AnchorA) && self(o.AnchorB):
		level, note = L2, NoteDeclared
		if o.Mode == commitment.Live {
			level = L3
		}
		if mine {
			note = NoteProved
		}
	case o.Beacon && witnessed:
		level = L1
	case o.Beacon:
		level, note = L0, NoteUnwitnessed
	default:
		level = L0
	}
	return level, note
}

// checkLevel carries out level: the checks it rests on have not failed, and the
// reader's own anchor, if he gave one, is in the open (C20).
func (e *evidence) checkLevel(f *findings, t Trust, r *Report) {
	mine := false
	if t.MyAnchor != nil {
		for _, a := range [...]*commitment.Anchor{e.open.AnchorA, e.open.AnchorB} {
			mine = mine || a != nil && a.Hash == *t.MyAnchor
		}
		if !mine {
			f.fail(LevelCheck, 0, 0, phrase.Errorf("your anchor %s is in neither anchor line of the open", short(*t.MyAnchor)))
		}
	}
	var failed []string
	for _, d := range descriptions {
		if d.level && d.id != LevelCheck && f.failed(d.id) {
			failed = append(failed, string(d.id))
		}
	}
	if len(failed) > 0 {
		f.fail(LevelCheck, 0, 0, phrase.Errorf("it rests on checks that failed: %s", strings.Join(failed, ", ")))
	}
	r.Level, r.LevelNote = levelOf(e.open, e.witnessed, mine)
	switch {
	case f.failed(LevelCheck):
		r.LevelNote = NoteNotProved
	case !t.pinned():
		r.LevelNote = NoteUnpinned
		f.skip(LevelCheck, 0, errors.New("without a pinned key nothing says whose log this is"))
	default:
		f.pass(LevelCheck)
	}
}

// says lists what lowers or qualifies the proof, in the words of C20.
func (e *evidence) says() []string {
	says := []string{}
	for _, side := range [...]struct {
		name   string
		anchor *commitment.Anchor
	}{{"anchor-a", e.open.AnchorA}, {"anchor-b", e.open.AnchorB}} {
		switch {
		case side.anchor == nil:
			says = append(says, side.name+" missing")
		case side.anchor.Custodial:
			says = append(says, side.name+" custodial")
		}
	}
	if e.open.Mode == commitment.Real {
		says = append(says, "real")
	}
	if e.open.Mode.Blocks() {
		says = append(says, "blocks")
	}
	if e.open.Profile == commitment.DiceOnly {
		says = append(says, "dice-only")
	}
	return says
}
