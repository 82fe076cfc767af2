package house

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"fairdice/store"
	"fairdice/translog"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
)

// signer signs the head of the log whenever it has grown, and nothing else
// signs. The crash story, step by step:
//
//  1. statements are committed together with the state they tell of. A crash
//     here leaves an unsigned end of the log; the next start signs it.
//  2. the checkpoint is signed and written to the head file, synced. A
//     crash here leaves a checkpoint nobody has seen; the next start finds it
//     in the file, checks it against the database and puts it there.
//  3. the checkpoint is committed to the database. Only now do waiting
//     requests answer.
//
// Before each signature the database is compared with the last head this signer
// knows of. If it is shorter, or hashes to another root there, it is an old
// backup, a replica that was promoted too early, or another log: nothing is
// signed, because it would be a fork (PROTOCOL.md §7, §10).
//
// Several signers may serve one database, each with a head file of its own.
// Only the one that holds the lease signs; the others look out for its
// checkpoints, and for the end of its lease. The lease says who works, not what
// is safe: a holder that was paused between two of these steps finds at step 3
// that the lease has another epoch, and has published nothing.
//
// What another one has signed is found in the database and adopted into the
// own file before anything is built on it. Whoever has not signed yet, or not
// since another one has, asks the witnesses first: they know heads that both
// the file and the database may have lost.
type signer struct {
	store    store.Store
	origin   string
	key      note.Signer
	verifier note.Verifier
	file     string
	log      *slog.Logger
	observer Observer

	shared bool          // other instances work on the same database
	holder string        // this instance, for the lease
	term   time.Duration // of the lease

	onSigned func()                                                 // called after each new checkpoint
	onGrown  func(size int64)                                       // called when a checkpoint of that size is in the database
	confirm  func(ctx context.Context, last store.Checkpoint) error // asks the witnesses; nil without them

	// Of the goroutine that signs:
	last      translog.Checkpoint // the largest head known to be signed; Size 0 before
	lastNote  string
	confirmed bool        // the witnesses know of nothing beyond last
	doubt     atomic.Bool // a witness has said otherwise since; of the cosigner too
	lease     store.Lease
	leading   atomic.Bool  // read by others too
	epoch     atomic.Int64 // of lease, likewise
	renew     time.Time    // when the lease is to be taken again, while leading

	kick chan struct{}
	done chan struct{}

	mu       sync.Mutex
	signed   int64
	signedAt time.Time     // when signed last grew
	refusal  error         // why nothing is signed, nil if something is
	grown    chan struct{} // closed and replaced whenever signed grows or refusal changes
}

// errFork: the next signature would contradict one that was given.
var errFork = errors.New("refuse to sign")

// goOn ends every refusal: what the operator can do now.
const goOn = "restore a newer backup, or end this log: start a new one under a new origin in a new data directory, and tell everybody why"

// SignerPatience is how long a request waits for the checkpoint that contains
// its statement before it is told to ask again; the statement is durable all the same.
const SignerPatience = 10 * time.Second

func newSigner(ctx context.Context, c Config) (*signer, error) {
	s := &signer{
		store: c.Store, origin: c.Origin, key: c.Log, verifier: c.LogVerifier, file: c.HeadFile, log: c.Logger, observer: c.Observer,
		shared: c.Shared, holder: uuid.NewString(), term: c.Lease,
		kick: make(chan struct{}, 1), done: make(chan struct{}), grown: make(chan struct{}), onSigned: func() {}, onGrown: func(int64) {},
	}
	if err := s.readHead(); err != nil {
		return nil, err
	}
	if err := s.ownLog(ctx); err != nil {
		return nil, err
	}
	if err := s.lead(ctx); err != nil {
		return nil, err
	}
	if err := s.reconcile(ctx); err != nil {
		return nil, errors.Join(err, s.resign())
	}
	return s, nil
}

func (s *signer) start(ctx context.Context) {
	go func() {
		defer close(s.done)
		defer func() {
			if err := s.resign(); err != nil {
				s.log.Warn("lease not given up, others wait for its end", "error", err)
			}
		}()
		s.poke()
		var look <-chan time.Time // for what other instances have done
		pause := time.Duration(0)
		for {
			if s.shared {
				look = time.After(pause)
			}
			select {
			case <-ctx.Done():
				return
			case <-s.kick:
				pause = 0
			case <-look:
			}
			before := s.last.Size
			for backoff := 50 * time.Millisecond; ; backoff = min(2*backoff, 5*time.Second) {
				err := s.sign(ctx)
				if err == nil {
					break
				}
				if ctx.Err() != nil {
					return
				}
				if errors.Is(err, errFork) {
					s.refuse(err)
				}
				s.log.Error("signing failed", "error", err, "retry", backoff)
				s.observer.SigningFailed(err)
				select {
				case <-ctx.Done():
					return
				case <-time.After(backoff):
				}
			}
			if s.last.Size > before {
				pause = 0
			}
			pause = min(max(2*pause, lookFirst), lookLast)
		}
	}()
}

// How often other instances are looked after: soon when something happens,
// rarely when nothing does.
const (
	lookFirst = 2 * time.Millisecond
	lookLast  = 50 * time.Millisecond
)

func (s *signer) wait() { <-s.done }

func (s *signer) poke() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *signer) sign(ctx context.Context) error {
	if err := s.lead(ctx); err != nil {
		return err
	}
	before := s.size()
	if err := s.reconcile(ctx); err != nil || !s.leading.Load() {
		return err
	}
	if s.size() > before {
		// Signed by an earlier try that could not store it: nobody has been asked to
		// cosign it, and the log may not grow for a long time.
		s.onSigned()
	}
	if err := s.askFirst(ctx); err != nil {
		return err
	}
	var c translog.Checkpoint
	err := s.store.View(ctx, func(r store.Reader) error {
		head, err := r.LogHead()
		if err != nil || head.Size <= s.last.Size {
			return err
		}
		root, err := translog.Root(head.Size, translog.Stored(r))
		c = translog.Checkpoint{Origin: s.origin, Size: head.Size, Root: root}
		return err
	})
	if err != nil {
		return fmt.Errorf("read log head: %w", err)
	}
	if c.Size == 0 {
		s.refuse(nil)
		return nil
	}
	signed, err := translog.SignCheckpoint(c, s.key)
	if err != nil {
		return err
	}
	if err := s.writeHead(signed); err != nil {
		return fmt.Errorf("keep signed checkpoint: %w", err)
	}
	s.last, s.lastNote = c, signed // signed is signed, whatever becomes of the commit
	if err := s.reconcile(ctx); err != nil || !s.leading.Load() {
		return err
	}
	s.refuse(nil)
	s.onSigned()
	return nil
}

// askFirst asks the witnesses, unless they have confirmed the head that this
// signer goes on from.
func (s *signer) askFirst(ctx context.Context) error {
	if s.doubt.Swap(false) {
		s.confirmed = false
	}
	for s.confirm != nil && s.leading.Load() && !s.confirmed {
		last := store.Checkpoint{Size: s.last.Size, Note: s.lastNote}
		if last.Note == "" {
			// The empty tree is the beginning of every log, so signing it
			// contradicts nothing; it is how to ask before there is anything else.
			root, err := translog.Root(0, nil)
			if err == nil {
				last.Note, err = translog.SignCheckpoint(translog.Checkpoint{Origin: s.origin, Root: root}, s.key)
			}
			if err != nil {
				return err
			}
		}
		err := s.confirm(ctx, last)
		var ahead *aheadError
		if errors.As(err, &ahead) {
			// Perhaps another signer has signed since the database was read.
			if err := s.reconcile(ctx); err != nil {
				return err
			}
			if s.last.Size < ahead.size {
				return fmt.Errorf("%w: %w, but the last one known here has %d; %s", errFork, ahead, s.last.Size, goOn)
			}
			continue
		}
		if err != nil {
			return err
		}
		s.confirmed = true
	}
	return nil
}

// publish tells who waits that checkpoints up to size are in the database.
func (s *signer) publish(size int64) {
	s.mu.Lock()
	grown := size > s.signed
	if grown {
		s.signed, s.signedAt = size, time.Now()
		close(s.grown)
		s.grown = make(chan struct{})
	}
	s.mu.Unlock()
	if grown {
		s.onGrown(size)
	}
}

// refuse tells who waits why nothing is signed; nil takes it back.
func (s *signer) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.refusal == nil {
		close(s.grown)
		s.grown = make(chan struct{})
	}
	s.refusal = err
}

// errRefused tells a request that the signer has refused. The reason, which names
// hosts and sizes, is the operator's.
func errRefused() error {
	return &Error{Code: Unavailable, Message: "nothing is signed at present: the log may have lost statements that were published; the operator has to look", RetryAfter: time.Minute}
}

// refused is why nothing is signed.
func (s *signer) refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal
}

// size is that of the largest checkpoint in the database that this instance knows of.
func (s *signer) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signed
}

// covers reports whether a checkpoint contains the statement with that index,
// also if another instance has signed it just now.
func (s *signer) covers(ctx context.Context, index int64) (bool, error) {
	if index < s.size() || !s.shared {
		return index < s.size(), nil
	}
	latest, err := latestCheckpoint(ctx, s.store)
	if err != nil {
		return false, err
	}
	s.publish(latest.Size)
	return index < latest.Size, nil
}

// latestCheckpoint has size 0 if there is none.
func latestCheckpoint(ctx context.Context, s store.Store) (c store.Checkpoint, err error) {
	err = s.View(ctx, func(r store.Reader) (err error) {
		if c, err = r.LatestCheckpoint(); errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	})
	if err != nil {
		return c, fmt.Errorf("read last checkpoint: %w", err)
	}
	return c, nil
}

// await returns when a signed checkpoint has at least size entries.
func (s *signer) await(ctx context.Context, size int64) error {
	patience := time.NewTimer(SignerPatience)
	defer patience.Stop()
	for {
		s.mu.Lock()
		signed, refusal, grown := s.signed, s.refusal, s.grown
		s.mu.Unlock()
		switch {
		case signed >= size:
			return nil
		case refusal != nil:
			s.poke() // perhaps it is over
			return errRefused()
		}
		s.poke()
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.done:
			return &Error{Code: Unavailable, Message: "the service is stopping", RetryAfter: time.Second}
		case <-patience.C:
			return &Error{Code: Unavailable, Message: "the checkpoint is not signed yet; the request was carried out, repeat it for its answer", RetryAfter: time.Second}
		}
	}
}
