package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"fairdice/house"
	"fairdice/store"
)

const (
	// roomTried is how long the answer of a trial is believed: whoever may ask
	// whether the service is ready must not be able to keep its disk busy.
	roomTried = 5 * time.Second
	// roomNeeded is what a trial writes, in bytes: less than a checkpoint of
	// the write-ahead log, more than any answer.
	roomNeeded = 64 << 10
)

// room finds out whether the data directory and the database take writes: a
// full disk, a database that has become read-only, and one whose last fsync
// failed can be read as well as ever.
type room struct {
	mu    sync.Mutex
	tried time.Time
	err   error
}

func (r *room) try(ctx context.Context, dir string, db store.Store) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried.IsZero() || time.Since(r.tried) > roomTried {
		r.err = errors.Join(fill(dir), writable(ctx, db))
		r.tried = time.Now()
	}
	return r.err
}

// writableWithin is how long the database has for a trial: one that is away is
// not ready, although requests wait longer for it.
const writableWithin = 2 * time.Second

// writable writes a row that means nothing, durably.
func writable(ctx context.Context, db store.Store) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writableWithin)
	defer cancel()
	err := db.Update(ctx, func(tx store.Tx) error {
		_, err := tx.TakeLease("trial", "trial", 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	return nil
}

func fill(dir string) error {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, roomNeeded))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	return nil
}

// outage reports whether an error is a failure of the storage.
func outage(err error) bool {
	return errors.Is(err, store.ErrStorage) || errors.Is(err, store.ErrUncertain)
}

// ready fails while the service cannot do what it is for.
func (s *service) ready(ctx context.Context) error {
	if err := s.house.Ready(ctx); err != nil {
		return err
	}
	if err := s.room.try(ctx, s.config.data, s.store); err != nil {
		s.log.WarnContext(ctx, "the storage takes no writes", "error", err)
		return &house.Error{Code: house.Unavailable, Message: "the storage of the service takes no writes now", RetryAfter: roomTried}
	}
	return nil
}
