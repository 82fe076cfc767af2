package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"fairdice/audit"
	"fairdice/internal/browser"
	"fairdice/web/wasm"
)

// TestVerifierInBrowser runs the verifier in Chromium, under the policy of the
// page: it says of a bundle what package audit says, byte for byte, tells it in
// Georgian, draws the board, and knows its own hash.
func TestVerifierInBrowser(t *testing.T) {
	m := wasm.Built()
	if m == nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the verifier of the page is not built: make build")
		}
		t.Skip("the verifier of the page is not built: make build")
	}
	bundle, err := os.ReadFile("../audit/testdata/bundle-l2.json")
	if err != nil {
		t.Fatal(err)
	}
	site, err := New(Config{Key: "example.org/log+c90ecb27+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs", Origin: "example.org/log"})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/static/", site.Static())
	mux.Handle("/sw.js", site.Static())
	mux.HandleFunc("/bundle", func(w http.ResponseWriter, _ *http.Request) { w.Write(bundle) })
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { site.Render(w, r, How{}) })
	server := httptest.NewServer(mux)
	defer server.Close()

	p := browser.Open(t, browser.Look{})
	p.Go(server.URL)
	answer := browser.Eval[string](p, `(async () => {
		const { open } = await import('/static/`+site.assets.version+`/verifier.js')
		let seen = 0
		const begin = performance.now()
		const v = await open({ size: `+jsonText(t, m.Size)+`, sha256: '`+m.SHA256+`', progress: (done) => { seen = done } })
		const loaded = performance.now() - begin
		const bytes = new Uint8Array(await (await fetch('/bundle')).arrayBuffer())
		const took = []
		for (let i = 0; i < 3; i++) {
			const start = performance.now()
			await v.bundle(bytes)
			took.push(Math.round(performance.now() - start))
		}
		const report = v.last
		const words = await v.words('ka')
		await v.games(bytes, { lang: 'ka' })
		const board = await v.board(0, 3, 'B')
		const turn = () => new Promise((done) => setTimeout(done))
		const ends = [v.bundle(bytes)]
		await turn()
		v.stop()
		ends.push(v.bundle(bytes)) // waits for the module
		await turn()
		v.stop()
		const late = new Promise((done) => setTimeout(done, 5000, 'nothing'))
		const stopped = await Promise.all(ends.map((end) => Promise.race([end.then(() => 'done', (error) => error.message), late])))
		const other = await open({ sha256: '`+strings.Repeat("0", 64)+`' }).then(() => '', (error) => error.message)
		return JSON.stringify({ stopped, report, title: words.title, board, hash: v.sha256, seen, other, loaded: Math.round(loaded), took })
	})()`)
	var got struct {
		Report, Title, Board, Hash, Other string
		Seen, Loaded                      int
		Took                              []int
		Stopped                           []string
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	want, err := audit.Verify(bundle, audit.Trust{}).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal([]byte(got.Report), want) {
		t.Errorf("the page says %s, package audit %s", got.Report, want)
	}
	if got.Title == "" || !strings.HasPrefix(got.Board, "<svg") || got.Hash != m.SHA256 || got.Seen != m.Size {
		t.Errorf("got %+v", got)
	}
	if !slices.Equal(got.Stopped, []string{"stopped", "stopped"}) {
		t.Errorf("calls that were stopped, the second while the module was loaded, ended with %q", got.Stopped)
	}
	if !strings.Contains(got.Other, m.SHA256) {
		t.Errorf("a module with another hash than the expected: %q", got.Other)
	}
	t.Logf("loaded in %d ms, verified in %v ms", got.Loaded, got.Took)
	p.Quiet()
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
