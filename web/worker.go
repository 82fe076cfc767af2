package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
)

// offline are the pages that work without a connection once they were loaded.
var offline = []string{"/", "/how", "/my-chain"}

// serviceWorker is static/sw.js with what it keeps. It is served from /sw.js, for
// a worker controls only what is below its own address.
var serviceWorker = sync.OnceValues(func() (*asset, error) {
	a, err := load()
	if err != nil {
		return nil, err
	}
	var keep []string
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		if name != "sw.js" && (path.Ext(name) != ".txt" || name == detailsName) {
			keep = append(keep, "/static/"+a.version+"/"+name)
		}
	}
	head, err := json.Marshal(map[string]any{"version": a.version, "files": keep, "pages": offline})
	if err != nil {
		return nil, err
	}
	script, err := a.files["sw.js"].plain()
	if err != nil {
		return nil, err
	}
	return newAsset("sw.js", bytes.Join([][]byte{[]byte("const KEPT = "), head, []byte("\n"), script}, nil)), nil
})

func (s *Site) serveWorker(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", policy)
	s.worker.serve(w, r)
}
