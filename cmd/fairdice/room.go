package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"fairdice/house"
)

const (
	// roomTried is how long the answer of a trial is believed: whoever may ask
	// whether the service is ready must not be able to keep its disk busy.
	roomTried = 5 * time.Second
	// roomNeeded is what a trial writes, in bytes: less than a checkpoint of
	// the write-ahead log, more than any answer.
	roomNeeded = 64 << 10
)

// room finds out whether the data directory takes writes: a full disk can be
// read as well as ever.
type room struct {
	mu    sync.Mutex
	tried time.Time
	err   error
}

func (r *room) try(dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried.IsZero() || time.Since(r.tried) > roomTried {
		r.tried, r.err = time.Now(), fill(dir)
	}
	return r.err
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

// ready fails while the service cannot do what it is for.
func (s *service) ready(ctx context.Context) error {
	if err := s.house.Ready(ctx); err != nil {
		return err
	}
	if err := s.room.try(s.config.data); err != nil {
		s.log.WarnContext(ctx, "the data directory takes no writes", "error", err)
		return &house.Error{Code: house.Unavailable, Message: "the disk of the service takes no writes now", RetryAfter: roomTried}
	}
	return nil
}
