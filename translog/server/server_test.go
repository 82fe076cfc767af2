package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/translog"
	"fairdice/translog/server"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// testLog is a log in a store, with its key.
type testLog struct {
	*testing.T
	store    store.Store
	signer   note.Signer
	verifier note.Verifier
	url      string
}

func newLog(t *testing.T) *testLog {
	skey, vkey, err := note.GenerateKey(rand.Reader, "dice.example/log")
	if err != nil {
		t.Fatal(err)
	}
	l := &testLog{T: t}
	if l.signer, err = note.NewSigner(skey); err != nil {
		t.Fatal(err)
	}
	if l.verifier, err = note.NewVerifier(vkey); err != nil {
		t.Fatal(err)
	}
	if l.store, err = sqlite.Open(filepath.Join(t.TempDir(), "log.db"), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(server.New(l.store))
	l.url = s.URL
	t.Cleanup(func() {
		s.Close()
		if err := l.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// text of entry i; their lengths differ.
func text(i int64) string {
	return fmt.Sprintf("fairdice/v1/test\nnumber %d\n%s", i, strings.Repeat("x", int(i%7)))
}

// grow appends entries until the log has size.
func (l *testLog) grow(size int64) {
	err := l.store.Update(context.Background(), func(tx store.Tx) error {
		head, err := tx.LockLog()
		for i := head.Size; i < size && err == nil; i++ {
			var hashes [][32]byte
			if hashes, err = translog.NewHashes(tx, i, []byte(text(i))); err == nil {
				err = tx.AppendEntry(store.Entry{Index: i, Text: []byte(text(i)), Time: time.Unix(1e9+i, 0)}, hashes)
			}
		}
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
}

// sign makes a checkpoint of the first size entries.
func (l *testLog) sign(size int64) {
	err := l.store.Update(context.Background(), func(tx store.Tx) error {
		root, err := translog.Root(size, translog.Stored(tx))
		if err != nil {
			return err
		}
		signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: l.signer.Name(), Size: size, Root: root}, l.signer)
		if err != nil {
			return err
		}
		return tx.AddCheckpoint(store.Checkpoint{Size: size, Note: signed})
	})
	if err != nil {
		l.Fatal(err)
	}
}

func (l *testLog) request(method, path string, header ...string) (*http.Response, []byte) {
	l.Helper()
	r, err := http.NewRequest(method, l.url+path, nil)
	if err != nil {
		l.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "identity")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.Fatal(err)
	}
	return res, body
}

func (l *testLog) get(path string) ([]byte, error) {
	res, body := l.request(http.MethodGet, path)
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", path, res.Status)
	}
	return body, nil
}

// client reads tiles for tlog.TileHashReader, the client of the Go checksum
// database, which checks each against the root it was given.
type client struct{ *testLog }

func (c client) Height() int                     { return 8 }
func (c client) SaveTiles([]tlog.Tile, [][]byte) {}
func (c client) path(t tlog.Tile) (s string) {
	return strings.Replace("/"+t.Path(), "/tile/8/", "/tile/", 1)
}
func (c client) ReadTiles(ts []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, t := range ts {
		b, err := c.get(c.path(t))
		if err != nil {
			return nil, err
		}
		data = append(data, b)
	}
	return data, nil
}

func (c client) tree() (tlog.Tree, error) {
	signed, err := c.get("/checkpoint")
	if err != nil {
		return tlog.Tree{}, err
	}
	cp, err := translog.OpenCheckpoint(string(signed), c.verifier)
	return tlog.Tree{N: cp.Size, Hash: tlog.Hash(cp.Root)}, err
}

// bundles reads the statements of a log of size entries, from the bundle of
// statement first on.
func (c client) bundles(first, size int64) ([]string, error) {
	var texts []string
	for n := first / 256; n*256 < size; n++ {
		path := c.path(tlog.Tile{H: 8, L: -1, N: n, W: int(min(256, size-n*256))})
		data, err := c.get(strings.Replace(path, "/data/", "/entries/", 1))
		if err != nil {
			return nil, err
		}
		for len(data) > 0 {
			if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
				return nil, errors.New("bundle ends inside an entry")
			}
			end := 2 + int(binary.BigEndian.Uint16(data))
			texts = append(texts, string(data[2:end]))
			data = data[end:]
		}
	}
	return texts, nil
}

// TestClient checks logs of telling sizes from outside: every entry of every
// bundle is the leaf that the tiles, and so the checkpoint, say.
func TestClient(t *testing.T) {
	l := newLog(t)
	for _, size := range []int64{0, 1, 2, 255, 256, 257, 512, 65535, 65536, 65537, 70_000} {
		if size > 1000 && testing.Short() {
			break
		}
		l.grow(size + 3) // some entries that are not signed yet
		l.sign(size)
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			c := client{l}
			tree, err := c.tree()
			if err != nil || tree.N != size {
				t.Fatalf("checkpoint of size %d, error %v; want size %d", tree.N, err, size)
			}
			first := int64(0)
			if size > 1000 && size != 70_000 {
				first = (size - 300) / 256 * 256 // the largest log is read as a whole, others where they end
			}
			texts, err := c.bundles(first, size)
			if err != nil || int64(len(texts)) != size-first {
				t.Fatalf("read %d statements, error %v; want %d", len(texts), err, size-first)
			}
			if size == 0 {
				return
			}
			var indexes []int64
			for i := first; i < size; i++ {
				indexes = append(indexes, tlog.StoredHashIndex(0, i))
			}
			reader := tlog.TileHashReader(tree, c)
			leaves, err := reader.ReadHashes(indexes)
			if err != nil {
				t.Fatalf("read leaves: %v", err)
			}
			for i, leaf := range leaves {
				if texts[i] != text(first+int64(i)) || tlog.RecordHash([]byte(texts[i])) != leaf {
					t.Fatalf("statement %d is %q; its leaf is %v", first+int64(i), texts[i], leaf)
				}
			}
			for _, i := range []int64{0, size / 2, size - 1} {
				proof, err := tlog.ProveRecord(size, i, reader)
				if err != nil {
					t.Fatalf("prove %d: %v", i, err)
				}
				if err := tlog.CheckRecord(proof, size, tree.Hash, i, tlog.RecordHash([]byte(text(i)))); err != nil {
					t.Errorf("check %d: %v", i, err)
				}
			}
		})
	}
}

// TestUnsigned: the store knows entries that no checkpoint contains; they are
// not served, in no tile of any width or level.
func TestUnsigned(t *testing.T) {
	l := newLog(t)
	l.grow(600)
	for _, path := range []string{"/checkpoint", "/tile/0/000.p/1", "/tile/0/000", "/tile/entries/000"} {
		if _, err := l.get(path); err == nil {
			t.Errorf("GET %s before anything was signed: answered", path)
		}
	}
	l.sign(300)
	for path, served := range map[string]bool{
		"/tile/0/000":                               true,
		"/tile/0/000.p/7":                           true, // as some older checkpoint had it
		"/tile/0/001.p/44":                          true,
		"/tile/0/001.p/43":                          true,
		"/tile/0/001.p/45":                          false,
		"/tile/0/001":                               false,
		"/tile/0/002.p/1":                           false,
		"/tile/1/000.p/1":                           true,
		"/tile/1/000.p/2":                           false,
		"/tile/1/000":                               false,
		"/tile/2/000.p/1":                           false,
		"/tile/63/000.p/1":                          false,
		"/tile/entries/000":                         true,
		"/tile/entries/001.p/44":                    true,
		"/tile/entries/001.p/45":                    false,
		"/tile/entries/001":                         false,
		"/tile/entries/x001/000":                    false,
		"/tile/0/x9/x99":                            false,
		"/tile/0/x009/x223/x372/x036/x854/x775/807": false, // 2^63 - 1
	} {
		if _, err := l.get(path); (err == nil) != served {
			t.Errorf("GET %s: error %v, want served = %v", path, err, served)
		}
	}
}

func TestPaths(t *testing.T) {
	l := newLog(t)
	l.grow(300)
	l.sign(300)
	for _, path := range []string{
		"/", "/checkpoint/", "//checkpoint", "/Checkpoint", "/%63heckpoint", "/tile", "/tile/", "/tile/0", "/tile/0/",
		"/tile/0/0", "/tile/0/00", "/tile/0/0000", "/tile/0/x000/000", "/tile/00/000", "/tile/+0/000", "/tile/-1/000",
		"/tile/64/000", "/tile/0/000/", "/tile/0//000", "/tile//0/000", "/tile/0/000.p", "/tile/0/000.p/", "/tile/0/000.p/0",
		"/tile/0/000.p/01", "/tile/0/000.p/+1", "/tile/0/000.p/256", "/tile/0/000.p/1/", "/tile/8/0/000", "/tile/data/000",
		"/tile/entries", "/tile/entries/0", "/tile/entries/000.p/0", "/tile/Entries/000", "/tile/0/%30%30%30", "/tile/0/../0/000",
		"/tile/0/000.P/1", "/tile/0/x001/x000", "/tile/0/" + strings.Repeat("x000/", 100) + "000",
	} {
		res, _ := l.request(http.MethodGet, path)
		if res.StatusCode != http.StatusNotFound || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("GET %s: %s, Cache-Control %q; want 404, no-store", path, res.Status, res.Header.Get("Cache-Control"))
		}
	}
}

func TestHeaders(t *testing.T) {
	l := newLog(t)
	l.grow(300)
	l.sign(300)
	for path, want := range map[string][2]string{
		"/checkpoint":            {"text/plain; charset=utf-8", server.CheckpointCaching},
		"/tile/0/000":            {"application/octet-stream", server.TileCaching},
		"/tile/0/001.p/44":       {"application/octet-stream", server.TileCaching},
		"/tile/entries/001.p/44": {"application/octet-stream", server.TileCaching},
	} {
		t.Run(path, func(t *testing.T) {
			res, body := l.request(http.MethodGet, path)
			if res.StatusCode != http.StatusOK || len(body) == 0 {
				t.Fatalf("%s, %d bytes", res.Status, len(body))
			}
			if got := [2]string{res.Header.Get("Content-Type"), res.Header.Get("Cache-Control")}; got != want {
				t.Errorf("Content-Type and Cache-Control are %q, want %q", got, want)
			}
			if res.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Error("pages of other origins may not read it")
			}
			tag := res.Header.Get("ETag")
			if tag == "" {
				t.Fatal("no ETag")
			}
			if res, body := l.request(http.MethodGet, path, "If-None-Match", tag); res.StatusCode != http.StatusNotModified || len(body) != 0 {
				t.Errorf("with If-None-Match: %s, %d bytes; want 304 and none", res.Status, len(body))
			}
			if res, none := l.request(http.MethodHead, path); res.StatusCode != http.StatusOK || len(none) != 0 ||
				res.ContentLength != int64(len(body)) || res.Header.Get("ETag") != tag {
				t.Errorf("HEAD: %s, %d bytes, Content-Length %d, ETag %q", res.Status, len(none), res.ContentLength, res.Header.Get("ETag"))
			}
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
				if res, _ := l.request(method, path); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
					t.Errorf("%s: %s, Allow %q; want 405", method, res.Status, res.Header.Get("Allow"))
				}
			}
		})
	}
}

// TestCosigned: with witnesses the checkpoint is the largest one their quorum has
// cosigned; tiles reach as far as the log has signed.
func TestCosigned(t *testing.T) {
	l := newLog(t)
	s := httptest.NewServer(server.NewCosigned(l.store))
	t.Cleanup(s.Close)
	plain := l.url
	l.url = s.URL
	if _, err := l.get("/checkpoint"); err == nil {
		t.Error("a checkpoint of an empty log")
	}
	size := func() string {
		t.Helper()
		text, err := l.get("/checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(text), "\n")[1]
	}
	l.grow(300)
	l.sign(100)
	if got := size(); got != "100" {
		t.Errorf("nothing is cosigned: size %s, want the signed one", got)
	}
	cosign := func(n int64) string {
		t.Helper()
		var note string
		if err := l.store.Update(context.Background(), func(tx store.Tx) error {
			c, err := tx.Checkpoint(n)
			if err != nil {
				return err
			}
			note = c.Note + "— witness.example/1 AAAAAAAA\n"
			return tx.SetCosigned(n, note)
		}); err != nil {
			t.Fatal(err)
		}
		return note
	}
	want := cosign(100)
	l.sign(300)
	if text, err := l.get("/checkpoint"); err != nil || string(text) != want {
		t.Errorf("the checkpoint is %q, want the cosigned one", text)
	}
	if _, err := l.get("/tile/entries/001.p/44"); err != nil {
		t.Errorf("a bundle that is signed and not yet cosigned: %v", err)
	}
	cosign(300)
	if got := size(); got != "300" {
		t.Errorf("size %s is served, 300 is cosigned", got)
	}
	l.url = plain
	if text, err := l.get("/checkpoint"); err != nil || strings.Contains(string(text), "witness.example") {
		t.Errorf("without witnesses: %q, %v", text, err)
	}
}

func TestCompression(t *testing.T) {
	l := newLog(t)
	l.grow(256)
	l.sign(256)
	const path = "/tile/entries/000"
	_, plain := l.request(http.MethodGet, path)
	for accept, packed := range map[string]bool{
		"gzip": true, "br, GZIP ;q=0.5": true, "gzip;q=0": false, "gzip;q=x": false, "br": false, ",": false, "*": false, "xgzip": false,
	} {
		t.Run(accept, func(t *testing.T) {
			res, body := l.request(http.MethodGet, path, "Accept-Encoding", accept)
			if (res.Header.Get("Content-Encoding") == "gzip") != packed || res.Header.Get("Vary") != "Accept-Encoding" {
				t.Fatalf("Content-Encoding %q, Vary %q", res.Header.Get("Content-Encoding"), res.Header.Get("Vary"))
			}
			if strings.HasSuffix(res.Header.Get("ETag"), `-gzip"`) != packed {
				t.Errorf("ETag %s does not tell the encodings apart", res.Header.Get("ETag"))
			}
			if packed {
				z, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(body, plain) {
				t.Error("not the same statements")
			}
		})
	}
	if res, _ := l.request(http.MethodGet, "/tile/0/000", "Accept-Encoding", "gzip"); res.Header.Get("Content-Encoding") != "" {
		t.Error("hashes are compressed")
	}
}

// TestBroken: a store that lost what was signed is an error of the service,
// never a 404, which a client could take for a log that is shorter.
func TestBroken(t *testing.T) {
	l := newLog(t)
	l.sign(0)
	err := l.store.Update(context.Background(), func(tx store.Tx) error {
		return tx.AddCheckpoint(store.Checkpoint{Size: 300, Note: "over entries that are not there"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/tile/0/000", "/tile/1/000.p/1", "/tile/entries/000"} {
		if res, body := l.request(http.MethodGet, path); res.StatusCode != http.StatusInternalServerError || strings.Contains(string(body), "hash") {
			t.Errorf("GET %s: %s %q, want a bare 500", path, res.Status, body)
		}
	}
}
