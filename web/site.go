package web

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"fairdice/internal/messages"
)

// policy is the Content-Security-Policy of every page: scripts, styles, fonts and
// data come from this host alone, nothing is inline, and nobody frames a page.
// 'wasm-unsafe-eval' lets WebAssembly be compiled, and no text be run as code.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// languageCookie keeps a visitor's choice of language, for languageAge seconds.
const (
	languageCookie = "lang"
	languageAge    = 365 * 24 * 60 * 60
)

//go:embed templates
var templates embed.FS

// Config is what a Site is made of.
type Config struct {
	Key     string // verifier key of the log
	Origin  string // name of the log
	Version string // of the build
	Logger  *slog.Logger
}

// Site renders pages and serves what they load. It is safe for concurrent use.
type Site struct {
	config Config
	assets *assets
	pages  map[string]map[string]*template.Template // by language and page
	worker *asset
}

// New reads the templates and everything that pages load.
func New(c Config) (*Site, error) {
	if c.Key == "" || c.Origin == "" {
		return nil, errors.New("make site: the log's key and origin are needed")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	a, err := load()
	if err != nil {
		return nil, fmt.Errorf("make site: %w", err)
	}
	all, err := parsed()
	if err != nil {
		return nil, fmt.Errorf("make site: %w", err)
	}
	worker, err := serviceWorker()
	if err != nil {
		return nil, fmt.Errorf("make site: %w", err)
	}
	return &Site{config: c, assets: a, pages: all, worker: worker}, nil
}

// Module is the verifier for browsers, nil if the build has none.
func (s *Site) Module() *Module { return s.assets.module }

// parsed are the templates in every language; their functions speak it.
var parsed = sync.OnceValues(func() (map[string]map[string]*template.Template, error) {
	a, err := load()
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]*template.Template{}
	for _, lang := range messages.Languages() {
		all[lang] = map[string]*template.Template{}
		layout, err := template.New("layout.html").Funcs(functions(messages.For(lang), a)).ParseFS(templates, "templates/layout.html", "templates/proof.html", "templates/replay.html")
		if err != nil {
			return nil, fmt.Errorf("parse layout: %w", err)
		}
		for _, name := range pages {
			t, err := layout.Clone()
			if err == nil {
				t, err = t.ParseFS(templates, "templates/"+name+".html")
			}
			if err != nil {
				return nil, fmt.Errorf("parse page %s: %w", name, err)
			}
			all[lang][name] = t
		}
	}
	return all, nil
})

// view is what the layout is given; the page is given its own struct.
type view struct {
	Lang, Name string
	Version    string
	Languages  []choice
	Menu       []item
	Offline    bool // the page works without a connection once it was loaded
	Page       Page
}

// choice is one of the languages, with the address of this page in it.
type choice struct {
	Code, Name, URL string
	Current         bool
}

type item struct {
	Name, URL string
	Current   bool
}

// menu are the pages that every page leads to.
var menu = []item{
	{Name: "check", URL: "/"}, {Name: "commitments", URL: "/commitments"}, {Name: "log", URL: "/log"},
	{Name: "chain", URL: "/my-chain"}, {Name: "how", URL: "/how"},
}

// under tells which entry of the menu a page belongs to.
var under = map[string]string{"mychain": "chain", "sequence": "commitments"}

// language of a request: what its query says, else what was chosen before, else
// what the browser wishes.
func language(r *http.Request) (lang string, chosen bool) {
	known := func(l string) bool { return messages.For(l).Lang() == l }
	if l := r.URL.Query().Get("lang"); known(l) {
		return l, true
	}
	if c, err := r.Cookie(languageCookie); err == nil && known(c.Value) {
		return c.Value, false
	}
	return messages.Match(r.Header.Get("Accept-Language")), false
}

// Render answers with a page in the visitor's language.
func (s *Site) Render(w http.ResponseWriter, r *http.Request, p Page) {
	if m, ok := p.(Moved); ok {
		http.Redirect(w, r, m.URL, m.status())
		return
	}
	lang, chosen := language(r)
	v := view{Lang: lang, Name: p.name(), Version: s.config.Version, Offline: slices.Contains(offline, r.URL.Path), Page: p}
	for _, code := range messages.Languages() {
		q := r.URL.Query()
		q.Set("lang", code)
		v.Languages = append(v.Languages, choice{code, messages.For(code).Name(), (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String(), code == lang})
	}
	current := p.name()
	if u := under[current]; u != "" {
		current = u
	}
	for _, m := range menu {
		m.Current = m.Name == current
		v.Menu = append(v.Menu, m)
	}
	var out bytes.Buffer
	if err := s.pages[lang][p.name()].Execute(&out, v); err != nil {
		s.config.Logger.ErrorContext(r.Context(), "page failed", slog.String("page", p.name()), slog.Any("error", err))
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", lang)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Add("Vary", "Accept-Language, Cookie")
	if chosen {
		http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: lang, Path: "/", MaxAge: languageAge, SameSite: http.SameSiteLaxMode})
	}
	w.WriteHeader(p.status())
	_, _ = w.Write(out.Bytes()) // the caller may have left
}

// lasting is for what its address names by its content.
const lasting = "public, max-age=31536000, immutable"

// Static serves /static/… and /sw.js. Below /static/VERSION/ a file may be kept
// for ever, and the modules it imports by a relative name are of the same
// version; /static/NAME is for whoever embeds a module.
func (s *Site) Static() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sw.js" {
			s.serveWorker(w, r)
			return
		}
		name, found := strings.CutPrefix(r.URL.Path, "/static/")
		caching := "public, no-cache"
		switch version, rest, ok := strings.Cut(name, "/"); {
		case ok && version == s.assets.version:
			name, caching = rest, lasting
		case ok && isVersion(version): // of a page that an older build has rendered
			name = rest
		}
		f := s.assets.files[name]
		if f == nil || !found || f.name == "sw.js" {
			s.Render(w, r, Failure{Status: http.StatusNotFound})
			return
		}
		w.Header().Set("Cache-Control", caching)
		if f.kind == kinds[".js"] {
			w.Header().Set("Content-Security-Policy", policy) // of a worker that runs it
		}
		f.serve(w, r)
	})
}

func isVersion(s string) bool {
	return len(s) == versionSize && strings.Trim(s, "0123456789abcdef") == ""
}
