// Package server serves a log to everybody who wants to check it: C2SP
// tlog-tiles (https://c2sp.org/tlog-tiles) over a store (PROTOCOL.md §7).
//
//	http.Handle("/checkpoint", server.New(s))
//	http.Handle("/tile/", server.New(s))
//
//	GET /checkpoint                   the latest signed checkpoint, or, with witnesses, the latest cosigned one
//	GET /tile/<L>/<N>[.p/<W>]         256 (or W) hashes of level 8·L
//	GET /tile/entries/<N>[.p/<W>]     256 (or W) statements, each after its length in two bytes
//
// What it answers needs no trust: a client that holds the log's key checks
// every byte against the checkpoint. Nothing is served before a checkpoint
// contains it, for what is not signed yet nobody could hold the house to.
// Signed parts of the log never change, so caches may keep tiles for ever.
package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fairdice/store"
)

const (
	// CheckpointCaching lets caches shield the service from a crowd; a client
	// that waits for the next checkpoint loses a few seconds at most.
	CheckpointCaching = "public, max-age=2"
	// TileCaching: a tile, full or partial, is the same for ever.
	TileCaching = "public, max-age=31536000, immutable"
)

// New returns the handler. Paths are strict: whatever is not the one spelling
// of a signed resource is 404. Errors of the store are logged to slog's default.
func New(s store.Store) http.Handler { return handler{store: s} }

// NewCosigned is New for a log with witnesses: /checkpoint is the largest one
// that their quorum has cosigned, with their lines, because a client whose
// policy asks for them could do nothing with a later one. Before there is any
// it is the latest that the log has signed. Tiles are served up to the latter
// all the same: whoever got a later checkpoint with an answer can check it.
func NewCosigned(s store.Store) http.Handler { return handler{store: s, cosigned: true} }

type handler struct {
	store    store.Store
	cosigned bool
}

// resource is what is answered.
type resource struct {
	body    []byte
	kind    string // Content-Type
	caching string
	packed  bool // worth compressing: statements are text, hashes are noise
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*") // the log is public, and so are the pages that check it
	header.Set("Access-Control-Expose-Headers", "ETag")
	header.Set("X-Content-Type-Options", "nosniff")

	// The path is compared as it was sent: %30 for 0 would be a second name,
	// and caches would keep a second copy.
	path := r.URL.EscapedPath()
	read := h.checkpoint
	if path != "/checkpoint" {
		t, ok := parseTile(path)
		if !ok {
			fail(w, http.StatusNotFound)
			return
		}
		read = func(ctx context.Context) (resource, error) { return h.tile(ctx, t) }
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		fail(w, http.StatusMethodNotAllowed)
		return
	}
	res, err := read(r.Context())
	switch {
	case errors.Is(err, store.ErrNotFound):
		fail(w, http.StatusNotFound)
	case r.Context().Err() != nil:
		fail(w, http.StatusServiceUnavailable) // nobody is left to read it
	case err != nil:
		slog.ErrorContext(r.Context(), "log read failed", slog.String("path", path), slog.Any("error", err))
		fail(w, http.StatusInternalServerError)
	default:
		serve(w, r, res)
	}
}

// fail answers what must not be cached: the path may be signed a moment later.
func fail(w http.ResponseWriter, status int) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, http.StatusText(status), status)
}

func serve(w http.ResponseWriter, r *http.Request, res resource) {
	header := w.Header()
	header.Set("Content-Type", res.kind)
	header.Set("Cache-Control", res.caching)
	sum := sha256.Sum256(res.body)
	tag := base64.RawURLEncoding.EncodeToString(sum[:16])
	if res.packed {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			header.Set("Content-Encoding", "gzip")
			res.body = pack(res.body)
			tag += "-gzip"
		}
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(res.body))
}

func pack(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write(b) // writes to memory do not fail
	z.Close()
	return buf.Bytes()
}

// acceptsGzip reads Accept-Encoding (RFC 9110 §12.5.3); what it does not
// understand counts as no.
func acceptsGzip(fields []string) bool {
	for part := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		coding, weight, weighted := strings.Cut(strings.TrimSpace(part), ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		if !weighted {
			return true
		}
		value, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(weight), " ", ""), "q=")
		q, err := strconv.ParseFloat(value, 64)
		return ok && err == nil && q > 0
	}
	return false
}

func (h handler) checkpoint(ctx context.Context) (res resource, err error) {
	err = h.store.View(ctx, func(r store.Reader) error {
		c, err := r.LatestCheckpoint()
		if err != nil {
			return fmt.Errorf("read checkpoint: %w", err)
		}
		note := c.Note
		if h.cosigned {
			switch c, err := r.LatestCosigned(); {
			case err == nil:
				note = c.Cosigned
			case !errors.Is(err, store.ErrNotFound):
				return fmt.Errorf("read checkpoint: %w", err)
			}
		}
		res = resource{body: []byte(note), kind: "text/plain; charset=utf-8", caching: CheckpointCaching}
		return nil
	})
	return res, err
}

func (h handler) tile(ctx context.Context, t tile) (res resource, err error) {
	err = h.store.View(ctx, func(r store.Reader) error {
		c, err := r.LatestCheckpoint()
		if err != nil {
			return fmt.Errorf("read checkpoint: %w", err)
		}
		if !t.within(c.Size) {
			return store.ErrNotFound
		}
		res = resource{kind: "application/octet-stream", caching: TileCaching, packed: t.entries}
		if t.entries {
			res.body, err = t.readEntries(r)
		} else {
			res.body, err = t.readHashes(r)
		}
		return err
	})
	return res, err
}
