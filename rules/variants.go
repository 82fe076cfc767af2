package rules

// Version is the version of the rules in this package. Its profiles are final: a later version is another package
// state with another string, and a match says which it was opened under (PROTOCOL.md §3).
const Version = "1"

// Variant is a named set of rules.
type Variant struct {
	ID    string
	Rules Rules
}

// long is the classic long game; the others of its family are told by what they change.
var long = Rules{ArrayHead, RouteParallel, ContactClosed, HeadClassic, BarrierStage, DoublesFour, LeftoverLost, ChainNone, HomeMovesFree, BearOffHighest, OpeningFresh, ScoreMars}

// short is backgammon.
var short = Rules{ArrayStandard, RouteOpposed, ContactHit, HeadFree, BarrierNone, DoublesFour, LeftoverLost, ChainNone, HomeMovesFree, BearOffHighest, OpeningDraw, ScoreKoks}

// variants is RULES.md §2, §4 and §5 as data, in that order.
var variants = [...]Variant{
	{"long-classic", long},
	{"long-sport", with(long, func(r *Rules) {
		r.Head, r.Barrier, r.Opening = HeadSport, BarrierStep, OpeningDraw
	})},
	{"long-crazy", with(long, func(r *Rules) {
		r.Head, r.Doubles, r.ChainEnd = HeadStage, DoublesLateProgression, ChainHome
		r.HomeMoves, r.BearOff = HomeMovesWithOutside, BearOffExact
	})},
	{"gyulbar", with(long, func(r *Rules) {
		r.Head, r.Doubles, r.Leftover = HeadStage, DoublesBonus, LeftoverHanded
	})},
	{"crazy-gyulbar", with(long, func(r *Rules) {
		r.Head, r.Doubles, r.Leftover, r.ChainEnd = HeadRoll, DoublesProgression, LeftoverHanded, ChainHomeOneMore
		r.HomeMoves, r.BearOff = HomeMovesWithOutside, BearOffExact
	})},
	{"khachapuri", with(long, func(r *Rules) {
		r.Array, r.Head, r.Doubles, r.Leftover = ArrayElevenFour, HeadFree, DoublesBonusVoid, LeftoverHanded
	})},
	{"tbilisi", with(long, func(r *Rules) {
		r.Array, r.Head = ArrayElevenFour, HeadFree
	})},
	{"fevga", with(long, func(r *Rules) {
		r.Head, r.Barrier = HeadRunner, BarrierStart
	})},
	{"crazy-fevga", with(long, func(r *Rules) {
		r.Head, r.Barrier = HeadRunner, BarrierStart
		r.Doubles, r.Leftover, r.ChainEnd = DoublesLateProgression, LeftoverHandedStarted, ChainHome
	})},
	{"short", short},
	{"nackgammon", with(short, func(r *Rules) { r.Array = ArraySplit })},
	{"hyper", with(short, func(r *Rules) { r.Array = ArrayRunners })},
	{"tavla", with(short, func(r *Rules) {
		r.Contact, r.Opening, r.Score = ContactHitAndStay, OpeningFresh, ScorePlain
	})},
	{"plakoto", with(short, func(r *Rules) {
		r.Array, r.Contact, r.BearOff, r.Opening, r.Score = ArrayHead, ContactPin, BearOffUnpinned, OpeningFresh, ScorePlain
	})},
}

func with(r Rules, change func(*Rules)) Rules {
	change(&r)
	return r
}

// Variants returns the fourteen variants in the order of RULES.md.
func Variants() []Variant { return append([]Variant(nil), variants[:]...) }

// Lookup returns the variant with this identifier.
func Lookup(id string) (Variant, error) {
	for _, v := range variants {
		if v.ID == id {
			return v, nil
		}
	}
	return Variant{}, sayf("look up variant: %w %q", ErrUnknownVariant, id)
}
