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
			if len(s.files.room) == 0 && len(s.files.places) == 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Errorf("%s %d files are in memory and %d checked", when, len(s.files.room), len(s.files.places))
	}
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	empty("after a check")
	for range MaxChecks {
		s.files.places <- struct{}{}
	}
	if err := ask(t.Context()); !errors.Is(err, errBusy) || len(s.files.room) != 0 {
		t.Errorf("without a place: %v, %d files in memory", err, len(s.files.room))
	}
	for range MaxChecks {
		<-s.files.places
	}
	for range MaxFiles {
		s.files.room <- struct{}{}
	}
	if err := ask(t.Context()); !errors.Is(err, errBusy) {
		t.Errorf("without room: %v", err)
	}
	for range MaxFiles {
		<-s.files.room
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(over); house.CodeOf(err) != house.Unavailable && !errors.Is(err, context.Canceled) {
		t.Errorf("after the request's time: %v", err)
	}
	empty("after a check that was given up")
}
