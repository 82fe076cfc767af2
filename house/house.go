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
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/mod/sumdb/note"
)

// Config is what a house is made of.
type Config struct {
	Store  store.Store
	Origin string // name of the log (PROTOCOL.md §3, "log")
	Log    note.Signer
	// LogVerifier is Log's public half; what was signed before is checked with it.
	LogVerifier note.Verifier
	LogKey      string      // the verifier key as text
	Receipts    note.Signer // named Origin + "/receipts"
	ReceiptKey  string      // its verifier key, as written in the open of new matches
	// OldReceipts are keys of receipts that Receipts has replaced. Matches that
	// were opened under them go on with them.
	OldReceipts []ReceiptKey
	Master      MasterKey
	// HeadFile remembers the last signed checkpoint outside the database, so
	// that a database restored from an old backup cannot sign a fork. Empty: none is kept.
	HeadFile string
	// Shared: other instances of the service work on the same store. What this one
	// remembers of a match is then compared with the store before a request is refused.
	Shared bool
	Lease  time.Duration    // of the instance that signs; 0: DefaultLease
	Rand   io.Reader        // nil: crypto/rand
	Now    func() time.Time // nil: time.Now
	// Elapsed is the time since some moment by a clock that nobody sets; Now is
	// compared with it. Nil: the monotonic clock if Now is nil too, else Now is believed.
	Elapsed func() time.Duration
	Rolls   commitment.Lengths // of new sequences; zero: the defaults of PROTOCOL.md §2
	Pool    PoolMarks          // zero: DefaultPool
	Beacon  Beacon             // nil: matches with a beacon are refused
	// Witnesses are asked to cosign every checkpoint; Policy says when enough have.
	Witnesses []Witness
	Policy    *translog.Policy
	Courier   Courier      // brings events to endpoints; nil: nobody is told
	Deliver   bool         // have Courier empty the outbox; an operator's command leaves that to the service
	Observer  Observer     // nil: nobody watches
	Logger    *slog.Logger // nil: slog.Default
}

// ReceiptKey is a key that signs the receipts of the matches whose open names it.
type ReceiptKey struct {
	Signer note.Signer // named Origin + "/receipts"
	Public string      // its verifier key
}

// TablesInMemory is how many matches are kept ready to play. One that was
// pushed out is read from the store again when it is next played.
const TablesInMemory = 2048

// House serves matches. It is safe for concurrent use.
type House struct {
	store      store.Store
	origin     string
	logKey     string
	receipts   map[string]note.Signer // by verifier key
	receiptKey string
	master     MasterKey
	random     io.Reader
	clock      *clock
	rolls      commitment.Lengths
	pool       PoolMarks
	shared     bool
	log        *slog.Logger
	observer   Observer

	beacon     Beacon
	signer     *signer
	cosigner   *cosigner // nil without witnesses
	beaconKick chan struct{}
	beaconDone chan struct{}
	sweepDone  chan struct{}
	countDone  chan struct{}
	reports    *lru.Cache[[32]byte, stats.Report] // by the hash of the counts
	tables     *lru.Cache[string, *table]
	watchers   watchers
	seats      sync.Mutex // guards look-up and insertion in tables together

	uses       keyUses
	deliveries deliveries
	low        sync.Map   // tenant " " mode -> next number of the pool when it was announced as low
	refills    sync.Mutex // guards ended, and that no top-up starts after it
	ended      bool       // the log: nothing is sealed any more by itself
	topUps     sync.WaitGroup
	topping    sync.Map // tenant "/" mode -> struct{}: a top-up is running
	ctx        context.Context
	stop       context.CancelFunc
}

// New starts a house. It fails if the database is older than the checkpoint
// in the head file, or holds another log: then nothing must be signed.
func New(ctx context.Context, c Config) (*House, error) {
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.Rolls == (commitment.Lengths{}) {
		c.Rolls = commitment.DefaultLengths()
	}
	if c.Lease <= 0 {
		c.Lease = DefaultLease
	}
	if c.Pool == (PoolMarks{}) {
		c.Pool = DefaultPool
	}
	if err := c.Rolls.Validate(); err != nil {
		return nil, fmt.Errorf("configure sequences: %w", err)
	}
	if c.Log.Name() != c.Origin {
		return nil, fmt.Errorf("configure keys: the log key is named %q, the origin is %q", c.Log.Name(), c.Origin)
	}
	receipts, err := keyring(c)
	if err != nil {
		return nil, err
	}
	tables, err := lru.New[string, *table](TablesInMemory)
	if err != nil {
		return nil, fmt.Errorf("make tables: %w", err)
	}
	reports, err := lru.New[[32]byte, stats.Report](keptReports)
	if err != nil {
		return nil, fmt.Errorf("make reports: %w", err)
	}
	h := &House{
		reports: reports, store: c.Store, origin: c.Origin, logKey: c.LogKey,
		receipts: receipts, receiptKey: c.ReceiptKey, master: c.Master,
		random: &lockedReader{r: c.Rand}, clock: newClock(c), rolls: c.Rolls, pool: c.Pool, shared: c.Shared, beacon: c.Beacon, log: c.Logger, observer: c.Observer, tables: tables,
	}
	if len(c.Witnesses) > 0 && c.Policy == nil {
		return nil, errors.New("configure witnesses: there is no policy that says which of them are needed")
	}
	if err := h.checkMaster(ctx); err != nil {
		return nil, err
	}
	h.signer, err = newSigner(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(c.Witnesses) > 0 {
		if h.cosigner, err = newCosigner(ctx, h.signer, c); err != nil {
			return nil, errors.Join(err, h.signer.resign())
		}
		h.signer.onSigned, h.signer.confirm = h.cosigner.poke, h.cosigner.confirm
		// What the witnesses know speaks before anything is served. If they cannot
		// be reached the house starts all the same, and signs when they can.
		if err := h.signer.askFirst(ctx); errors.Is(err, errFork) {
			return nil, errors.Join(err, h.signer.resign())
		} else if err != nil {
			c.Logger.Warn("witnesses not reached, nothing is signed before", "error", err)
		}
	}
	h.deliveries = deliveries{courier: c.Courier, kick: make(chan struct{}, 1), done: make(chan struct{}), busy: make(map[string]int)}
	h.signer.onGrown = func(size int64) {
		h.watchers.signed(size)
		h.pokeDeliveries() // what waited to be signed
	}
	h.ctx, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.signer.start(h.ctx)
	if h.cosigner != nil {
		h.cosigner.start(h.ctx)
	}
	h.sweepDone, h.countDone, h.uses.done = make(chan struct{}), make(chan struct{}), make(chan struct{})
	go h.sweep(h.ctx)
	go h.count(h.ctx)
	go h.keepUses(h.ctx)
	if c.Courier != nil && c.Deliver {
		go h.deliver(h.ctx)
	} else {
		close(h.deliveries.done)
	}
	if h.shared {
		go h.watchers.poll(h.ctx)
	}
	if h.beacon != nil {
		h.beaconKick, h.beaconDone = make(chan struct{}, 1), make(chan struct{})
		go h.watchBeacon(h.ctx)
	}
	return h, nil
}

// Close stops background work and waits for it. The store stays open.
func (h *House) Close() error {
	h.stop()
	h.topUps.Wait()
	h.signer.wait()
	if h.cosigner != nil {
		h.cosigner.wait()
	}
	if h.beacon != nil {
		<-h.beaconDone
	}
	<-h.sweepDone
	<-h.countDone
	<-h.uses.done
	<-h.deliveries.done
	return nil
}

// Origin is the name of the log.
func (h *House) Origin() string { return h.origin }

// Policy says which witnesses must cosign this log, nil if it has none.
func (h *House) Policy() *translog.Policy {
	if h.cosigner == nil {
		return nil
	}
	return h.cosigner.policy
}

// VerifierKey is the log's verifier key, which players pin.
func (h *House) VerifierKey() string { return h.logKey }

// ReceiptKey is the verifier key of receipts, as new matches name it.
func (h *House) ReceiptKey() string { return h.receiptKey }

// now is what the clock says, in the resolution of statements (PROTOCOL.md §1).
func (h *House) now() time.Time { return h.clock.read().UTC().Truncate(time.Second) }

// present is now for what cannot be taken back: it is refused while the clock
// says what cannot be.
func (h *House) present() (time.Time, error) {
	now, err := h.clock.now()
	return now.UTC().Truncate(time.Second), err
}

// newID makes a UUIDv7 (RFC 9562 §5.7) of the house's own clock and randomness,
// so that nothing of a house with a given clock and source is another in the
// next run.
func (h *House) newID() (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(h.random, id[6:]); err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(h.clock.read().UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
	return id.String(), nil
}

// checkID demands a UUIDv7 in canonical form (PROTOCOL.md §1).
func checkID(what, id string) error {
	u, err := uuid.Parse(id)
	if err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 || u.String() != id {
		return refuse(Malformed, "%s %q is not a UUIDv7 in lower case", what, id)
	}
	return nil
}

// table finds the match in memory or reads it from the store. It is answered
// locked; the caller unlocks it.
func (h *House) table(ctx context.Context, match string) (*table, error) {
	if err := checkID("match", match); err != nil {
		return nil, err
	}
	if !h.tables.Contains(match) {
		// What does not exist takes nobody's place in memory.
		err := h.store.View(ctx, func(r store.Reader) error {
			_, err := r.Match(match)
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return nil, refuse(NotFound, "no match %s", match)
		} else if err != nil {
			return nil, fmt.Errorf("find match %s: %w", match, err)
		}
	}
	h.seats.Lock()
	t, ok := h.tables.Get(match)
	if !ok {
		t = &table{house: h, id: match}
		h.tables.Add(match, t)
	}
	h.seats.Unlock()
	t.mu.Lock()
	v, _ := ctx.Value(visitKey{}).(*visit)
	if v != nil {
		v.fresh = v.reload || !t.loaded
	}
	if !t.loaded || v != nil && v.reload {
		if err := t.load(ctx); err != nil {
			t.mu.Unlock()
			if CodeOf(err) != "" {
				return nil, err
			}
			h.tables.Remove(match)
			if errors.Is(err, store.ErrNotFound) {
				return nil, refuse(NotFound, "no match %s", match)
			}
			return nil, fmt.Errorf("load match %s: %w", match, err)
		}
	}
	return t, nil
}

// lockedReader serialises one source of randomness.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}
