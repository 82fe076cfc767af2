package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/rules"
)

// Limits of checking files for others.
const (
	// MaxFile is the largest file, in bytes: a bundle of some hundred games. The
	// program reads larger ones (audit.MaxBundle).
	MaxFile = 8 << 20
	// MaxHeld is how many bytes of files may be in memory.
	MaxHeld = 16 * MaxFile
	// MaxFilesPerAddress may be on their way from one address, or be checked.
	MaxFilesPerAddress = 4
	// MaxChecks is how many files are checked at once.
	MaxChecks = 2
	// CheckTime is how long a bundle is checked. An honest one of MaxFile takes a
	// fifth of it; a forged one could take the places from everybody.
	CheckTime = 5 * time.Second
)

// checker checks files without letting strangers take all of the memory or
// the processor.
type checker struct {
	now    func() time.Time
	room   *room
	places chan struct{} // a place for each check
}

func newChecker(now func() time.Time) *checker {
	return &checker{now: now, room: newRoom(), places: make(chan struct{}, MaxChecks)}
}

var errBusy = &house.Error{Code: house.Unavailable, Message: "other files are being checked; repeat the request, or use the program verify", RetryAfter: 2 * time.Second}

var errLong = &house.Error{Code: house.Unavailable, Message: "the check takes longer than one may here; use the program verify"}

// take gets a place or says that there is none.
func take(places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
		return errBusy
	}
}

// VerifyFile answers what the program verify says of a file.
func (s *server) VerifyFile(ctx context.Context, r VerifyFileRequestObject) (VerifyFileResponseObject, error) {
	file, err := s.files.room.enter(uploader(ctx))
	if err != nil {
		return nil, err
	}
	inside := false // a check that outlasts the request keeps its file in memory
	defer func() {
		if !inside {
			file.leave()
		}
	}()
	data, err := file.read(r.Body)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, refuse(house.Malformed, "the body is empty")
	}
	soon, cancel := context.WithTimeout(ctx, CheckTime)
	defer cancel()
	check, err := s.check(soon, data, r.Params)
	if err != nil {
		return nil, err
	}
	if err := take(s.files.places); err != nil {
		return nil, err
	}
	inside = true
	type outcome struct {
		report []byte
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-s.files.places; file.leave() }()
		defer func() {
			if p := recover(); p != nil {
				done <- outcome{err: fmt.Errorf("check file: %v\n%s", p, debug.Stack())}
			}
		}()
		report, err := check()
		done <- outcome{report, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		// What was broken off says nothing of the file.
		if soon.Err() != nil {
			return nil, errLong
		}
		return fileReport(o.report), nil
	case <-soon.Done():
		return nil, errLong
	}
}

// check decides what a file is, and reads the parameters that belong to it.
func (s *server) check(ctx context.Context, data []byte, p VerifyFileParams) (func() ([]byte, error), error) {
	if start := bytes.TrimLeft(data, " \t\r\n"); len(start) > 0 && start[0] == '{' {
		if p.Variant != "" || p.Options != "" {
			return nil, refuse(house.Malformed, "the body is a bundle, which names variant and options itself")
		}
		trust := audit.Trust{Key: p.Key, Rules: audit.BuiltInRules(), Now: s.files.now(), Stop: ctx.Err}
		if p.Key == "own" {
			trust.Key = s.house.VerifierKey()
		} else if p.Key != "" {
			if _, err := commitment.ParseVerifier(p.Key); err != nil {
				return nil, refuse(house.Malformed, "parameter key: %v", err)
			}
		}
		return func() ([]byte, error) { return audit.Verify(data, trust).JSON() }, nil
	}
	if p.Key != "" {
		return nil, refuse(house.Malformed, "the body is no bundle, so there is nothing that a key could have signed")
	}
	var o files.Options
	if p.Variant != "" {
		v, err := rules.Lookup(p.Variant)
		if err != nil {
			return nil, refuse(house.Malformed, "variant %.64q is none of /v1/variants", p.Variant)
		}
		o.Variant = &v
	}
	if p.Options != "" {
		options, err := replay.ParseOptions(p.Options)
		if err != nil {
			return nil, refuse(house.Malformed, "parameter options: %v", err)
		}
		o.Options = &options
	}
	return func() ([]byte, error) { return files.Check("body", &inTime{ctx, bytes.NewReader(data)}, o).JSON() }, nil
}

// fileReport is a report as the program prints it, byte for byte.
type fileReport []byte

// VisitVerifyFileResponse writes the report.
func (f fileReport) VisitVerifyFileResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, err := w.Write(f)
	return err
}
