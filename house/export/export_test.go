package export_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/house/export"

	"github.com/google/go-cmp/cmp"
)

const (
	single = "raise=mars stake=win series=single crawford=off"
	series = "raise=mars stake=win series=points:25 crawford=off"
)

func names(f files) []string { return slices.Sorted(maps.Keys(f)) }

// TestArchive: what is exported beside a running house, in one go, in pieces,
// or packed, is one archive, and an auditor who has only it finds it whole.
func TestArchive(t *testing.T) {
	s := newService(t, false)
	dir := filepath.Join(t.TempDir(), "archive")
	for _, mode := range []string{"random", "balanced"} {
		s.seal(mode, 40)
	}
	throws := make([]commitment.Dice, 2*(16+128+128))
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range throws {
		throws[i] = commitment.Dice{D1: uint8(1 + rng.IntN(6)), D2: uint8(1 + rng.IntN(6))}
	}
	if _, err := s.ImportThrows(t.Context(), "club", throws); err != nil {
		t.Fatal(err)
	}
	src := s.source()
	long := s.open(terms{"short", "random", series, true}, 1)
	steps := []func(){
		func() { long.game(1, 0) }, // goes on below
		func() {
			m := s.open(terms{"long-classic", "balanced", series, false}, 2)
			m.game(1, 0)
			m.game(2, 7) // aborted
			m.game(3, 0)
		},
		func() { s.open(terms{"short", "real", single, false}, 3).game(1, 0) },
		func() {
			if _, err := s.Retire(t.Context(), everything, s.free("random"), "audit", 0); err != nil {
				t.Fatal(err)
			}
		},
		func() { long.game(2, 9) },
		func() {}, // nothing new
	}
	for i, step := range steps {
		step()
		sum, err := export.Directory(t.Context(), src, dir)
		if err != nil {
			t.Fatal(err)
		}
		r := s.verify(readDir(t, dir))
		if r.Verdict != audit.Verified {
			t.Errorf("step %d: verdict %s: %v", i, r.Verdict, r.Sentences)
		}
		if r.Size != sum.Size {
			t.Errorf("step %d: exported %d statements, verified %d", i, sum.Size, r.Size)
		}
		if i == len(steps)-1 && (sum.New != 0 || sum.Games != 0) {
			t.Errorf("an export without news wrote %+v", sum)
		}
	}
	pieces := readDir(t, dir)
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := export.Directory(t.Context(), src, whole); err != nil {
		t.Fatal(err)
	}
	got := readDir(t, whole)
	for name := range pieces {
		if strings.HasPrefix(name, "checkpoints/") { // each export leaves the one it ended in
			if _, ok := got[name]; !ok {
				delete(pieces, name)
			}
		}
	}
	if d := cmp.Diff(names(pieces), names(got)); d != "" {
		t.Errorf("an archive made in pieces has other files (-pieces +whole):\n%s", d)
	}
	for name, data := range got {
		if !bytes.Equal(data, pieces[name]) {
			t.Errorf("%s is another file when exported in pieces", name)
		}
	}
	file := filepath.Join(t.TempDir(), "archive.tar.zst")
	var packed [2][]byte
	for i := range packed {
		if _, err := export.File(t.Context(), src, file); err != nil {
			t.Fatal(err)
		}
		packed[i], _ = os.ReadFile(file)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("the same log was packed to two files")
	}
	if d := cmp.Diff(got, readTar(t, file)); d != "" {
		t.Errorf("packed and not (-directory +packed):\n%.2000s", d)
	}
	counts := 0
	for _, n := range names(got) {
		if strings.HasPrefix(n, "throws/") {
			counts++
		}
	}
	if counts != 1 {
		t.Errorf("%d files of throws, want the one whose secret is published", counts)
	}
	// Every match can be had as a bundle that stands alone.
	for _, name := range names(got) {
		match, ok := strings.CutSuffix(filepath.Base(name), ".json")
		if !ok {
			continue
		}
		b, err := archive.Extract(t.Context(), got, match, archive.Options{Trust: audit.Trust{Key: s.key}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if r := audit.Verify(text, audit.Trust{Key: s.key}); r.Verdict != audit.Verified {
			t.Errorf("bundle of %s: %s", match, r.Verdict)
		}
	}
	if !strings.Contains(string(got["README.txt"]), origin) {
		t.Error("the README does not name the log")
	}
}

func (s *service) free(mode string) string {
	s.t.Helper()
	list, _, err := s.Sequences(s.t.Context(), "club", mode, "free", 0, 1)
	if err != nil || len(list) == 0 {
		s.t.Fatal(list, err)
	}
	return list[0].Sequence
}

// TestWitnessed: the archive of a witnessed log ends in a cosigned checkpoint.
func TestWitnessed(t *testing.T) {
	s := newService(t, true)
	s.seal("random", 10)
	m := s.open(terms{"short", "random", single, true}, 1)
	m.game(1, 0)
	if _, err := s.Evidence(t.Context(), m.id); err != nil { // waits for the witnesses
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := export.Directory(t.Context(), s.source(), dir); err != nil {
		t.Fatal(err)
	}
	f := readDir(t, dir)
	if r := s.verify(f); !r.Witnessed || r.Verdict != audit.Verified {
		t.Errorf("verdict %s, witnessed %v: %v", r.Verdict, r.Witnessed, r.Sentences)
	}
	if string(f["policy"]) != s.policy {
		t.Error("the policy is not in the archive")
	}
}

// TestBeside: matches are played while one export after the other runs; each
// leaves a whole archive.
func TestBeside(t *testing.T) {
	s := newService(t, false)
	s.seal("random", 60)
	var wg sync.WaitGroup
	playing, stop := context.WithCancel(t.Context())
	for n := range 2 {
		wg.Go(func() {
			for i := uint64(0); playing.Err() == nil && i < 20; i++ {
				s.open(terms{"short", "random", single, i%2 == 0}, 100*uint64(n+1)+i).game(1, 0)
			}
		})
	}
	dir := t.TempDir()
	src := s.source()
	for range 4 {
		if _, err := export.Directory(t.Context(), src, dir); err != nil {
			t.Fatal(err)
		}
		if r := s.verify(readDir(t, dir)); r.Verdict != audit.Verified && r.Matches > 0 {
			t.Errorf("verdict %s: %v", r.Verdict, r.Sentences)
		}
	}
	stop()
	wg.Wait()
}

// TestInterrupted: an export is stopped again and again. The archive stays the
// old one until the new one is whole, and no work is done twice for ever.
func TestInterrupted(t *testing.T) {
	s := newService(t, false)
	s.seal("random", 30)
	for n := range uint64(4) {
		s.open(terms{"short", "random", single, false}, n).game(1, 0)
	}
	long := s.open(terms{"short", "random", series, true}, 9)
	long.game(1, 5)
	dir := t.TempDir()
	src := s.source()
	if _, err := export.Directory(t.Context(), src, dir); err != nil {
		t.Fatal(err)
	}
	before := readDir(t, dir)["checkpoint"]
	long.game(2, 5)
	for n := range uint64(3) {
		s.open(terms{"short", "random", single, false}, 50+n).game(1, 0)
	}
	s.seal("balanced", 1500) // a few chunks
	for round := 0; ; round++ {
		ctx, cancel := context.WithCancel(t.Context())
		stopped := src
		stopped.Progress = func(export.Progress) { cancel() } // after each chunk
		_, err := export.Directory(ctx, stopped, dir)
		cancel()
		if err == nil {
			break
		}
		if !export.Interrupted(err) {
			t.Fatal(err)
		}
		f := readDir(t, dir)
		if !bytes.Equal(f["checkpoint"], before) {
			t.Fatal("an export that was interrupted has moved the checkpoint")
		}
		s.verify(f)
		if round > 20 {
			t.Fatal("the export does not come to an end")
		}
	}
	s.verify(readDir(t, dir))
}

// TestRefused: what is not an earlier state of the archive is left alone.
func TestRefused(t *testing.T) {
	s, other := newService(t, false), newService(t, false)
	for _, x := range []*service{s, other} {
		x.seal("random", 5)
	}
	dir := t.TempDir()
	if _, err := export.Directory(t.Context(), s.source(), dir); err != nil {
		t.Fatal(err)
	}
	before := readDir(t, dir)
	// The two services have one key, so the other's log is another history of it.
	if _, err := export.Directory(t.Context(), other.source(), dir); !errors.Is(err, export.ErrOther) {
		t.Errorf("another history: %v", err)
	}
	src := s.source()
	stranger := t.TempDir()
	if err := os.WriteFile(filepath.Join(stranger, "thesis.doc"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Directory(t.Context(), src, stranger); !errors.Is(err, export.ErrOther) {
		t.Errorf("a folder of somebody else: %v", err)
	}
	_, vkey, err := commitment.NewKey(origin, rand.NewChaCha8([32]byte{77}))
	if err != nil {
		t.Fatal(err)
	}
	wrong := src
	wrong.Key = vkey
	if _, err := export.Directory(t.Context(), wrong, dir); err == nil {
		t.Error("exported under another key")
	}
	empty := newService(t, false)
	if _, err := export.File(t.Context(), empty.source(), filepath.Join(t.TempDir(), "x.tar.zst")); err == nil {
		t.Error("exported a log without a checkpoint")
	}
	if d := cmp.Diff(before, readDir(t, dir)); d != "" {
		t.Errorf("a refused export has changed the archive:\n%s", d)
	}
}
