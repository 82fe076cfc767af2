package browsertest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/browser"
	"fairdice/store"
	"fairdice/translog"
	"fairdice/translog/witness"
)

// watcher is a witness in this process.
type watcher struct {
	key string
	*witness.Witness
}

func (w watcher) Name() string { return strings.SplitN(w.key, "+", 2)[0] }

func (w watcher) Cosign(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error) {
	lines, err := w.AddCheckpoint(ctx, old, proof, signed)
	if conflict, ok := errors.AsType[*witness.ConflictError](err); ok {
		return "", &house.StaleError{Size: conflict.Size}
	}
	return lines, err
}

// watched adds witnesses of these names to a house, and their keys to the list.
func watched(t *testing.T, keys *[]string, names ...string) func(*house.Config) {
	return func(c *house.Config) {
		for _, name := range names {
			skey, vkey, err := translog.NewWitnessKey(name, rand.Reader)
			must(t, err)
			cosigner, err := translog.NewCosigner(skey, c.Now)
			must(t, err)
			w, err := witness.New(cosigner, []note.Verifier{c.LogVerifier}, witness.InMemory())
			must(t, err)
			c.Witnesses = append(c.Witnesses, watcher{vkey, w})
			*keys = append(*keys, vkey)
		}
		var err error
		c.Policy, err = translog.NewPolicy(c.LogKey, *keys)
		must(t, err)
	}
}

// cosigned waits until all of the log is cosigned, and is the note.
func (s *service) cosigned(t *testing.T, lines int) string {
	t.Helper()
	var head store.LogHead
	must(t, s.store.View(t.Context(), func(r store.Reader) (err error) {
		head, err = r.LogHead()
		return err
	}))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		r, err := http.Get(s.url + "/checkpoint")
		must(t, err)
		text, err := io.ReadAll(r.Body)
		must(t, errors.Join(err, r.Body.Close()))
		if c, err := translog.ReadCheckpoint(string(text)); err == nil && c.Size >= head.Size && strings.Count(string(text), "\n— ") == 1+lines {
			return string(text)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the checkpoint of %d statements is not cosigned:\n%s", head.Size, text)
		}
	}
}

// rewritten has pages come with another text in the place of one of theirs.
func (s *service) rewritten(t *testing.T, path, text, other string) {
	s.cheats(func(w http.ResponseWriter, r *http.Request, honest http.Handler) bool {
		if r.URL.Path != path {
			return false
		}
		a := httptest.NewRecorder()
		honest.ServeHTTP(a, r)
		page := strings.Replace(a.Body.String(), text, other, 1)
		if page == a.Body.String() {
			t.Errorf("%s does not say %.60q", path, text)
		}
		w.Header().Set("Content-Type", a.Header().Get("Content-Type"))
		w.Header().Set("Content-Security-Policy", a.Header().Get("Content-Security-Policy"))
		_, _ = w.Write([]byte(page))
		return true
	})
}

// outcome is what of a part of the page's list is shown.
func outcome(p *browser.Page, part string) string {
	return browser.Eval[string](p, `[...document.querySelectorAll('[data-part="`+part+`"]:not([hidden])')].map((e) => e.dataset.outcome ?? 'shown').join()`)
}

// checked waits until the page of the log has checked all there is.
func checked(p *browser.Page) {
	p.Until(`document.querySelector('.proof [data-part=waiting]').hidden && !document.querySelector('#watch').hidden && !document.querySelector('#watch[aria-busy]')`)
	p.Until(`[...document.querySelectorAll('#watch [data-part]')].some((e) => !e.hidden && e.dataset.part !== 'waiting')`)
}

func signatures(p *browser.Page) string {
	return browser.Eval[string](p, `[...document.querySelectorAll('#cosigned tbody tr')].map((row) => row.cells[0].textContent + ' ' + (row.dataset.status ?? '?')).join()`)
}

// Every signature of a witness is checked in the browser: first of those that
// the service names, then of those that the visitor trusts.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	built(t)
	var keys []string
	s := startService(t, watched(t, &keys, "one.example/w", "two.example/w"))
	signed := s.cosigned(t, 2)
	_, stranger, err := translog.NewWitnessKey("three.example/w", rand.Reader)
	must(t, err)
	p := browser.Open(t, browser.Look{})
	expect := func(what, lines, from, quorum, extends string) {
		t.Helper()
		checked(p)
		got := []string{signatures(p), outcome(p, "from"), outcome(p, "quorum"), outcome(p, "extends")}
		slices.SortFunc(strings.Split(got[0], ","), strings.Compare)
		if want := []string{lines, from, quorum, extends}; !slices.Equal(got, want) {
			t.Errorf("%s: the page says %q, want %q", what, got, want)
		}
	}
	lines := func(status ...string) string { // in the order of the note
		var list []string
		for line := range strings.Lines(signed[strings.Index(signed, "\n\n"):]) {
			if name := strings.Fields(line); len(name) == 3 && name[1] != origin {
				i := slices.IndexFunc(keys, func(k string) bool { return strings.HasPrefix(k, name[1]) })
				if status[i] != "" {
					list = append(list, name[1]+" "+status[i])
				}
			}
		}
		return strings.Join(list, ",")
	}
	p.Go(s.url + "/log")
	expect("honest", lines("pass", "pass"), "site", "pass", "pass")
	p.Accessible()

	// A line that was changed on the way, or is not there.
	for line := range strings.Lines(signed) {
		if !strings.Contains(line, "one.example") {
			continue
		}
		end := len(line) - len("00000==\n")
		other := line[:end] + map[bool]string{true: "B", false: "A"}[line[end] == 'A'] + line[end+1:]
		s.rewritten(t, "/log", escaped(line), escaped(other))
		p.Go(s.url + "/log")
		expect("a wrong signature", lines("fail", "pass"), "site", "fail", "pass")
		s.rewritten(t, "/log", escaped(line), "")
		p.Go(s.url + "/log")
		expect("a signature left out", lines("", "pass")+",one.example/w absent", "site", "fail", "pass")
	}
	s.cheats(nil)

	// Whom the visitor trusts counts, and stays.
	p.Go(s.url + "/log")
	checked(p)
	own := func(text string) {
		p.Until(`document.querySelector('#trust').closest('details').open = true`)
		p.Fill("#keys", text)
		p.Click("#trust button:not(.plain)")
	}
	own("trust me")
	p.Shown("#trust-failed")
	expect("no key", lines("pass", "pass"), "site", "pass", "pass")
	own("# mine\n" + keys[0] + "\n")
	p.Until(`document.querySelector('[data-part=from][data-outcome=pass]:not([hidden])') !== null`)
	expect("own witness", lines("pass", "unchecked"), "pass", "pass", "pass")
	p.Go(s.url + "/log")
	expect("own witness, later", lines("pass", "unchecked"), "pass", "pass", "pass")
	own("witness a " + keys[0] + "\nwitness b " + stranger + "\ngroup g any a b\nquorum g\n")
	p.Until(`document.querySelector('#cosigned [data-status=absent]') !== null`)
	expect("own policy", lines("pass", "unchecked")+",three.example/w absent", "pass", "pass", "pass")
	own(keys[0] + "\n" + stranger)
	p.Until(`document.querySelector('[data-part=quorum][data-outcome=fail]:not([hidden])') !== null`)
	expect("a witness who has not signed", lines("pass", "unchecked")+",three.example/w absent", "pass", "fail", "pass")
	p.Accessible()
	p.Click("#forget")
	p.Until(`document.querySelector('[data-part=from][data-outcome=site]:not([hidden])') !== null`)
	expect("forgotten", lines("pass", "pass"), "site", "pass", "pass")
	p.Quiet()
}

// escaped is a text as it stands in a page.
func escaped(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }

// A log that is not what the browser has seen of it is said loudly, as often as
// one looks, and both checkpoints can be kept.
func TestTwoHistories(t *testing.T) {
	t.Parallel()
	s := startService(t)
	must(t, s.open(matchID(1), "short", client.ModeRandom, single))
	for _, c := range []struct {
		name string
		lie  func([]string) []string
		fork bool
	}{
		{"grown", unchanged, false},
		{"changed", as(matchID(1), func(o commitment.Open) commitment.Statement { o.A = "eve"; return o }), true},
		{"rolled back", func(texts []string) []string { return texts[:len(texts)-1] }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := browser.Open(t, browser.Look{})
			s.cheats(nil)
			p.Go(s.url + "/log")
			p.Until(`document.querySelector('.proof [data-part=waiting]').hidden`)
			if got := outcome(p, "consistency") + outcome(p, "fork"); got != "first" {
				t.Fatalf("at first: %s", got)
			}
			l := s.lie(t, matchID(1), c.lie)
			s.cheats(func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
				if r.URL.Path != "/v1/statements" {
					return false
				}
				seen, _ := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64) // absent: 0
				a := l.answer(t, seen)
				a.Statements = nil
				w.Header().Set("Content-Type", "application/json")
				must(t, json.NewEncoder(w).Encode(map[string]any{"published": a, "next": 0}))
				return true
			})
			for range 2 { // what was seen first is not forgotten for what is shown then
				p.Go(s.url + "/log")
				p.Until(`document.querySelector('.proof [data-part=waiting]').hidden`)
				want := "pass"
				if c.fork {
					want = "failshown"
				}
				if got := outcome(p, "consistency") + outcome(p, "fork"); got != want {
					t.Fatalf("the page says %s, want %s", got, want)
				}
			}
			if c.fork {
				p.Accessible()
				evidence := browser.Eval[string](p, `new Promise((done) => {
					const make = URL.createObjectURL
					URL.createObjectURL = (blob) => { blob.text().then(done); URL.createObjectURL = make; return make(blob) }
					document.querySelector('[data-part=fork] button').click()
				})`)
				var e struct{ Key, Seen, Shown string }
				must(t, json.Unmarshal([]byte(evidence), &e))
				log, err := commitment.ParseVerifier(e.Key)
				must(t, err)
				for _, note := range []string{e.Seen, e.Shown} {
					_, err := translog.OpenCheckpoint(note, log)
					must(t, err)
				}
				if e.Seen == e.Shown {
					t.Error("the evidence is one checkpoint twice")
				}
			}
			p.Quiet()
		})
	}
}

// What the witnesses have signed must be a beginning of the log that was checked.
func TestWitnessesOfAnotherLog(t *testing.T) {
	t.Parallel()
	built(t)
	var keys []string
	var cosigner *translog.Cosigner
	s := startService(t, watched(t, &keys, "one.example/w"), func(c *house.Config) {
		skey, vkey, err := translog.NewWitnessKey("two.example/w", rand.Reader)
		must(t, err)
		cosigner, err = translog.NewCosigner(skey, time.Now)
		must(t, err)
		keys = append(keys, vkey)
	})
	must(t, s.open(matchID(1), "short", client.ModeRandom, single))
	signed := s.cosigned(t, 1)
	l := s.lie(t, matchID(1), as(matchID(1), func(o commitment.Open) commitment.Statement { o.A = "eve"; return o }))
	other, err := cosigner.Cosign(l.answer(t, 0).Checkpoint)
	must(t, err)
	p := browser.Open(t, browser.Look{})
	p.Go(s.url + "/log")
	checked(p)
	browser.Eval[bool](p, `import('/static/pinned.js').then((m) => (m.watch(`+strconv.Quote(keys[1])+`), true))`)
	s.rewritten(t, "/log", escaped(signed), escaped(other))
	p.Go(s.url + "/log")
	checked(p)
	if got := signatures(p) + " " + outcome(p, "quorum") + " " + outcome(p, "extends"); got != "two.example/w pass pass fail" {
		t.Errorf("a checkpoint of another history, cosigned: %s", got)
	}
	p.Quiet()
}
