package witness

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/translog"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// log is a log with proofs of everything it says.
type log struct {
	signer   note.Signer
	verifier note.Verifier
	hashes   stored
	size     int64
}

type stored []tlog.Hash

func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = s[x]
	}
	return out, nil
}

func newLog(t *testing.T, seed byte) *log {
	t.Helper()
	skey, vkey, err := commitment.NewKey("log.example", rand.NewChaCha8([32]byte{seed}))
	must(t, err)
	l := &log{}
	l.signer, err = commitment.NewSigner(skey)
	must(t, err)
	l.verifier, err = commitment.ParseVerifier(vkey)
	must(t, err)
	return l
}

func (l *log) grow(t *testing.T, texts ...string) string {
	t.Helper()
	for _, text := range texts {
		more, err := tlog.StoredHashes(l.size, []byte(text), l.hashes)
		must(t, err)
		l.hashes, l.size = append(l.hashes, more...), l.size+1
	}
	root, err := translog.Root(l.size, l.hashes)
	must(t, err)
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: "log.example", Size: l.size, Root: root}, l.signer)
	must(t, err)
	return signed
}

func (l *log) from(t *testing.T, old int64) []commitment.Hash {
	t.Helper()
	proof, err := translog.Consistency(old, l.size, l.hashes)
	must(t, err)
	return proof
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// speak is the other end, written from C2SP tlog-witness for this test.
func speak(w *Witness) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		head, signed, ok := strings.Cut(string(body), "\n\n")
		lines := strings.Split(head, "\n")
		old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
		if r.Method != http.MethodPost || r.URL.Path != "/w/add-checkpoint" || !ok || err != nil {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		var proof []commitment.Hash
		for _, line := range lines[1:] {
			h, err := base64.StdEncoding.DecodeString(line)
			if err != nil || len(h) != 32 {
				rw.WriteHeader(http.StatusBadRequest)
				return
			}
			proof = append(proof, commitment.Hash(h))
		}
		answer, err := w.AddCheckpoint(r.Context(), old, proof, signed)
		var conflict *ConflictError
		switch {
		case err == nil:
			io.WriteString(rw, answer)
		case errors.As(err, &conflict):
			rw.Header().Set("Content-Type", "text/x.tlog.size")
			rw.WriteHeader(http.StatusConflict)
			fmt.Fprintf(rw, "%d\n", conflict.Size)
		case errors.Is(err, ErrInconsistent):
			rw.WriteHeader(http.StatusUnprocessableEntity)
		case errors.Is(err, ErrUnknownLog):
			rw.WriteHeader(http.StatusNotFound)
		case errors.Is(err, translog.ErrSignature):
			rw.WriteHeader(http.StatusForbidden)
		default:
			rw.WriteHeader(http.StatusInternalServerError)
		}
	}
}

func newCosigner(t *testing.T, seed byte) *translog.Cosigner {
	t.Helper()
	skey, _, err := translog.NewWitnessKey("witness.example/w1", rand.NewChaCha8([32]byte{seed}))
	must(t, err)
	c, err := translog.NewCosigner(skey, time.Now)
	must(t, err)
	return c
}

func serve(t *testing.T, h http.Handler, c *translog.Cosigner) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	client, err := NewClient(s.URL+"/w/", c.Witness().String(), s.Client())
	must(t, err)
	return client
}

// A witness at the other end of a wire says what it would say beside us.
func TestClient(t *testing.T) {
	l, cosigner := newLog(t, 1), newCosigner(t, 9)
	w, err := New(cosigner, []note.Verifier{l.verifier}, InMemory())
	must(t, err)
	c := serve(t, speak(w), cosigner)
	if c.Name() != "witness.example/w1" {
		t.Errorf("name %s", c.Name())
	}
	ctx := t.Context()
	add := func(old int64, proof []commitment.Hash, signed string) error {
		t.Helper()
		lines, err := c.AddCheckpoint(ctx, old, proof, signed)
		if err != nil {
			return err
		}
		both, err := translog.AddLines(signed, lines)
		must(t, err)
		if _, ok, err := cosigner.Witness().Cosigned(both); !ok || err != nil {
			t.Errorf("not cosigned: %v", err)
		}
		return nil
	}
	one := l.grow(t, "a")
	must(t, add(0, nil, one))
	must(t, add(1, nil, one)) // again, as after a lost answer
	two := l.grow(t, "b", "c")
	var conflict *ConflictError
	if err := add(0, nil, two); !errors.As(err, &conflict) || conflict.Size != 1 {
		t.Errorf("from an old size: %v", err)
	}
	must(t, add(1, l.from(t, 1), two))
	fork := newLog(t, 1)
	fork.grow(t, "a", "x", "y")
	longer := fork.grow(t, "z")
	if err := add(3, fork.from(t, 3), longer); !errors.Is(err, ErrInconsistent) {
		t.Errorf("a fork: %v", err)
	}
	stranger := newLog(t, 2)
	if err := add(3, nil, stranger.grow(t, "a", "b", "c", "d")); !errors.Is(err, ErrRefused) {
		t.Errorf("another key: %v", err)
	}
	empty, err := New(cosigner, nil, InMemory())
	must(t, err)
	if _, err := serve(t, speak(empty), cosigner).AddCheckpoint(ctx, 0, nil, one); !errors.Is(err, ErrUnknownLog) {
		t.Errorf("an unknown log: %v", err)
	}
}

// Whoever answers in a witness's place gains nothing.
func TestClientBelievesNobody(t *testing.T) {
	l, cosigner, impostor := newLog(t, 1), newCosigner(t, 9), newCosigner(t, 8)
	signed := l.grow(t, "a")
	head, err := translog.ReadCheckpoint(signed)
	must(t, err)
	foreign, err := impostor.Line(head.Text())
	must(t, err)
	other := head
	other.Size++
	genuine, err := cosigner.Line(other.Text())
	must(t, err)
	for name, h := range map[string]http.HandlerFunc{
		"nothing":            func(http.ResponseWriter, *http.Request) {},
		"no line":            func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") },
		"an impostor's line": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, foreign) },
		"of another tree":    func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, genuine) },
		"endless":            func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("\n", maxAnswer+1)) },
		"a failure":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"a bare 409":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) },
		"a 409 of no size": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", sizeType)
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, "007\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := serve(t, h, cosigner).AddCheckpoint(t.Context(), 0, nil, signed)
			var conflict *ConflictError
			if err == nil || errors.As(err, &conflict) {
				t.Errorf("%q, %v", lines, err)
			}
		})
	}
}

func TestNewClient(t *testing.T) {
	vkey := newCosigner(t, 1).Witness().String()
	for _, prefix := range []string{"", "witness.example", "ftp://x", "https://x?y", "https://%zz"} {
		if _, err := NewClient(prefix, vkey, nil); err == nil {
			t.Errorf("%q is taken for an address", prefix)
		}
	}
	if _, err := NewClient("https://witness.example/w1", "key", nil); err == nil {
		t.Error("no key is taken for a key")
	}
}
