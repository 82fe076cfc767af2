package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"fairdice/internal/messages"
	"fairdice/web/wasm"
)

// asset is a file that browsers load, in the codings it is sent in.
type asset struct {
	name  string
	kind  string // its media type
	tag   string // for the ETag: names the content
	plain func() ([]byte, error)
	br    func() []byte // nil: compressed already
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
	".woff2": "font/woff2", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// versionSize is how many digits of the hash of all files stand in their
// addresses.
const versionSize = 16

// Names of what is not embedded here: the verifier, and the texts it takes.
const (
	moduleName  = "verify.wasm"
	detailsName = "details.txt"
)

var load = sync.OnceValues(func() (*assets, error) {
	a := &assets{files: map[string]*asset{}}
	for _, from := range []struct {
		tree fs.FS
		root string
	}{{Player, "."}, {static, "static"}} {
		tree, err := fs.Sub(from.tree, from.root)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", from.root, err)
		}
		if err := a.add(tree); err != nil {
			return nil, err
		}
	}
	a.files[detailsName] = newAsset(detailsName, []byte(messages.Details()))
	if m := wasm.Built(); m != nil {
		a.module = &Module{SHA256: m.SHA256, Size: m.Size, Sent: len(m.Brotli)}
		a.files[moduleName] = &asset{
			name: moduleName, kind: kinds[".wasm"], tag: m.SHA256[:16], plain: m.Bytes,
			br: func() []byte { return m.Brotli }, gz: func() []byte { return m.Gzip },
		}
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		fmt.Fprintf(sum, "%s %s\n", name, a.files[name].tag)
	}
	a.version = hex.EncodeToString(sum.Sum(nil))[:versionSize]
	return a, nil
})

func (a *assets) add(tree fs.FS) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		a.files[name] = newAsset(name, data)
		return nil
	})
}

func newAsset(name string, plain []byte) *asset {
	sum := sha256.Sum256(plain)
	f := &asset{name: name, kind: kinds[path.Ext(name)], tag: base64.RawURLEncoding.EncodeToString(sum[:12])}
	f.plain = func() ([]byte, error) { return plain, nil }
	if path.Ext(name) != ".woff2" {
		f.br = sync.OnceValue(func() []byte { return brotlied(plain) })
		f.gz = sync.OnceValue(func() []byte { return gzipped(plain) })
	}
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
	coding := ""
	if f.br != nil {
		h.Add("Vary", "Accept-Encoding")
		switch accepted := r.Header.Get("Accept-Encoding"); {
		case accepts(accepted, "br"):
			coding = "br"
		case accepts(accepted, "gzip"):
			coding = "gzip"
		}
	}
	tag := `"` + f.tag + coding + `"`
	h.Set("ETag", tag)
	if unchanged(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	data, err := f.coded(coding)
	if err != nil { // what is embedded can be unpacked; the tests do it
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(data) // the caller may have left
}

func (f *asset) coded(coding string) ([]byte, error) {
	switch coding {
	case "br":
		return f.br(), nil
	case "gzip":
		return f.gz(), nil
	}
	return f.plain()
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
