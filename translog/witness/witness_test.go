package witness_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/store/storetest"
	"fairdice/translog"
	"fairdice/translog/witness"

	"golang.org/x/mod/sumdb/note"
)

// history is a log whose statements, and so its roots, differ from those of
// another one from a given size on.
type history struct {
	hashes [][32]byte
}

func (h *history) LogHashes(indexes []int64) ([][32]byte, error) {
	out := make([][32]byte, len(indexes))
	for i, n := range indexes {
		out[i] = h.hashes[n]
	}
	return out, nil
}

func newHistory(t testing.TB, size, fork int64) *history {
	t.Helper()
	h := &history{}
	for i := range size {
		text := fmt.Sprintf("statement %d", i)
		if i >= fork {
			text += " of another history"
		}
		more, err := translog.NewHashes(h, i, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		h.hashes = append(h.hashes, more...)
	}
	return h
}

func (h *history) checkpoint(t testing.TB, s note.Signer, size int64) string {
	t.Helper()
	root, err := translog.Root(size, translog.Stored(h))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: s.Name(), Size: size, Root: root}, s)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func (h *history) proof(t testing.TB, old, size int64) (lines []commitment.Hash) {
	t.Helper()
	if old == 0 {
		return nil
	}
	p, err := translog.Consistency(old, size, translog.Stored(h))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func request(old int64, proof []commitment.Hash, checkpoint string) string {
	b := fmt.Sprintf("old %d\n", old)
	for _, p := range proof {
		b += base64.StdEncoding.EncodeToString(p[:]) + "\n"
	}
	return b + "\n" + checkpoint
}

func logKey(t testing.TB, name string, seed uint64) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := commitment.NewKey(name, rand.NewChaCha8([32]byte{byte(seed)}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := commitment.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	v, err := commitment.ParseVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

// bench is a witness that serves HTTP.
type bench struct {
	t      testing.TB
	memory store.Memory
	key    translog.Witness
	log    note.Signer
	other  note.Signer // the same name, another key
	*httptest.Server
}

func newBench(t testing.TB, m store.Memory) *bench {
	t.Helper()
	b := &bench{t: t, memory: m}
	var v note.Verifier
	b.log, v = logKey(t, "log.example/1", 1)
	b.other, _ = logKey(t, "log.example/1", 2)
	skey, _, err := translog.NewWitnessKey("witness.example", rand.NewChaCha8([32]byte{9}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := translog.NewCosigner(skey, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	b.key = c.Witness()
	w, err := witness.New(c, []note.Verifier{v}, m)
	if err != nil {
		t.Fatal(err)
	}
	b.Server = httptest.NewServer(w)
	t.Cleanup(b.Close)
	return b
}

func (b *bench) post(body string) (status int, kind, answer string) {
	b.t.Helper()
	resp, err := http.Post(b.URL+"/add-checkpoint", "text/plain", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(data)
}

// add brings a checkpoint and demands a status; 200 must be a good cosignature.
func (b *bench) add(what string, want int, body string) string {
	b.t.Helper()
	status, kind, answer := b.post(body)
	if status != want {
		b.t.Fatalf("%s: %d %q, want %d", what, status, answer, want)
	}
	switch status {
	case http.StatusOK:
		_, checkpoint, _ := strings.Cut(body, "\n\n")
		signed, err := translog.AddLines(checkpoint, answer)
		if err != nil {
			b.t.Fatalf("%s: %v", what, err)
		}
		if at, ok, err := b.key.Cosigned(signed); !ok || err != nil || time.Since(time.Unix(at, 0)) > time.Minute {
			b.t.Errorf("%s: no good cosignature: %d %v %v", what, at, ok, err)
		}
	case http.StatusConflict:
		if kind != "text/x.tlog.size" {
			b.t.Errorf("%s: Content-Type %q", what, kind)
		}
	}
	return answer
}

func TestProtocol(t *testing.T) {
	b := newBench(t, witness.InMemory())
	h, fork := newHistory(t, 40, 99), newHistory(t, 40, 10)
	at := func(size int64) string { return h.checkpoint(t, b.log, size) }
	stranger, _ := logKey(t, "log.example/2", 1)

	b.add("first, empty log", 200, request(0, nil, at(0)))
	b.add("first", 200, request(0, nil, at(5)))
	b.add("the same again", 200, request(5, nil, at(5)))
	b.add("next", 200, request(5, h.proof(t, 5, 12), at(12)))

	if got := b.add("stale", 409, request(5, h.proof(t, 5, 20), at(20))); got != "12\n" {
		t.Errorf("409 says %q", got)
	}
	if got := b.add("old size 0 to find out", 409, request(0, nil, at(20))); got != "12\n" {
		t.Errorf("409 says %q", got)
	}
	if got := b.add("another root of the size", 409, request(12, nil, fork.checkpoint(t, b.log, 12))); got != "12\n" {
		t.Errorf("409 says %q", got)
	}
	b.add("a fork with its own proof", 422, request(12, fork.proof(t, 12, 20), fork.checkpoint(t, b.log, 20)))
	b.add("a proof too short", 422, request(12, h.proof(t, 12, 20)[1:], at(20)))
	b.add("old larger than new", 400, request(12, nil, at(11)))
	b.add("stranger", 404, request(0, nil, h.checkpoint(t, stranger, 5)))
	b.add("wrong key", 403, request(12, h.proof(t, 12, 20), h.checkpoint(t, b.other, 20)))

	good := request(12, h.proof(t, 12, 20), at(20))
	for what, body := range map[string]string{
		"empty":               "",
		"no old line":         "\n" + at(20),
		"old with zeros":      strings.Replace(good, "old 12", "old 012", 1),
		"old negative":        strings.Replace(good, "old 12", "old -12", 1),
		"old with plus":       strings.Replace(good, "old 12", "old +12", 1),
		"CR":                  strings.Replace(good, "old 12\n", "old 12\r\n", 1),
		"proof not base64":    "old 12\n????\n\n" + at(20),
		"proof too long":      "old 12\n" + strings.Repeat(strings.Repeat("A", 43)+"=\n", 64) + "\n" + at(20),
		"no checkpoint":       "old 12\n\n",
		"cut off":             good[:len(good)-10],
		"extension line":      "old 12\n\nlog.example/1\n20\nAAAA\nmore\n\n— x y\n",
		"old beyond 2^63":     strings.Replace(good, "old 12", "old 9223372036854775808", 1),
		"no empty line":       "old 12\n" + strings.ReplaceAll(at(20), "\n\n", "\n"),
		"text before the old": " " + good,
	} {
		b.add(what, 400, body)
	}
	b.add("too large", 413, "old 12\n"+strings.Repeat("A", 1<<20))
	b.add("good all the same", 200, good)

	// A checkpoint that others have signed too is cosigned as the log's.
	twice, err := translog.AddLines(at(21), strings.SplitAfter(h.checkpoint(t, b.other, 21), "\n\n")[1])
	if err != nil {
		t.Fatal(err)
	}
	b.add("with a stranger's line", 200, request(20, h.proof(t, 20, 21), twice))

	for _, r := range []struct {
		method, path string
		want         int
	}{{"GET", "/add-checkpoint", 405}, {"POST", "/splits", 405}, {"POST", "/", 404}, {"POST", "/add-checkpoint/", 404}} {
		req, err := http.NewRequest(r.method, b.URL+r.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != r.want {
			t.Errorf("%s %s: %d, want %d", r.method, r.path, resp.StatusCode, r.want)
		}
	}
}

// TestSplitView: two people are shown two histories; whoever brings both to
// the witness gets the proof, whatever their sizes and proofs are.
func TestSplitView(t *testing.T) {
	for name, show := range map[string]func(b *bench, h, fork *history){
		"same size": func(b *bench, h, fork *history) {
			b.add("true", 200, request(0, nil, h.checkpoint(t, b.log, 20)))
			b.add("fork", 409, request(20, nil, fork.checkpoint(t, b.log, 20)))
		},
		"an earlier size": func(b *bench, h, fork *history) {
			b.add("true", 200, request(0, nil, h.checkpoint(t, b.log, 20)))
			b.add("true", 200, request(20, h.proof(t, 20, 30), h.checkpoint(t, b.log, 30)))
			b.add("fork", 409, request(0, nil, fork.checkpoint(t, b.log, 20)))
		},
		"a later size, cosigned afterwards": func(b *bench, h, fork *history) {
			b.add("true", 200, request(0, nil, h.checkpoint(t, b.log, 15)))
			b.add("fork", 422, request(15, fork.proof(t, 15, 20), fork.checkpoint(t, b.log, 20)))
			b.add("true", 200, request(15, h.proof(t, 15, 20), h.checkpoint(t, b.log, 20)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, witness.InMemory())
			h, fork := newHistory(t, 40, 99), newHistory(t, 40, 10)
			show(b, h, fork)
			resp, err := http.Get(b.URL + "/splits")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			// The proof stands on its own: two notes, one key, one size, two roots.
			if !strings.HasPrefix(string(text), "split views: 1\n") {
				t.Fatalf("answer %q", text)
			}
			for _, want := range []string{h.checkpoint(t, b.log, 20), fork.checkpoint(t, b.log, 20)} {
				if !strings.Contains(string(text), want) {
					t.Errorf("the answer lacks\n%s", want)
				}
			}
		})
	}
}

// TestConcurrent: many bring checkpoints of two histories at once. Whatever is
// cosigned, in the order of sizes, is one history.
func TestConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "witness.db")
	m, err := sqlite.OpenMemory(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := newBench(t, m)
	histories := []*history{newHistory(t, 200, 999), newHistory(t, 200, 1)}
	signed := make([][]string, 2)
	for n, h := range histories {
		for size := range int64(200) {
			signed[n] = append(signed[n], h.checkpoint(t, b.log, size))
		}
	}
	var mu sync.Mutex
	cosigned := map[int64]int{} // size -> history
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			old := int64(0)
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			for range 60 {
				size := old + 1 + rng.Int64N(5)
				if size >= 200 {
					return
				}
				which := n % 2
				h := histories[which]
				status, _, answer := b.post(request(old, h.proof(t, old, size), signed[which][size]))
				switch status {
				case 200:
					mu.Lock()
					if other, ok := cosigned[size]; ok && other != which {
						t.Errorf("both histories were cosigned at size %d", size)
					}
					cosigned[size] = which
					mu.Unlock()
					old = size
				case 409:
					fmt.Sscan(answer, &old)
				case 422:
				default:
					t.Errorf("status %d: %s", status, answer)
				}
			}
		})
	}
	wg.Wait()
	first := -1
	for size, which := range cosigned {
		if first < 0 {
			first = which
		}
		if which != first {
			t.Errorf("size %d is of the other history", size)
		}
	}
	if len(cosigned) < 10 {
		t.Errorf("only %d checkpoints were cosigned", len(cosigned))
	}
}

func TestMemory(t *testing.T) {
	storetest.RunMemory(t, func(*testing.T) (func() store.Memory, bool) { return witness.InMemory, false })
}
