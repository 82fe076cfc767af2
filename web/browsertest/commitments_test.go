package browsertest

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"fairdice/client"
	"fairdice/internal/browser"
)

// A sequence is found by its id, and its proof is computed in the browser: one
// that was changed on the way is refused.
func TestCommitmentProof(t *testing.T) {
	t.Parallel()
	s := startService(t)
	page, err := s.client.Sequences(t.Context(), tenant, client.ModeRandom, "", 0)
	must(t, err)
	id := page.Sequences[0].Sequence
	p := browser.Open(t, browser.Look{})
	p.Go(s.url + "/commitments?tenant=" + tenant + "&mode=random&state=free")
	p.Fill("#sequence", id)
	p.Click("form[role=search] button")
	p.Says("#statement", "sequence "+id)
	p.Until(`document.querySelector('.proof [data-part=waiting]').hidden`)
	if got := outcome(p, "inclusion"); got != "pass" {
		t.Errorf("the honest proof: %s", got)
	}
	first := regexp.MustCompile(`("path":\["?)([0-9a-f])`)
	s.cheats(func(w http.ResponseWriter, r *http.Request, honest http.Handler) bool {
		if r.URL.Path != "/v1/sequences/"+id {
			return false
		}
		a := httptest.NewRecorder()
		honest.ServeHTTP(a, r)
		body := first.ReplaceAllFunc(a.Body.Bytes(), func(b []byte) []byte {
			b[len(b)-1] = map[bool]byte{true: '1', false: '0'}[b[len(b)-1] == '0']
			return b
		})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
		return true
	})
	p.Go(s.url + "/commitments/" + id)
	p.Until(`document.querySelector('.proof [data-part=waiting]').hidden`)
	if got := outcome(p, "inclusion"); got != "fail" {
		t.Errorf("the changed proof: %s", got)
	}
	p.Accessible()
	p.Quiet()
}

// The list is narrowed to a mode and a state, by keyboard alone, and a sequence
// is looked at from there; an id that nobody sealed is told as such.
func TestCommitmentFilters(t *testing.T) {
	t.Parallel()
	s := startService(t)
	must(t, s.house.TopUp(t.Context(), tenant, "live", 2))
	retired := "" // the only one of its state
	must(t, func() error {
		page, err := s.client.Sequences(t.Context(), tenant, client.ModeLive, "", 0)
		if err != nil {
			return err
		}
		retired = page.Sequences[0].Sequence
		_, err = s.client.Retire(t.Context(), retired, "spoilt", 0)
		return err
	}())
	p := browser.Open(t, browser.Look{})
	p.Go(s.url + "/commitments")
	listed := func() []string {
		return strings.Fields(browser.Eval[string](p, `[...document.querySelectorAll('tbody a.mono')].map((a) => a.textContent).join(' ')`))
	}
	all := listed()
	if len(all) == 0 || slices.Contains(all, retired) {
		t.Fatalf("%v are listed first", all)
	}
	value := func(id string) string { return browser.Eval[string](p, `document.getElementById('`+id+`').value`) }
	choose := func(id, want string) { // with the arrow keys, as a select without a mouse is used
		for range 12 {
			if value(id) == want {
				return
			}
			p.Press("#"+id, kb.ArrowDown)
		}
		t.Fatalf("the keys do not come to %s of %s", want, id)
	}
	browser.Eval[bool](p, `(document.getElementById('mode').selectedIndex = 0, document.getElementById('state').selectedIndex = 0, true)`)
	choose("mode", "live")
	choose("state", "retired")
	p.Press("form:not([role]) button", "\r")
	p.Until(`location.search.includes('state=retired') && document.readyState === 'complete'`)
	if got := listed(); !slices.Equal(got, []string{retired}) {
		t.Errorf("retired sequences of mode live are %v, want %s alone", got, retired)
	}
	if value("mode") != "live" || value("state") != "retired" {
		t.Errorf("the form has forgotten what was chosen: %s, %s", value("mode"), value("state"))
	}
	p.Press("tbody a.mono", "\r")
	p.Says("#statement", "sequence "+retired)
	p.Go(s.url + "/commitments?tenant=" + tenant + "&mode=live&state=free")
	if got := listed(); len(got) == 0 || slices.Contains(got, retired) {
		t.Errorf("free sequences of mode live are %v", got)
	}
	p.Fill("#sequence", "nobody-sealed-this")
	p.Press("#sequence", "\r")
	p.Says("#unknown", "nobody-sealed-this")
	p.Accessible()
	p.Quiet()
}
