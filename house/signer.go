package house

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"fairdice/store"
	"fairdice/translog"

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
// A database that is shorter than the head file, or hashes to another root at
// its size, is an old backup or another log: the signer refuses to start,
// because the next thing it signed would be a fork (PROTOCOL.md §7, §10).
type signer struct {
	store    store.Store
	origin   string
	key      note.Signer
	verifier note.Verifier
	file     string
	log      *slog.Logger

	onSigned func() // called after each new checkpoint

	kick chan struct{}
	done chan struct{}

	mu     sync.Mutex
	signed int64
	grown  chan struct{} // closed and replaced whenever signed grows
}

// SignerPatience is how long a request waits for the checkpoint that contains
// its statement before it is told to ask again; the statement is durable all the same.
const SignerPatience = 10 * time.Second

func newSigner(ctx context.Context, c Config) (*signer, error) {
	s := &signer{
		store: c.Store, origin: c.Origin, key: c.Log, verifier: c.LogVerifier, file: c.HeadFile, log: c.Logger,
		kick: make(chan struct{}, 1), done: make(chan struct{}), grown: make(chan struct{}), onSigned: func() {},
	}
	var latest store.Checkpoint
	err := c.Store.View(ctx, func(r store.Reader) (err error) {
		if latest, err = r.LatestCheckpoint(); errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read last checkpoint: %w", err)
	}
	kept, err := s.readHead()
	if err != nil {
		return nil, err
	}
	for _, n := range []store.Checkpoint{latest, kept} {
		if n.Size == 0 {
			continue
		}
		if err := s.check(ctx, n); err != nil {
			return nil, err
		}
	}
	if kept.Size > latest.Size {
		if err := c.Store.Update(ctx, func(tx store.Tx) error { return tx.AddCheckpoint(kept) }); err != nil {
			return nil, fmt.Errorf("store last checkpoint: %w", err)
		}
	}
	s.signed = max(latest.Size, kept.Size)
	return s, nil
}

// check compares a checkpoint signed before with the log in the database.
func (s *signer) check(ctx context.Context, c store.Checkpoint) error {
	cp, err := translog.OpenCheckpoint(c.Note, s.verifier)
	if err != nil {
		return fmt.Errorf("check last checkpoint: it is not signed by %s: %w", s.verifier.Name(), err)
	}
	return s.store.View(ctx, func(r store.Reader) error {
		head, err := r.LogHead()
		if err != nil {
			return fmt.Errorf("read log head: %w", err)
		}
		if head.Size < cp.Size {
			return fmt.Errorf("refuse to sign: the database has %d statements, but a checkpoint of %d was signed: it was restored from an older backup; restore a newer one, or start a new log under a new origin", head.Size, cp.Size)
		}
		root, err := translog.Root(cp.Size, translog.Stored(r))
		if err != nil {
			return fmt.Errorf("check last checkpoint: %w", err)
		}
		if root != cp.Root {
			return fmt.Errorf("refuse to sign: the first %d statements of the database hash to %s, but a checkpoint with %s was signed: this database is not the log of this key", cp.Size, root, cp.Root)
		}
		return nil
	})
}

func (s *signer) readHead() (store.Checkpoint, error) {
	if s.file == "" {
		return store.Checkpoint{}, nil
	}
	b, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Checkpoint{}, nil
	} else if err != nil {
		return store.Checkpoint{}, fmt.Errorf("read last signed checkpoint: %w", err)
	}
	cp, err := translog.OpenCheckpoint(string(b), s.verifier)
	if err != nil {
		return store.Checkpoint{}, fmt.Errorf("read last signed checkpoint in %s: %w", s.file, err)
	}
	return store.Checkpoint{Size: cp.Size, Note: string(b)}, nil
}

// writeHead replaces the head file by the usual dance: a crash leaves the old
// or the new one, never half of one.
func (s *signer) writeHead(signed string) error {
	if s.file == "" {
		return nil
	}
	dir := filepath.Dir(s.file)
	f, err := os.CreateTemp(dir, ".head-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(signed)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.file); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *signer) start(ctx context.Context) {
	go func() {
		defer close(s.done)
		s.poke()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.kick:
			}
			for backoff := 50 * time.Millisecond; ; backoff = min(2*backoff, 5*time.Second) {
				err := s.sign(ctx)
				if err == nil {
					break
				}
				if ctx.Err() != nil {
					return
				}
				s.log.Error("signing failed", "error", err, "retry", backoff)
				select {
				case <-ctx.Done():
					return
				case <-time.After(backoff):
				}
			}
		}
	}()
}

func (s *signer) wait() { <-s.done }

func (s *signer) poke() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *signer) sign(ctx context.Context) error {
	var c translog.Checkpoint
	err := s.store.View(ctx, func(r store.Reader) error {
		head, err := r.LogHead()
		if err != nil || head.Size == 0 {
			return err
		}
		root, err := translog.Root(head.Size, translog.Stored(r))
		c = translog.Checkpoint{Origin: s.origin, Size: head.Size, Root: root}
		return err
	})
	if err != nil {
		return fmt.Errorf("read log head: %w", err)
	}
	if c.Size <= s.size() {
		return nil
	}
	signed, err := translog.SignCheckpoint(c, s.key)
	if err != nil {
		return err
	}
	if err := s.writeHead(signed); err != nil {
		return fmt.Errorf("keep signed checkpoint: %w", err)
	}
	// ErrExists: an earlier try was stored although its commit was not confirmed.
	if err := s.store.Update(ctx, func(tx store.Tx) error {
		return tx.AddCheckpoint(store.Checkpoint{Size: c.Size, Note: signed})
	}); err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("store signed checkpoint: %w", err)
	}
	s.mu.Lock()
	s.signed = c.Size
	close(s.grown)
	s.grown = make(chan struct{})
	s.mu.Unlock()
	s.onSigned()
	return nil
}

func (s *signer) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signed
}

// await returns when a signed checkpoint has at least size entries.
func (s *signer) await(ctx context.Context, size int64) error {
	patience := time.NewTimer(SignerPatience)
	defer patience.Stop()
	for {
		s.mu.Lock()
		signed, grown := s.signed, s.grown
		s.mu.Unlock()
		if signed >= size {
			return nil
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
