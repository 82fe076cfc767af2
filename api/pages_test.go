package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"fairdice/api"
	"fairdice/internal/messages"
	"fairdice/web"
)

// newPages is a bench with pages; they are no part of the document that the
// other tests hold answers against.
func newPages(t *testing.T) *bench {
	return newBench(t, func(c *api.Config) {
		site, err := web.New(web.Config{Key: c.House.VerifierKey(), Origin: c.House.Origin(), Version: "test", Logger: c.Logger})
		must(t, err)
		c.Site = site
	})
}

var (
	inline = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:\s+type="module")?>|javascript:`)
	unsaid = regexp.MustCompile(`\bpage\.[a-z]+\.[a-z.-]+`) // a key that the catalogue does not have
	loaded = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)
)

// Every page in every language is whole: no text is missing, nothing is inline,
// and what it loads is there.
func TestPages(t *testing.T) {
	b := newPages(t)
	id := b.openL0("short")
	page, err := b.client.Sequences(t.Context(), tenant, "random", "", 0)
	must(t, err)
	for _, path := range []string{
		"/", "/match/" + id, "/commitments", "/commitments?tenant=club&mode=balanced&state=free", "/commitments/" + page.Sequences[0].Sequence, "/log", "/how", "/my-chain",
	} {
		for _, lang := range messages.Languages() {
			a := b.send(http.MethodGet, path, "", "Authorization", "", "Accept-Language", lang, "Accept", "text/html")
			if a.status != http.StatusOK || !strings.Contains(a.body, `<html lang="`+lang+`"`) {
				t.Errorf("%s in %s: %d %.300s", path, lang, a.status, a.body)
				continue
			}
			if found := inline.FindString(a.body); found != "" {
				t.Errorf("%s in %s has %s", path, lang, found)
			}
			if found := unsaid.FindString(a.body); found != "" {
				t.Errorf("%s in %s lacks the text %s", path, lang, found)
			}
			if !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s has the policy %q", path, a.header.Get("Content-Security-Policy"))
			}
			for _, m := range loaded.FindAllStringSubmatch(a.body, -1) {
				if s := b.send(http.MethodGet, m[1], "", "Authorization", ""); s.status != http.StatusOK || !strings.Contains(s.header.Get("Cache-Control"), "immutable") {
					t.Errorf("%s loads %s: %d, %q", path, m[1], s.status, s.header.Get("Cache-Control"))
				}
			}
		}
	}
}
