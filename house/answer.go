package house

import (
	"time"

	"fairdice/commitment"
)

// Statement is a statement of the log with the proof that a checkpoint contains it.
type Statement struct {
	Index int64
	Text  string
	Path  []commitment.Hash // inclusion proof, leaf to root
}

// Published is what an answer proves: statements, and a signed checkpoint that
// contains each of them.
type Published struct {
	Statements []Statement
	Checkpoint string
	// Consistency proves that the checkpoint extends the log of Since
	// entries; only if the request named a size.
	Since       int64
	Consistency []commitment.Hash
}

// OpenRequest opens a match (PROTOCOL.md §3, open).
type OpenRequest struct {
	Match   string // UUIDv7 chosen by the caller
	Variant string
	Mode    string
	Profile string // refereed or dice-only
	Options string // in the form of the open statement
	A, B    string // player tokens
	AnchorA *commitment.Anchor
	AnchorB *commitment.Anchor
	Beacon  bool
	Since   int64 // 0: no consistency proof
}

// OpenAnswer carries the open statement.
type OpenAnswer struct {
	Match     string
	ViewToken string // for the players: reads the unfinished match
	Published Published
}

// GameAnswer carries the assign of a game's first segment, and its deal if no
// player takes part in the cut.
type GameAnswer struct {
	Match     string
	Game      int
	Segment   int
	State     string // awaiting-links, awaiting-beacon or dealt
	Published Published
}

// LinkAnswer confirms a link; the one that completed the cut carries the deal.
type LinkAnswer struct {
	Match     string
	Game      int
	Segment   int
	Seat      string
	State     string // awaiting-links, awaiting-beacon or dealt
	Published *Published
}

// ThrowAnswer confirms a link for one throw of mode live.
type ThrowAnswer struct {
	Match   string
	Game    int
	Segment int
	Throw   int
	Seat    string
}

// DrawAnswer is one opened roll, with everything that proves it during the
// game: what `verify roll` reads.
type DrawAnswer struct {
	Dice       [2]int
	Receipt    string // signed note
	Segment    int
	Stream     string
	Index      int
	Key        commitment.Hash
	Path       []commitment.Hash // against the root of the deal
	Commit     Statement         // says how many rolls the deal has
	Open       Statement
	Assign     Statement
	Deal       Statement
	Checkpoint string
	Line       int    // the record line that the draw has written
	Head       string // of the record after that line
	Due        string // what may follow
}

// AppendAnswer confirms record lines.
type AppendAnswer struct {
	Match string
	Game  int
	Line  int    // of the first line posted
	Lines int    // of the record after the last line posted
	Head  string // after that line
	Due   string // what may follow it
}

// CloseAnswer carries the close, and the finish if the match is decided.
type CloseAnswer struct {
	Match     string
	Game      int
	Result    string // "A 2" or "draw 0"
	Score     [2]int
	Finished  bool
	Published Published
}

// AbortAnswer carries the abort of a game.
type AbortAnswer struct {
	Match     string
	Game      int
	Published Published
}

// FinishAnswer carries the finish of a match.
type FinishAnswer struct {
	Match     string
	Score     [2]int
	Reason    string
	Published Published
}

// SealAnswer carries the commit of one sequence.
type SealAnswer struct {
	Sequence  string
	Mode      string
	Number    uint64
	Published Published
}

// RetireAnswer carries the retire of a sequence.
type RetireAnswer struct {
	Sequence  string
	Published Published
}

// MatchView is the state of a match as everybody may see it.
type MatchView struct {
	Match    string
	Tenant   string
	Variant  string
	Mode     string
	Profile  string
	Options  string
	A, B     string
	Score    [2]int
	Links    [2]int // released so far by A and B
	State    string // open, decided or abandoned
	Games    []GameView
	OpenedAt time.Time
}

// GameView is the state of a game as everybody may see it.
type GameView struct {
	Game     int
	State    string // awaiting-links, playing, over, closed or aborted
	Segments int
	Rolls    [3]int
	Lines    int
	Head     string // of the record, once the game has ended
	Due      string // what may follow, without dice
	Draw     *DrawDue
	Throw    [2]bool // mode live: whose link for the due throw is here
	Round    uint64  // of the beacon that the last segment waits for or used, 0 for none
}

// DrawDue names the roll that is due.
type DrawDue struct {
	Segment int
	Stream  string
	Index   int
	Throw   int // number of the throw in the game, from 1 (mode live)
}

// RecordView is the record of a game with its receipts; private while the
// match is unfinished.
type RecordView struct {
	Record   string
	Receipts []string
}

// SequenceView is a sequence as everybody may see it.
type SequenceView struct {
	Sequence string
	Tenant   string
	Mode     string
	Number   uint64
	Rolls    [3]int
	State    string // free, assigned, published or retired
	Index    int64  // of its commit
	Match    string
	Game     int
	Segment  int
}

// Evidence is everything of a match that a bundle holds (PROTOCOL.md §8).
type Evidence struct {
	Origin     string
	Key        string // verifier key of the log
	Checkpoint string
	Earlier    []EarlierCheckpoint
	Statements []Statement
	Games      []GameEvidence
	Archives   []string // exactly in mode real, else nil
}

// EarlierCheckpoint is an older checkpoint with its consistency proof.
type EarlierCheckpoint struct {
	Checkpoint  string
	Consistency []commitment.Hash
}

// GameEvidence is one game of a bundle.
type GameEvidence struct {
	Game     int
	Record   string
	Receipts []string
	Openings []RollOpening
}

// RollOpening opens one roll against the root of its segment's deal.
type RollOpening struct {
	Segment int
	Stream  string
	Index   int
	Key     commitment.Hash
	Path    []commitment.Hash
}
