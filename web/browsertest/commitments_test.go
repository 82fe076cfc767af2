package browsertest

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

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
