package house

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"
)

// ownLog demands that the statements of the database belong to this origin: a
// log key is replaced only together with the log (docs/operating.md).
func (s *signer) ownLog(ctx context.Context) error {
	var first store.Entry
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		first, err = r.Entry(0)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read first statement: %w", err)
	}
	st, err := commitment.Parse(first.Text)
	if err != nil {
		return fmt.Errorf("read first statement: %w", err)
	}
	var origin string
	switch st := st.(type) {
	case commitment.Commit:
		origin = st.Log
	case commitment.Open:
		origin = st.Log
	default:
		return fmt.Errorf("read first statement: it is of type %s, which cannot come first", st.Type())
	}
	if origin != s.origin {
		return fmt.Errorf("%w: the database holds the log %s, the key is that of %s: a log keeps its origin and its key for ever; a new origin needs a new data directory", errFork, origin, s.origin)
	}
	return nil
}

// reconcile compares the database with the last head this signer knows, and
// both learn from each other: the database a head that a crash kept from it, the
// signer one that another has signed.
func (s *signer) reconcile(ctx context.Context) error {
	var stored store.Checkpoint
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		if stored, err = r.LatestCheckpoint(); errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("read last checkpoint: %w", err)
		}
		return s.extends(r, s.last, s.lastNote)
	})
	if err != nil {
		return err
	}
	switch {
	case stored.Size > s.last.Size:
		if err := s.adopt(ctx, stored); err != nil {
			return err
		}
	case stored.Size < s.last.Size && !s.leading.Load():
		s.publish(stored.Size)
		return nil
	case stored.Size < s.last.Size:
		// ErrExists: an earlier try was stored although its commit was not confirmed.
		err := s.store.Update(ctx, func(tx store.Tx) error {
			if err := tx.Fence(signerLease, s.lease.Epoch); err != nil {
				return err
			}
			return tx.AddCheckpoint(store.Checkpoint{Size: s.last.Size, Note: s.lastNote})
		})
		switch {
		case errors.Is(err, store.ErrConflict):
			s.log.Warn("another instance signs now", "epoch", s.lease.Epoch)
			s.leading.Store(false)
			return nil
		case err != nil && !errors.Is(err, store.ErrExists):
			return fmt.Errorf("store signed checkpoint: %w", err)
		}
	}
	s.publish(s.last.Size)
	return nil
}

// adopt takes over the head that another signer, or this one in an earlier
// life without a head file, has signed.
func (s *signer) adopt(ctx context.Context, c store.Checkpoint) error {
	cp, err := translog.OpenCheckpoint(c.Note, s.verifier)
	if err != nil {
		return fmt.Errorf("%w: the last checkpoint in the database is not signed by the log key in use, %s: a log keeps its key for ever; put the old key back, or start a new log under a new origin: %w",
			errFork, s.verifier.Name(), err)
	}
	if err := s.store.View(ctx, func(r store.Reader) error { return s.extends(r, cp, c.Note) }); err != nil {
		return err
	}
	if err := s.writeHead(c.Note); err != nil {
		return fmt.Errorf("keep last checkpoint: %w", err)
	}
	s.last, s.lastNote, s.confirmed = cp, c.Note, false
	return nil
}

// extends demands that the log in the database goes on from a signed head.
func (s *signer) extends(r store.Reader, cp translog.Checkpoint, signed string) error {
	if signed == "" {
		return nil
	}
	head, err := r.LogHead()
	if err != nil {
		return fmt.Errorf("read log head: %w", err)
	}
	if head.Size < cp.Size {
		return fmt.Errorf("%w: the database has %d statements, but a checkpoint of %d was signed: it was restored from an older backup; %s", errFork, head.Size, cp.Size, goOn)
	}
	root, err := translog.Root(cp.Size, translog.Stored(r))
	if err != nil {
		return fmt.Errorf("read log at last checkpoint: %w", err)
	}
	if root != cp.Root {
		return fmt.Errorf("%w: the first %d statements of the database hash to %s, but a checkpoint with %s was signed: this is another history of the log; %s", errFork, cp.Size, root, cp.Root, goOn)
	}
	return nil
}

func (s *signer) readHead() error {
	if s.file == "" {
		return nil
	}
	b, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read last signed checkpoint: %w", err)
	}
	cp, err := translog.OpenCheckpoint(string(b), s.verifier)
	if err != nil {
		return fmt.Errorf("read last signed checkpoint in %s: a log keeps its key for ever: %w", s.file, err)
	}
	s.last, s.lastNote = cp, string(b)
	return nil
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
