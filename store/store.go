// Package store is what the house remembers: tenants, sealed sequences,
// matches, draws, records and the log, in words of the domain.
//
// A store promises, and storetest.Run checks:
//
//   - Durability. When Update returns nil, everything its function wrote is on
//     stable storage: a machine that loses power the next instant still has it.
//     When Update returns an error, nothing of it is there, now or ever; the
//     one exception says so (ErrUncertain).
//   - Isolation. An Update sees one moment, and is committed only if every row
//     it replaces is still as it was at that moment. Updates that call LockLog
//     behave as if they ran one after the other. (Of the others, two may both be
//     committed that each read what the other replaces: a decision that must
//     hold against others replaces a row they replace, or locks the log.)
//     View sees one moment, and never an Update half done.
//   - Conditional replacement. Replace… succeeds only for the version that was
//     read and stores the next one; a caller that lost a race gets
//     ErrConflict and has changed nothing.
//   - Uniqueness. Add… of something that is there already is ErrExists.
//   - A call that fails with one of the errors below has changed nothing, and
//     its Update may go on.
//
// An Update function may run more than once (a serialisation failure is
// retried), so it must have no effect but through its Tx, and must not keep
// the Tx. Only the answers of the run that is committed, or whose error Update
// returns, mean anything: one that is discarded may have been told that a
// write succeeded that did not. Updates of many callers may share one commit; the error or panic
// of one leaves the others untouched.
//
// Update must not be called inside View or Update. Times are kept in whole
// seconds UTC, as the statements have them.
//
// Statements are kept as the exact bytes that were hashed into the log
// (PROTOCOL.md §7). Secrets reach the store only sealed (PROTOCOL.md §2).
package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrNotFound: nothing is stored at that address.
	ErrNotFound = errors.New("not found")
	// ErrExists: that address, or that value which must be unique, is taken.
	ErrExists = errors.New("exists already")
	// ErrConflict: the row is no longer as the caller has read it.
	ErrConflict = errors.New("changed meanwhile")
	// ErrStorage: the storage refuses to write or read, for want of space for
	// example. Nothing was changed; it may work again later.
	ErrStorage = errors.New("storage failed")
	// ErrUncertain: the storage failed while it was committing, so whether the
	// update is there shows only when it is looked up again. Every effect has
	// a natural key, so the caller may simply repeat the request.
	ErrUncertain = errors.New("commit not confirmed by the storage")
)

// Store is a database. It is safe for concurrent use.
type Store interface {
	View(ctx context.Context, fn func(Reader) error) error
	Update(ctx context.Context, fn func(Tx) error) error
	// Close waits for running transactions; later calls fail.
	Close() error
}

// Reader reads. A missing single row is ErrNotFound, an empty list is no error.
type Reader interface {
	Tenant(name string) (Tenant, error)
	Tenants() ([]Tenant, error)
	APIKey(hash [32]byte) (APIKey, error)
	APIKeys(tenant string) ([]APIKey, error)

	Sequence(id string) (Sequence, error)
	// LowestFree is the free sequence with the lowest number (PROTOCOL.md §3, assign.lowest).
	LowestFree(tenant, mode string) (Sequence, error)
	Pool(tenant, mode string) (Pool, error)
	// Sequences are those of a tenant and mode whose number is at least from,
	// by number, at most limit.
	Sequences(tenant, mode string, from uint64, limit int) ([]Sequence, error)
	// Unused are free sequences committed before that time, oldest first, at
	// most limit: each must be assigned or retired within 90 days (PROTOCOL.md §7).
	// Only those count whose commit has at least the log index from.
	Unused(before time.Time, from int64, limit int) ([]Sequence, error)

	Match(id string) (Match, error)
	// Opened are matches of a tenant by the log index of their open, at most
	// limit: upwards from that index on, or, if newest, downwards from it.
	Opened(tenant string, from int64, newest bool, limit int) ([]Match, error)
	Game(match string, game int) (Game, error)
	// Games are ordered by number.
	Games(match string) ([]Game, error)
	// Unended are games that were assigned before that time and are neither
	// closed nor aborted, oldest first, at most limit: each must end within
	// 72 hours (PROTOCOL.md §7). Only those count whose first assign has at
	// least the log index from.
	Unended(before time.Time, from int64, limit int) ([]Game, error)
	// AwaitingBeacon are segments that are not dealt, wait for a beacon's round and
	// belong to games that have not ended, lowest round first, at most limit.
	AwaitingBeacon(limit int) ([]Segment, error)
	// Segments of a game in order.
	Segments(match string, game int) ([]Segment, error)
	Roll(match string, game, segment int, stream string, index int) (Roll, error)
	// Rolls of a game in the order they were drawn.
	Rolls(match string, game int) ([]Roll, error)
	// Events are the record lines from line first (from 1) on.
	Events(match string, game, first int) ([]string, error)

	LogHead() (LogHead, error)
	// Entry is the statement with that log index.
	Entry(index int64) (Entry, error)
	// Entries are those with first ≤ index < end that exist.
	Entries(first, end int64) ([]Entry, error)
	// LogHashes answers, in the order asked for, hashes by their storage
	// index in the sense of golang.org/x/mod/sumdb/tlog.
	LogHashes(indexes []int64) ([][32]byte, error)
	// Checkpoint is the smallest signed one of at least size entries.
	Checkpoint(size int64) (Checkpoint, error)
	LatestCheckpoint() (Checkpoint, error)
	// Cosigned is the smallest checkpoint of at least size entries that a
	// quorum of witnesses has cosigned, LatestCosigned the largest.
	Cosigned(size int64) (Checkpoint, error)
	LatestCosigned() (Checkpoint, error)

	// Archive is the file of recorded throws with that hash; ArchiveOf that of a sequence.
	Archive(hash [32]byte) (Archive, error)
	ArchiveOf(sequence string) (Archive, error)
	// Matches are all matches whose id comes after that one, by id, at most limit.
	Matches(after string, limit int) ([]Match, error)
	// Spent are the spent values after that one, in order, at most limit.
	Spent(after [32]byte, limit int) ([][32]byte, error)
	// Tally is what was counted of a tenant and mode; Tallies are all, by tenant and mode.
	Tally(tenant, mode string) (Tally, error)
	Tallies() ([]Tally, error)
	// Counting says which games the tallies hold; it is always there.
	Counting() (Counting, error)
	Endpoint(id string) (Endpoint, error)
	// Endpoints are all, by tenant and id.
	Endpoints() ([]Endpoint, error)
	Message(endpoint, id string) (Message, error)
	// Messages of an endpoint are those whose id comes after that one, by id, at most limit.
	Messages(endpoint, after string, limit int) ([]Message, error)
	// Ready are the ids of endpoints that are not disabled and have a message that
	// waits, is due by that time, and whose statement is among the first signed of the log.
	Ready(by time.Time, signed int64) ([]string, error)
	// Due are those messages of one endpoint, the one that is due first first, at most limit.
	Due(endpoint string, by time.Time, signed int64, limit int) ([]Message, error)
	// Outbox counts the messages that were not delivered.
	Outbox() (Outbox, error)
	// Counts is how much there is of everything but leases.
	Counts() (Counts, error)
	// Lease is ErrNotFound before it was taken for the first time.
	Lease(name string) (Lease, error)
}

// Tx reads its own writes.
type Tx interface {
	Reader

	AddTenant(Tenant) error
	AddAPIKey(APIKey) error
	// RevokeAPIKey sets the end of a key's life, and whether it is Withdrawn.
	RevokeAPIKey(hash [32]byte, at time.Time, final bool) error
	// UseAPIKey notes that a key was used; an earlier time than the one that is
	// there changes nothing.
	UseAPIKey(hash [32]byte, at time.Time) error

	// AddSequence: id, secret hash and (tenant, mode, number) are unique.
	AddSequence(Sequence) error
	// ReplaceSequence stores s if its stored state is still from.
	ReplaceSequence(s Sequence, from SequenceState) error

	AddMatch(Match) error
	ReplaceMatch(Match) error
	AddGame(Game) error
	ReplaceGame(Game) error
	AddSegment(Segment) error
	// ReplaceSegment fails with ErrConflict if the segment is dealt already.
	ReplaceSegment(Segment) error
	AddRoll(Roll) error
	// AddEvents appends record lines; first is the number of the first one
	// and must be one more than the number of lines stored, else ErrConflict.
	AddEvents(match string, game, first int, lines []string) error
	// Spend records an anchor or a link; one value is spent once per log.
	Spend(value [32]byte) error

	// LockLog is LogHead, and keeps others from appending until the end of this Update.
	LockLog() (LogHead, error)
	// AppendEntry stores the entry whose index is the size of the log, with
	// the hashes it completes (tlog.StoredHashes), and moves the head. LockLog comes first.
	AppendEntry(e Entry, hashes [][32]byte) error
	// AddCheckpoint: one per size.
	AddCheckpoint(Checkpoint) error
	// SetCosigned stores the note with its witnesses' lines for a size that has a
	// checkpoint (else ErrNotFound), once (else ErrExists).
	SetCosigned(size int64, note string) error
	// AddArchive: hash and sequence are unique.
	AddArchive(Archive) error
	// SetTally stores a tally in place of the one before it. LockLog comes first,
	// so that two who add to one both count.
	SetTally(Tally) error
	// SetCounting replaces it; LockLog comes first.
	SetCounting(Counting) error
	// AddEndpoint: ids are unique.
	AddEndpoint(Endpoint) error
	ReplaceEndpoint(Endpoint) error
	// RemoveEndpoint removes it with all its messages.
	RemoveEndpoint(id string) error
	// Announce adds the message for every endpoint of the tenant that takes its
	// type and is not disabled; m.Endpoint means nothing. An endpoint that has one of that
	// id already is left as it is.
	Announce(tenant string, m Message) error
	// AddMessage: endpoint and id together are unique.
	AddMessage(Message) error
	ReplaceMessage(Message) error
	// PruneMessages removes messages of that state, which is not Waiting, that ended
	// before that time, at most limit, and says how many.
	PruneMessages(state MessageState, before time.Time, limit int) (int, error)
	// TakeLease gives a lease to holder for d from now, or lets him keep it for
	// d from now; d 0 gives it up. While another holder's lasts it is ErrConflict.
	TakeLease(name, holder string, d time.Duration) (Lease, error)
	// Fence fails with ErrConflict unless the lease has that epoch, and keeps
	// others from taking it until the end of this Update. Whoever has slept
	// through the end of his lease learns so here, whatever his clock says; a lease
	// that has run out but that nobody else has taken is still his.
	Fence(name string, epoch int64) error
}

// Tenant is a platform.
type Tenant struct {
	Name    string
	Created time.Time
}

// APIKey is a key of a tenant; only the SHA-256 of the key is kept.
type APIKey struct {
	Hash    [32]byte
	Tenant  string
	Label   string
	Prefix  string   // the readable part, for lists
	Scopes  []string // seal, match, draw, read, admin
	Created time.Time
	Revoked time.Time // the end that was set for it, maybe in the future; zero: none
	Expires time.Time // the end it was made with; zero: none
	// Used is when it was last used, not exactly (house.KeyUseEvery); zero: never.
	Used     time.Time
	Replaces [32]byte // the hash of the key it was issued for in rotation, zero for none
	// Withdrawn: it has been revoked, and no clock that is set back brings it to life again.
	Withdrawn bool
}

// SequenceState says what a sequence is used for.
type SequenceState uint8

// A sequence is free until it is assigned to a game or retired; after that its
// secret gets published and never does anything else.
const (
	Free SequenceState = iota
	Assigned
	Published
	Retired
)

// Sequence is a sealed sequence of dice (PROTOCOL.md §2).
type Sequence struct {
	ID         string
	Tenant     string
	Mode       string
	Number     uint64
	Rolls      [3]int // opening, a, b
	Sealed     []byte // the secret, encrypted; the id is associated data
	SecretHash [32]byte
	Root       [32]byte // with the cut "-"
	State      SequenceState
	Index      int64 // of the commit in the log
	Committed  time.Time

	Match         string // once assigned
	Game, Segment int
	End           int64 // log index of the close, abort or retire with its secret; meaningful when Published or Retired
}

// Pool counts the sequences of a tenant and mode.
type Pool struct {
	Next uint64 // the number the next sequence will get
	Free int
}

// Match is the state of a match that changes, beside its immutable open statement.
type Match struct {
	ID      string
	Tenant  string
	Open    int64 // log index of the open
	Games   int   // how many game numbers were used
	Score   [2]int
	Links   [2]int      // links released by A and B
	Tip     [2][32]byte // the last link released, at first the anchor
	Finish  int64       // log index of the finish, -1 before
	Version int64
}

// GameState is where a game stands.
type GameState uint8

// A game is Playing from its assign on, Over once its record has an end
// line, and Closed or Aborted when that statement is in the log.
const (
	Playing GameState = iota
	Over
	Closed
	Aborted
)

// Game is the state of a game that changes, beside its rolls and record lines.
type Game struct {
	Match    string
	Number   int
	State    GameState
	Segments int
	Rolls    [3]int // drawn per stream, summed over segments
	Receipt  []byte // hash of the last receipt, nil before the first
	Lines    int    // of the record
	Head     [32]byte
	Score    [2]int // before the game
	Crawford bool
	Throw    [2][]byte // mode live: links released for the next throw, nil before
	End      int64     // log index of the close or abort, -1 before
	Version  int64
}

// Segment binds one sequence to a game.
type Segment struct {
	Match         string
	Game, Segment int
	Sequence      string
	Assign        int64     // log index
	Round         uint64    // of the beacon, 0: none takes part
	Signature     []byte    // of the round, nil before
	Links         [2][]byte // released for this segment, nil before
	Last          uint8     // whose link completed the deal: 1 A, 2 B, 0 no link did
	Deal          int64     // log index, -1 before
	Root          [32]byte  // of the deal
	Cut           string
}

// Roll is one draw: the signed receipt as it was answered.
type Roll struct {
	Match         string
	Game, Segment int
	Stream        string
	Index         int    // inside the segment
	Ordinal       int    // of the draw in the game, from 0
	Line          int    // the record line of the roll, 0 if none
	Receipt       string // signed note
}

// LogHead is the end of the log.
type LogHead struct {
	Size int64
	Time time.Time // of the last entry, zero in an empty log
}

// Entry is one statement of the log.
type Entry struct {
	Index int64
	Text  []byte
	Time  time.Time
}

// Checkpoint is a signed tree head.
type Checkpoint struct {
	Size     int64
	Note     string // signed note as the log signed it
	Cosigned string // the same with its witnesses' lines, empty before
}

// Archive is the file of recorded throws behind a sequence of mode real,
// sealed like its secret until that is published.
type Archive struct {
	Hash     [32]byte
	Sequence string
	Sealed   []byte
}

// Counts is how many rows of each kind a database has.
type Counts struct {
	Tenants, APIKeys, Sequences, Archives int64
	Matches, Games, Segments              int64
	Rolls, Events, Spent                  int64
	Entries, Hashes, Checkpoints          int64
	Tallies, Endpoints, Messages          int64
}

// Tally is what was counted of the dice of the ended games of a tenant and
// mode, added up. What the sums mean is the house's matter.
type Tally struct {
	Tenant, Mode string
	Sums         []byte
}

// Counting says which games the tallies hold: those that ended with a log
// index below Done, and those with Until or above. What lies between ended
// before the database had tallies, and is counted bit by bit.
type Counting struct{ Done, Until int64 }

// Lease is the right of one instance of the service to do something that
// several must not do at the same time. It is measured by the clock of the
// database, so the clocks of the instances do not matter.
type Lease struct {
	Name   string
	Holder string
	Epoch  int64         // one more for each new holder
	Left   time.Duration // when it was read; 0 or less: anybody may take it
}
