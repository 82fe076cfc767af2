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
		if e := path.Ext(name); name != "sw.js" && e != ".txt" && e != ".sha256" {
			keep = append(keep, "/static/"+a.version+"/"+name)
		}
	}
	head, err := json.Marshal(map[string]any{"version": a.version, "files": keep, "pages": offline})
	if err != nil {
		return nil, err
	}
	text := bytes.Join([][]byte{[]byte("const KEPT = "), head, []byte("\n"), a.files["sw.js"].plain}, nil)
	one := &assets{files: map[string]*asset{}}
	return one.at("sw.js", text), nil
})

func (s *Site) serveWorker(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", policy)
	s.worker.serve(w, r)
}
