package export_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/house/export"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/translog"
	"fairdice/translog/witness"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/mod/sumdb/note"
)

const origin = "export.example/log"

// service is a house on a database, which the tests export from beside it.
type service struct {
	*house.House
	t      testing.TB
	path   string // of the database
	master house.MasterKey
	key    string
	policy string
	store  store.Store
}

func newService(t testing.TB, witnessed bool) *service {
	t.Helper()
	s := &service{t: t, path: filepath.Join(t.TempDir(), "fairdice.db")}
	seed := rand.NewChaCha8([32]byte{5})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := func(name string) (note.Signer, note.Verifier, string) {
		skey, vkey, err := commitment.NewKey(name, seed)
		must(err)
		signer, err := commitment.NewSigner(skey)
		must(err)
		v, err := commitment.ParseVerifier(vkey)
		must(err)
		return signer, v, vkey
	}
	c := house.Config{Origin: origin, Pool: house.PoolMarks{Low: 0, Full: 4}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Rolls: commitment.Lengths{16, 128, 128}}
	c.Log, c.LogVerifier, c.LogKey = pair(origin)
	c.Receipts, _, c.ReceiptKey = pair(origin + "/receipts")
	var err error
	s.master, err = house.NewMasterKey(seed)
	must(err)
	c.Master, s.key = s.master, c.LogKey
	if witnessed {
		skey, vkey, err := translog.NewWitnessKey("witness.example/1", seed)
		must(err)
		cosigner, err := translog.NewCosigner(skey, time.Now)
		must(err)
		w, err := witness.New(cosigner, []note.Verifier{c.LogVerifier}, witness.InMemory())
		must(err)
		c.Witnesses = []house.Witness{inProcess{w}}
		c.Policy, err = translog.NewPolicy(c.LogKey, []string{vkey})
		must(err)
		s.policy = c.Policy.Text()
	}
	s.store, err = sqlite.Open(s.path, sqlite.Options{})
	must(err)
	c.Store = s.store
	s.House, err = house.New(context.Background(), c)
	must(err)
	t.Cleanup(func() {
		s.Close()
		s.store.Close()
	})
	must(s.AddTenant(t.Context(), "club"))
	return s
}

type inProcess struct{ *witness.Witness }

func (inProcess) Name() string { return "in-process" }

func (w inProcess) Cosign(ctx context.Context, old int64, proof []commitment.Hash, checkpoint string) (string, error) {
	return w.AddCheckpoint(ctx, old, proof, checkpoint)
}

var everything = house.Principal{Tenant: "club", Scopes: house.Scopes()}

// source is what another process would export from.
func (s *service) source() export.Source {
	s.t.Helper()
	db, err := sqlite.OpenReader(s.path, sqlite.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	return export.Source{Store: db, Key: s.key, Policy: s.policy, Throws: house.Throws(s.master)}
}

// terms of a match.
type terms struct {
	variant, mode, options string
	anchored               bool
}

// table is a match that is played in a test.
type table struct {
	*service
	terms
	id     string
	chains [2]*commitment.Chain
	spent  [2]int
	series replay.Match
	player *selfplay.Player
}

func (s *service) open(x terms, seed uint64) *table {
	s.t.Helper()
	v, err := rules.Lookup(x.variant)
	if err != nil {
		s.t.Fatal(err)
	}
	o, err := replay.ParseOptions(x.options)
	if err != nil {
		s.t.Fatal(err)
	}
	m := &table{service: s, terms: x, id: uuid.Must(uuid.NewV7()).String(), player: selfplay.New(selfplay.Random, seed)}
	if m.series, err = replay.NewMatch(v, o); err != nil {
		s.t.Fatal(err)
	}
	req := house.OpenRequest{Match: m.id, Variant: x.variant, Mode: x.mode, Profile: "refereed", Options: x.options, A: "ann", B: "bob"}
	if x.anchored {
		for i := range m.chains {
			if m.chains[i], err = commitment.NewChain(rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(i), 1}), 2000); err != nil {
				s.t.Fatal(err)
			}
		}
		req.AnchorA, req.AnchorB = &commitment.Anchor{Hash: m.chains[0].Anchor()}, &commitment.Anchor{Hash: m.chains[1].Anchor()}
	}
	if err := patient(func() error { _, err := s.OpenMatch(s.t.Context(), everything, req); return err }); err != nil {
		s.t.Fatal(err)
	}
	return m
}

// patient repeats what a busy house could not answer in time.
func patient(ask func() error) error {
	for {
		if err := ask(); house.CodeOf(err) != house.Unavailable {
			return err
		}
	}
}

func (m *table) link(seat int) commitment.Hash {
	m.t.Helper()
	m.spent[seat]++
	v, err := m.chains[seat].Link(m.spent[seat])
	if err != nil {
		m.t.Fatal(err)
	}
	return v
}

// game plays game n; stop > 0 aborts it after so many lines.
func (m *table) game(n, stop int) {
	m.t.Helper()
	ctx := m.t.Context()
	fail := func(err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
	}
	fail(patient(func() error { _, err := m.NextGame(ctx, everything, m.id, n, 0); return err }))
	links := func(segment int) {
		for i, seat := range []string{"a", "b"} {
			if m.anchored {
				link := m.link(i)
				fail(patient(func() error { _, err := m.PutLink(ctx, m.id, n, segment, seat, link, 0); return err }))
			}
		}
	}
	links(1)
	st, err := replay.Start(m.series.Next())
	fail(err)
	var gen rules.Generator
	used, segment, lines := [3]int{}, [3]int{1, 1, 1}, 0
	for dealt := 1; !st.Over(); lines++ {
		if stop > 0 && lines == stop {
			fail(patient(func() error { _, err := m.AbortGame(ctx, everything, m.id, n, "power-cut", 0); return err }))
			m.series, err = m.series.Skip()
			fail(err)
			return
		}
		stream, draw := st.NextDraw()
		if !draw {
			e, ok := m.player.Next(st)
			if !ok {
				m.t.Fatalf("no move: %s", st.Due())
			}
			st, err = st.Apply(&gen, e)
			fail(err)
			_, err = m.Append(ctx, everything, m.id, n, lines+1, []string{e.String()})
			fail(err)
			continue
		}
		i := map[string]int{"opening": 0, "a": 1, "b": 2}[stream]
		if used[i] == []int{16, 128, 128}[i] {
			used[i], segment[i] = 0, segment[i]+1
		}
		a, err := m.Draw(ctx, everything, m.id, n, segment[i], stream, used[i])
		if house.CodeOf(err) == house.AwaitingLink && segment[i] > dealt {
			dealt++
			links(dealt)
			a, err = m.Draw(ctx, everything, m.id, n, segment[i], stream, used[i])
		}
		fail(err)
		used[i]++
		e, err := replay.ParseEvent(map[string]string{"opening": "opening", "a": "roll A", "b": "roll B"}[stream] + fmt.Sprintf(" %d %d", a.Dice[0], a.Dice[1]))
		fail(err)
		st, err = st.Apply(&gen, e)
		fail(err)
	}
	fail(patient(func() error { _, err := m.CloseGame(ctx, everything, m.id, n, nil, 0); return err }))
	m.series, err = m.series.Add(st.Result())
	fail(err)
}

func (s *service) seal(mode string, n int) {
	s.t.Helper()
	if err := s.TopUp(s.t.Context(), "club", mode, n); err != nil {
		s.t.Fatal(err)
	}
	s.signed()
}

// signed waits until the whole log is signed.
func (s *service) signed() {
	s.t.Helper()
	for range 1000 {
		var head store.LogHead
		var c store.Checkpoint
		s.store.View(s.t.Context(), func(r store.Reader) error {
			head, _ = r.LogHead()
			c, _ = r.LatestCheckpoint()
			return nil
		})
		if head.Size > 0 && c.Size == head.Size {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	s.t.Fatal("the log is not signed")
}

// files is an archive in memory.
type files map[string][]byte

func (f files) Read(_ context.Context, name string, limit int64) ([]byte, error) {
	data, ok := f[name]
	if !ok {
		return nil, archive.ErrMissing
	}
	if int64(len(data)) > limit {
		return nil, errors.New("too large")
	}
	return data, nil
}

func (f files) List(_ context.Context, folder string) (names []string, err error) {
	for name := range f {
		if filepath.Dir(name) == folder {
			names = append(names, filepath.Base(name))
		}
	}
	if names == nil {
		return nil, archive.ErrMissing
	}
	return names, nil
}

func (f files) Each(ctx context.Context, names iter.Seq[string], limit int64, visit func(string, []byte, error) error) error {
	for name := range names {
		data, err := f.Read(ctx, name, limit)
		if err := visit(name, data, err); err != nil {
			return err
		}
	}
	return nil
}

// readDir reads an archive, without what belongs to the exporter.
func readDir(t testing.TB, dir string) files {
	t.Helper()
	f := files{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			f[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func readTar(t testing.TB, path string) files {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f := files{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return f
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := f[h.Name]; twice {
			t.Errorf("%s is packed twice", h.Name)
		}
		if f[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// verify audits an archive from outside.
func (s *service) verify(f files) *archive.Result {
	s.t.Helper()
	trust := audit.Trust{Key: s.key}
	if s.policy != "" {
		p, err := translog.ParsePolicy(s.policy)
		if err != nil {
			s.t.Fatal(err)
		}
		trust = audit.Trust{Policy: p}
	}
	r, err := archive.Verify(s.t.Context(), f, archive.Options{Trust: trust, Signatures: true})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, finding := range r.Findings {
		s.t.Errorf("finding: %+v", finding)
	}
	return r
}
