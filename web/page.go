package web

import (
	"net/http"
	"time"

	"fairdice/rules"
)

// Page is what one page shows. The template of its name, templates/NAME.html,
// puts it into HTML.
type Page interface {
	name() string
	status() int
}

// ok is a page that was found.
type ok struct{}

func (ok) status() int { return http.StatusOK }

// Module is the verifier for browsers.
type Module struct {
	SHA256 string // of the module, not of what is sent
	Size   int    // bytes
	Sent   int    // bytes with brotli
}

// Check is the page on which a visitor checks files of his own.
type Check struct {
	ok
	Key, Origin string  // this log's, by its own word
	Module      *Module // nil: it was not built
}

// Match is a match that everybody may see.
type Match struct {
	ok
	Match, Tenant, Variant, Mode, Profile, Options string
	A, B                                           string
	Score                                          [2]int
	State                                          string // open, decided or abandoned
	Opened                                         time.Time
	Games                                          []Game
	Boards                                         []Board // where the games that have ended stand
	Live                                           bool    // it goes on
	Bundle                                         bool    // there is one, because a game has ended
	Module                                         *Module
	Key                                            string
}

// Game is one game of a match.
type Game struct {
	Number   int
	State    string // awaiting-links, playing, over, closed or aborted
	Segments int
	Rolls    [3]int
	Lines    int
	Head     string // of the record
	Record   []string
}

// Board is the last position of a game.
type Board struct {
	Game     int
	Position rules.Position
	Rules    rules.Rules
}

// Commitments is a list of sealed sequences.
type Commitments struct {
	ok
	Rows                 []Sequence
	Tenant, Mode, State  string   // the filter
	Tenants              []string // there are
	Modes, States        []string // to choose from
	Cursor, Next, Number string   // "": at an end
	Asked                string   // an id that was looked for and is none
}

// Sequence is one sealed sequence. Its statement and proof are set on the page
// of its own.
type Sequence struct {
	ok
	ID, Mode, State, Tenant string
	Number                  uint64
	Rolls                   [3]int
	Index                   int64 // of the commit in the log
	Match                   string
	Game, Segment           int
	Statement               string
	Path                    []string // inclusion proof, hex, leaf to root
	Checkpoint              string   // signed note
	Size                    int64    // of the log in that checkpoint
	Key                     string
}

// Log is where the log stands.
type Log struct {
	ok
	Origin, Key, Checkpoint string
	Size                    int64
	Root                    string
	Time                    time.Time // of the last statement that the checkpoint contains
	Witnesses               []Witness
	Policy                  string  // C2SP tlog-policy: which witnesses the service names; "": none
	Module                  *Module // nil: it was not built
	Overdue                 []Overdue
	More                    bool // there is more overdue than listed
	Tests                   []Test
	Plots                   []Plot
	Groups                  []Group
}

// Witness is a signature on the checkpoint besides the log's own.
type Witness struct {
	Name, Hash string
	Time       time.Time // zero: it is no good one of a witness that the service names
}

// Overdue is what the house owes the log.
type Overdue struct {
	Index                  int64
	Sequence, Tenant, Mode string
	Match                  string
	Game                   int
	Since, Due             time.Time
}

// Test is one statistical test, of all games of a mode (docs/statistics.md).
type Test struct {
	Mode, Name string
	N          int64   // size of the sample
	P          float64 // corrected for all tests
	Verdict    string  // quiet, reported or alarm
}

// Group says how much of a tenant's dice was counted.
type Group struct {
	Tenant, Mode          string
	Games, Aborted, Rolls int64
}

// Plot shows how often each pair was rolled in a mode.
type Plot struct {
	Mode        string
	Values      []PlotValue
	Least, Most int64
	Expect      float64 // of each
}

// PlotValue is one bar.
type PlotValue struct {
	Label string
	Count int64
}

// How explains the whole to somebody who is twelve.
type How struct{ ok }

// MyChain is the page on which a player keeps his own chain of links.
type MyChain struct {
	ok
	Key, Origin     string
	Variants, Modes []string // to choose from
}

// Steps are what a release passes, in the words and in the order of player.js.
func (MyChain) Steps() []string {
	return []string{"signature", "first", "consistency", "inclusion", "open", "assign", "deal", "kept"}
}

// Checks are those of PROTOCOL.md §9 that can make player.js refuse a link.
func (MyChain) Checks() []string {
	return []string{"format", "log.signature", "log.consistency", "log.inclusion", "log.order", "statements.refs", "level", "deal.links", "deal.beacon", "deal.cut"}
}

// Failure is what is answered instead of a page.
type Failure struct {
	Status  int
	Request string // the id under which it was logged
}

func (Check) name() string       { return "check" }
func (Match) name() string       { return "match" }
func (Commitments) name() string { return "commitments" }
func (Sequence) name() string    { return "sequence" }
func (Log) name() string         { return "log" }
func (How) name() string         { return "how" }
func (MyChain) name() string     { return "mychain" }
func (Failure) name() string     { return "failure" }
func (f Failure) status() int    { return f.Status }

// pages are the names of all templates of pages.
var pages = []string{"check", "match", "commitments", "sequence", "log", "how", "mychain", "failure"}

// Moved sends the visitor to another address of this host.
type Moved struct{ URL string }

func (Moved) name() string { return "" }
func (Moved) status() int  { return http.StatusSeeOther }
