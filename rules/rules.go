package rules

import (
	"errors"
	"fmt"
)

// Rules is a whole variant as data. It is comparable; the zero value is not a variant. Each enum is interpreted in
// the one file named after it.
type Rules struct {
	Array     Array     // where the checkers stand at the start
	Route     Route     // how the two paths lie to each other, and how records number the points
	Contact   Contact   // what an enemy checker does to a landing
	Head      Head      // how many checkers may leave the first point of the path
	Barrier   Barrier   // which blocks are forbidden, and when that is tested
	Doubles   Doubles   // what a double is worth
	Leftover  Leftover  // what becomes of the unplayed steps of a double
	ChainEnd  ChainEnd  // when a progression stops early
	HomeMoves HomeMoves // whether checkers may move inside the home
	BearOff   BearOff   // which die bears off what
	Opening   Opening   // whether the draw dice are the first roll
	Score     Score     // what a won game counts
}

// Validate reports every reason why the combination is not a game, joined.
func (r Rules) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, e := range r.enums() {
		if e.name == "" {
			refuse("%s has no value %d", e.field, e.value)
		}
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	parallel := r.Route == RouteParallel
	if parallel != (r.Contact == ContactClosed) {
		refuse("contact %s does not fit route %s: a lone checker closes a point exactly where both sides run the same way", r.Contact, r.Route)
	}
	if r.Head != HeadFree && !parallel {
		refuse("head %s needs route %s", r.Head, RouteParallel)
	}
	if r.Head != HeadFree && r.Array != ArrayHead {
		refuse("head %s needs array %s", r.Head, ArrayHead)
	}
	if r.Barrier != BarrierNone && !parallel {
		refuse("barrier %s needs route %s", r.Barrier, RouteParallel)
	}
	if (r.ChainEnd != ChainNone) != r.Doubles.progressive() {
		refuse("chain end %s does not fit doubles %s", r.ChainEnd, r.Doubles)
	}
	if r.ChainEnd == ChainHomeOneMore && r.HomeMoves != HomeMovesWithOutside {
		refuse("chain end %s needs home moves %s, or the last step is not the entering one", r.ChainEnd, HomeMovesWithOutside)
	}
	if r.HomeMoves == HomeMovesWithOutside && r.BearOff != BearOffExact {
		refuse("home moves %s contradict bearing off %s, which can force a move inside the home", r.HomeMoves, r.BearOff)
	}
	if (r.BearOff == BearOffUnpinned) != (r.Contact == ContactPin) {
		refuse("bearing off %s does not fit contact %s", r.BearOff, r.Contact)
	}
	if r.Score == ScoreKoks && !r.Contact.hits() {
		refuse("score %s needs a bar, contact %s has none", r.Score, r.Contact)
	}
	return errors.Join(errs...)
}

// enum is one field of Rules as the profile writes it; name is empty for a value that does not exist.
type enum struct {
	field, name string
	value       uint8
}

// enums lists the fields in the order of the canonical profile.
func (r Rules) enums() [12]enum {
	return [12]enum{
		{"array", r.Array.String(), uint8(r.Array)},
		{"route", r.Route.String(), uint8(r.Route)},
		{"contact", r.Contact.String(), uint8(r.Contact)},
		{"head", r.Head.String(), uint8(r.Head)},
		{"barrier", r.Barrier.String(), uint8(r.Barrier)},
		{"doubles", r.Doubles.String(), uint8(r.Doubles)},
		{"leftover", r.Leftover.String(), uint8(r.Leftover)},
		{"chain-end", r.ChainEnd.String(), uint8(r.ChainEnd)},
		{"home-moves", r.HomeMoves.String(), uint8(r.HomeMoves)},
		{"bear-off", r.BearOff.String(), uint8(r.BearOff)},
		{"opening", r.Opening.String(), uint8(r.Opening)},
		{"score", r.Score.String(), uint8(r.Score)},
	}
}

// nameOf words an enum that counts from one; the empty string marks a value that does not exist.
func nameOf(names []string, value uint8) string {
	if value == 0 || int(value) > len(names) {
		return ""
	}
	return names[value-1]
}
