// Package house is the life of a match: it seals sequences of dice, opens
// matches, assigns and deals sequences, takes the players' links, opens rolls
// as they are drawn, keeps the record, and reveals the secrets when a game has
// ended (PROTOCOL.md §2–§7).
//
// Every use case is one method and one transaction. A method first looks for
// the answer it has already given: the same request at the same address gets
// the same answer for ever, another request at that address is refused with
// OtherContent. Whatever a method answers is durable before it returns, and
// every statement it answers is contained in a signed checkpoint.
//
// One sentence of trust for each part the house relies on:
//
//   - the store keeps what it has acknowledged and never shows half an update;
//   - the master key file is known to nobody else, or future dice are;
//   - the log key signs only through this package, and never two heads.
package house

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"fairdice/commitment"
	"fairdice/store"

	"golang.org/x/mod/sumdb/note"
)

// Config is what a house is made of.
type Config struct {
	Store  store.Store
	Origin string // name of the log (PROTOCOL.md §3, "log")
	Log    note.Signer
	// LogVerifier is Log's public half; what was signed before is checked with it.
	LogVerifier note.Verifier
	Receipts    note.Signer // named Origin + "/receipts"
	ReceiptKey  string      // its verifier key, as written in an open
	Master      MasterKey
	// HeadFile remembers the last signed checkpoint outside the database, so
	// that a database restored from an old backup cannot sign a fork.
	HeadFile string
	Rand     io.Reader
	Now      func() time.Time
	Rolls    commitment.Lengths // of new sequences; zero: the defaults of PROTOCOL.md §2
	Logger   *slog.Logger
}

// Code says what kind of refusal an Error is. Codes are stable.
type Code string

// The codes, as openapi.yaml lists them.
const (
	Malformed    Code = "malformed-request" // the request cannot be understood
	Forbidden    Code = "forbidden"         // the key lacks the scope
	Unauthorized Code = "unauthorized"      // no key, or an unknown or revoked one
	NotFound     Code = "not-found"         // nothing there, or not for this caller
	OtherContent Code = "other-content"     // the address was used with other content
	Invalid      Code = "invalid-match"     // variant, options, mode, players or anchors that do not go together
	OutOfOrder   Code = "out-of-order"      // a game, segment, roll or line before its predecessor
	NotDue       Code = "not-due"           // this roll, line or close is not due now
	Illegal      Code = "illegal-event"     // the rules refuse the line
	AwaitingLink Code = "awaiting-links"    // the segment is not dealt yet
	NotPublic    Code = "not-yet-public"    // no signed checkpoint contains the assign yet
	WrongLink    Code = "wrong-link"        // the link does not continue the seat's chain
	GameEnded    Code = "game-ended"        // the game is closed or aborted
	MatchEnded   Code = "match-ended"       // the match is finished
	PoolEmpty    Code = "pool-empty"        // no sealed sequence is left; ask again
	Unavailable  Code = "unavailable"       // the service cannot answer now; ask again
)

// Error is a refusal: nothing was changed.
type Error struct {
	Code    Code
	Message string
	// Alternatives are the record lines that would have been accepted, Board
	// the position drawn in text; only with Illegal and NotDue.
	Alternatives []string
	Board        string
	Line         int           // the record line refused, 0 if none
	Rule         string        // the rule broken, as rules.Code or a check id
	RetryAfter   time.Duration // zero: do not repeat
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func refuse(c Code, format string, args ...any) error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the code of a refusal in err's chain, or "" for any other error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Principal is who asks: a tenant with the scopes of its key, or the zero
// value for the public.
type Principal struct {
	Tenant string
	Scopes []string
}

// The scopes of an API key.
const (
	ScopeSeal  = "seal"
	ScopeMatch = "match"
	ScopeDraw  = "draw"
	ScopeRead  = "read"
	ScopeAdmin = "admin"
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
	Profile string // refereed
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
	State     string // awaiting-links or dealt
	Published Published
}

// LinkAnswer confirms a link; the one that completed the cut carries the deal.
type LinkAnswer struct {
	Match     string
	Game      int
	Segment   int
	Seat      string
	State     string // awaiting-links or dealt
	Published *Published
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
	Head     string
	Due      string // while playing: what may follow
	Draw     *DrawDue
}

// DrawDue names the roll that is due.
type DrawDue struct {
	Segment int
	Stream  string
	Index   int
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
