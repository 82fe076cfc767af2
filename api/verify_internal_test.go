package api

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fairdice/house"
)

// Checks have places; who finds none is told to come again, and every place is
// free again afterwards, also when the request's time was over first.
func TestPlacesOfChecks(t *testing.T) {
	s := &server{files: newChecker(time.Now)}
	ask := func(ctx context.Context) error {
		_, err := s.VerifyFile(ctx, VerifyFileRequestObject{Body: strings.NewReader("opening 3 1\n"), Params: VerifyFileParams{Variant: "short"}})
		return err
	}
	empty := func(when string) {
		t.Helper()
		for range 1000 {
			if files, held := s.files.room.taken(); files == 0 && held == 0 && len(s.files.places) == 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
		files, held := s.files.room.taken()
		t.Errorf("%s %d files with %d bytes are in memory and %d checked", when, files, held, len(s.files.places))
	}
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	empty("after a check")
	for range MaxChecks {
		s.files.places <- struct{}{}
	}
	if err := ask(t.Context()); !errors.Is(err, errBusy) {
		t.Errorf("without a place: %v", err)
	}
	if files, held := s.files.room.taken(); files != 0 || held != 0 {
		t.Errorf("without a place %d files with %d bytes stay in memory", files, held)
	}
	for range MaxChecks {
		<-s.files.places
	}
	full, err := s.files.room.enter("192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	if err := full.hold(MaxHeld); err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context()); !errors.Is(err, errBusy) {
		t.Errorf("without room: %v", err)
	}
	full.leave()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(over); house.CodeOf(err) != house.Unavailable && !errors.Is(err, context.Canceled) {
		t.Errorf("after the request's time: %v", err)
	}
	empty("after a check that was given up")
}

// taken is what is in the room.
func (m *room) taken() (files, held int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.of {
		files += n
	}
	return files, m.held
}
