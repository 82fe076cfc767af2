package browsertest

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/internal/browser"
	"fairdice/translog"
)

// liar answers with another log than the honest one, with sound proofs of what
// it says and a signature of the log's own key.
type liar struct {
	signer note.Signer
	texts  []string
	hashes memory
	shown  []int64
}

type memory []tlog.Hash

func (m memory) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		list[i] = m[x]
	}
	return list, nil
}

// lie is the log as it would be if change had been made to the statements, and
// says of a match what the honest one says of it.
func (s *service) lie(t *testing.T, match string, change func(texts []string) []string) *liar {
	t.Helper()
	l := &liar{signer: s.signer}
	for cursor := int64(0); ; {
		page, err := s.client.LogStatements(t.Context(), client.StatementList{Cursor: cursor})
		must(t, err)
		for _, st := range page.Published.Statements {
			l.texts = append(l.texts, st.Text)
		}
		if cursor = page.Next; cursor == 0 {
			break
		}
	}
	honest, err := s.client.Statements(t.Context(), match, 0)
	must(t, err)
	var wanted []string // by their first two lines, which a change leaves
	for _, st := range honest.Statements {
		wanted = append(wanted, named(st.Text))
	}
	l.texts = change(l.texts)
	for i, text := range l.texts {
		_, err := commitment.Parse([]byte(text))
		must(t, err)
		more, err := tlog.StoredHashes(int64(i), []byte(text), l.hashes)
		must(t, err)
		l.hashes = append(l.hashes, more...)
		if slices.Contains(wanted, named(text)) {
			l.shown = append(l.shown, int64(i))
		}
	}
	return l
}

// named is what tells a statement from others of its type.
func named(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range lines[1:] {
		if name, id, _ := strings.Cut(line, " "); name == "sequence" && lines[0] == "fairdice/v1/commit" || name == "match" {
			return lines[0] + " " + id
		}
	}
	return text
}

func (l *liar) answer(t *testing.T, seen int64) client.Published {
	size := int64(len(l.texts))
	root, err := translog.Root(size, l.hashes)
	must(t, err)
	p := client.Published{Since: seen}
	p.Checkpoint, err = translog.SignCheckpoint(translog.Checkpoint{Origin: origin, Size: size, Root: root}, l.signer)
	must(t, err)
	if seen > 0 && seen <= size {
		proof, err := translog.Consistency(seen, size, l.hashes)
		must(t, err)
		p.Consistency = hexes(proof)
	}
	for _, i := range l.shown {
		path, err := translog.Inclusion(size, i, l.hashes)
		must(t, err)
		p.Statements = append(p.Statements, client.Statement{Index: i, Text: l.texts[i], Path: hexes(path)})
	}
	return p
}

func hexes(list []commitment.Hash) []client.Hex {
	out := []client.Hex{}
	for _, h := range list {
		out = append(out, h.String())
	}
	return out
}

// tells has the service answer with what edit makes of the liar's answers.
func (s *service) tells(t *testing.T, l *liar, edit func(*client.Published)) {
	s.cheats(func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if !strings.HasSuffix(r.URL.Path, "/statements") || r.URL.Path == "/v1/statements" {
			return false
		}
		seen, _ := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64) // absent: 0
		p := l.answer(t, seen)
		if edit != nil {
			edit(&p)
		}
		w.Header().Set("Content-Type", "application/json")
		must(t, json.NewEncoder(w).Encode(p))
		return true
	})
}

// as changes the one statement of a type of a match.
func as[S commitment.Statement](match string, change func(S) commitment.Statement) func([]string) []string {
	return func(texts []string) []string {
		for i, text := range texts {
			st, err := commitment.Parse([]byte(text))
			if s, ok := st.(S); err == nil && ok && strings.Contains(text, match) {
				texts[i] = string(change(s).Text())
			}
		}
		return texts
	}
}

func unchanged(texts []string) []string { return texts }

// A house that shows what it must not gets no link, and the page says in words
// what was wrong.
func TestDishonest(t *testing.T) {
	t.Parallel()
	stranger := commitment.Sum([]byte("stranger"))
	other, _, err := commitment.NewKey(origin, rand.Reader)
	must(t, err)
	s, p := startService(t), browser.Open(t, browser.Look{})
	for n, c := range []struct {
		name, check, steps string
		released           bool // a link has left before, honestly
		open               func(*client.OpenRequest)
		lie                func(match string) func([]string) []string
		edit               func(*client.Published)
	}{
		{name: "the assign changed on the way", check: "log.inclusion", steps: "signature first !inclusion", edit: func(a *client.Published) {
			for i, st := range a.Statements {
				if strings.HasPrefix(st.Text, "fairdice/v1/assign\n") {
					a.Statements[i].Text = strings.Replace(st.Text, "\nsegment 1\n", "\nsegment 2\n", 1)
				}
			}
		}},
		{name: "the checkpoint forked", check: "log.consistency", steps: "signature !consistency", released: true, lie: func(match string) func([]string) []string {
			return as(match, func(a commitment.Assign) commitment.Statement { a.Number += 1; return a })
		}},
		{name: "a shorter log", check: "log.consistency", steps: "signature !consistency", released: true, lie: func(string) func([]string) []string {
			return func(texts []string) []string { return texts[:len(texts)-1] }
		}},
		{name: "the wrong commit number", check: "statements.refs", steps: "signature first inclusion open !assign", lie: func(match string) func([]string) []string {
			return as(match, func(a commitment.Assign) commitment.Statement { a.Number += 1; return a })
		}},
		{name: "dice sealed after they were assigned", check: "log.order", steps: "signature first inclusion open !assign", lie: func(match string) func([]string) []string {
			return func(texts []string) []string {
				i := slices.IndexFunc(texts, func(text string) bool {
					return strings.HasPrefix(text, "fairdice/v1/assign\n") && strings.Contains(text, match)
				})
				_, rest, _ := strings.Cut(texts[i], "\nsequence ")
				id, _, _ := strings.Cut(rest, "\n")
				j := slices.IndexFunc(texts, func(text string) bool {
					return strings.HasPrefix(text, "fairdice/v1/commit\n") && strings.Contains(text, id)
				})
				commit := texts[j]
				return append(slices.Delete(texts, j, j+1), commit)
			}
		}},
		{name: "other terms than agreed", check: "statements.refs", steps: "signature first inclusion !open", open: func(o *client.OpenRequest) {
			o.Options = new(strings.Replace(single, "single", "points:9", 1))
		}},
		{name: "another opponent", check: "statements.refs", steps: "signature first inclusion !open", open: func(o *client.OpenRequest) { o.B.Token = "eve" }},
		{name: "the anchor replaced", check: "level", steps: "signature first inclusion !open", lie: func(match string) func([]string) []string {
			return as(match, func(o commitment.Open) commitment.Statement { o.AnchorA = &commitment.Anchor{Hash: stranger}; return o })
		}},
		{name: "another key", check: "log.signature", steps: "!signature", edit: func(a *client.Published) {
			signer, err := commitment.NewSigner(other)
			must(t, err)
			c, err := translog.ReadCheckpoint(a.Checkpoint)
			must(t, err)
			a.Checkpoint, err = translog.SignCheckpoint(c, signer)
			must(t, err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.cheats(nil)
			must(t, s.house.TopUp(t.Context(), tenant, "random", 4))
			d := sitDown(t, s, p, matchID(n+1), agreed, c.open)
			d.begin(1)
			if c.released {
				p.Click("#release")
				p.Shown("[data-part=released]")
			}
			before := len(s.linksTaken())
			change := unchanged
			if c.lie != nil {
				change = c.lie(d.match)
			}
			s.tells(t, s.lie(t, d.match, change), c.edit)
			p.Click("#release")
			p.Shown("[data-part=refused]")
			p.Shown("[data-check='" + c.check + "']")
			if got := d.steps(); got != c.steps {
				t.Errorf("the page shows the steps %q, want %q: %s", got, c.steps, browser.Eval[string](p, `document.querySelector('#reason').textContent`))
			}
			if links := s.linksTaken()[before:]; len(links) != 0 {
				t.Errorf("links arrived: %v", links)
			}
			// The evidence is what the house has said, and no secret.
			evidence := browser.Eval[string](p, `new Promise((done) => {
				const make = URL.createObjectURL
				URL.createObjectURL = (blob) => { blob.text().then(done); URL.createObjectURL = make; return make(blob) }
				document.querySelector('#evidence').click()
			})`)
			if !strings.Contains(evidence, `"check": "`+c.check+`"`) || !strings.Contains(evidence, "fairdice/v1/open") || strings.Contains(evidence, `"last"`) {
				t.Errorf("the evidence is %.400s", evidence)
			}
			p.Accessible()
		})
	}
	p.Quiet()
}
