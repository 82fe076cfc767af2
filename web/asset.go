package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// asset is a file that browsers load.
type asset struct {
	name  string
	kind  string // its media type
	tag   string // strong ETag of its identity coding
	plain []byte
	br    func() []byte // nil: not worth it
	gz    func() []byte
}

// assets are all of them. They are the same for every Site of a process.
type assets struct {
	files   map[string]*asset
	version string // changes when any file does
	module  *Module
}

// kinds are the media types there are; the table of the system may lack some.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".wasm": "application/wasm",
	".woff2": "font/woff2", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".png": "image/png",
	".webmanifest": "application/manifest+json", ".sha256": "text/plain; charset=utf-8",
}

// moduleName is the verifier's.
const moduleName = "verify.wasm"

var load = sync.OnceValues(func() (*assets, error) {
	a := &assets{files: map[string]*asset{}}
	for _, from := range []struct {
		tree fs.FS
		root string
	}{{Player, "."}, {static, "static"}, {module, "wasm"}} {
		tree, err := fs.Sub(from.tree, from.root)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", from.root, err)
		}
		if err := a.add(tree); err != nil {
			return nil, err
		}
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		fmt.Fprintf(sum, "%s %s\n", name, a.files[name].tag)
	}
	a.version = hex.EncodeToString(sum.Sum(nil))[:16]
	if f := a.files[moduleName]; f != nil {
		hash := sha256.Sum256(f.plain)
		a.module = &Module{SHA256: hex.EncodeToString(hash[:]), Size: len(f.plain), Sent: len(f.br())}
	}
	return a, nil
})

// add takes in every file of a tree; NAME.br and NAME.gz are codings of NAME.
func (a *assets) add(tree fs.FS) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) == ".md" {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		switch plain, ok := strings.CutSuffix(name, ".br"); {
		case ok:
			text, err := io.ReadAll(brotli.NewReader(bytes.NewReader(data)))
			if err != nil {
				return fmt.Errorf("load %s: %w", name, err)
			}
			a.at(plain, text).br = func() []byte { return data }
			return nil
		case strings.HasSuffix(name, ".gz"):
			plain = strings.TrimSuffix(name, ".gz")
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return fmt.Errorf("load %s: %w", name, err)
			}
			text, err := io.ReadAll(z)
			if err != nil {
				return fmt.Errorf("load %s: %w", name, err)
			}
			a.at(plain, text).gz = func() []byte { return data }
			return nil
		}
		a.at(name, data)
		return nil
	})
}

func (a *assets) at(name string, plain []byte) *asset {
	if f := a.files[name]; f != nil {
		return f
	}
	sum := sha256.Sum256(plain)
	f := &asset{name: name, plain: plain, kind: kinds[path.Ext(name)], tag: base64.RawURLEncoding.EncodeToString(sum[:12])}
	if f.kind == "" {
		f.kind = mime.TypeByExtension(path.Ext(name))
	}
	if path.Ext(name) != ".woff2" && path.Ext(name) != ".png" { // which are compressed
		f.br = sync.OnceValue(func() []byte { return brotlied(plain) })
		f.gz = sync.OnceValue(func() []byte { return gzipped(plain) })
	}
	a.files[name] = f
	return f
}

// brotlied is made when it is first asked for, at a level that takes
// milliseconds; what is large comes compressed.
func brotlied(plain []byte) []byte {
	var out bytes.Buffer
	z := brotli.NewWriterLevel(&out, 6)
	_, _ = z.Write(plain) // a bytes.Buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

func gzipped(plain []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(plain)
	_ = z.Close()
	return out.Bytes()
}

// serve answers with the coding that the browser takes and that is smallest.
func (f *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	data, tag := f.plain, f.tag
	if f.br != nil {
		h.Add("Vary", "Accept-Encoding")
		switch accepted := r.Header.Get("Accept-Encoding"); {
		case accepts(accepted, "br"):
			data, tag = f.br(), f.tag+"-br"
			h.Set("Content-Encoding", "br")
		case accepts(accepted, "gzip"):
			data, tag = f.gz(), f.tag+"-gz"
			h.Set("Content-Encoding", "gzip")
		}
	}
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	if unchanged(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(data) // the caller may have left
}

// accepts reads an Accept-Encoding header (RFC 9110 §12.5.3); a coding with the
// weight 0 is refused.
func accepts(header, coding string) bool {
	for wish := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(wish, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			q := strings.ReplaceAll(strings.ToLower(weight), " ", "")
			return q == "" || strings.Trim(strings.TrimPrefix(q, "q="), "0.") != ""
		}
	}
	return false
}

// unchanged compares as RFC 9110 §13.1.2 says, weakly.
func unchanged(header, tag string) bool {
	for known := range strings.SplitSeq(header, ",") {
		if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == tag || known == "*" {
			return true
		}
	}
	return false
}
