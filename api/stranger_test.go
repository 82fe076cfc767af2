package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairdice/api"
	"fairdice/client/player"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/store"
)

// tried is how a stranger asks for something of another tenant: a path with
// the names of what is not his, and a body that its owner might send.
type tried struct {
	path, body string
	// own: the address means the caller's own things, whoever calls.
	own bool
}

// trials has every operation of the document that names a match or a sequence
// or needs a key; TestEveryOperationIsTried holds it against the document.
var trials = map[string]tried{
	"openMatch":    {path: "/v1/matches/{match}", body: `{"variant":"short","mode":"random","options":"` + single + `","a":{"token":"ada"},"b":{"token":"ben"}}`},
	"getMatch":     {path: "/v1/matches/{match}"},
	"abandonMatch": {path: "/v1/matches/{match}/abandon"},

	"watchMatch":    {path: "/v1/matches/{match}/feed"},
	"listMatches":   {path: "/v1/matches", own: true},
	"getStatements": {path: "/v1/matches/{match}/statements"},
	"getBundle":     {path: "/v1/matches/{match}/bundle"},

	"nextGame":     {path: "/v1/matches/{match}/games/1"},
	"putLink":      {path: "/v1/matches/{match}/games/1/segments/1/links/a", body: `{"link":"` + anyHash + `"}`},
	"putThrow":     {path: "/v1/matches/{match}/games/1/segments/1/links/a/0", body: `{"link":"` + anyHash + `"}`},
	"drawRoll":     {path: "/v1/matches/{match}/games/1/segments/1/rolls/opening/0"},
	"appendEvents": {path: "/v1/matches/{match}/games/1/events/2", body: `{"lines":["timeout A"]}`},
	"closeGame":    {path: "/v1/matches/{match}/games/1/close"},
	"abortGame":    {path: "/v1/matches/{match}/games/1/abort", body: `{"reason":"crash"}`},
	"getRecord":    {path: "/v1/matches/{match}/games/1/record"},

	"sealSequence":   {path: "/v1/modes/random/sequences/3", own: true},
	"getSequence":    {path: "/v1/sequences/{sequence}"},
	"retireSequence": {path: "/v1/sequences/{sequence}/retire", body: `{"reason":"test"}`},
}

var anyHash = strings.Repeat("ab", 32)

// guarded is an operation of the document.
type guarded struct {
	id, method string
	public     bool     // nobody needs to show anything
	token      bool     // a view token opens it too
	scopes     []string // one of which a key needs; nil: a key is not asked for
}

func guardedBy(t testing.TB) (list []guarded) {
	t.Helper()
	doc, err := document()
	must(t, err)
	for _, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Security == nil {
				t.Errorf("%s does not say what it needs", op.OperationID)
				continue
			}
			o := guarded{id: op.OperationID, method: method, public: len(*op.Security) == 0}
			for _, need := range *op.Security {
				_, token := need["viewToken"]
				o.token = o.token || token
				o.scopes = append(o.scopes, need["apiKey"]...)
			}
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b guarded) int { return strings.Compare(a.id, b.id) })
	return list
}

// An operation that is added to the document without a row here fails.
func TestEveryOperationIsTried(t *testing.T) {
	doc, err := document()
	must(t, err)
	var want, have []string
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if strings.Contains(path, "{match}") || strings.Contains(path, "{sequence}") || op.Security != nil && len(*op.Security) > 0 {
				want = append(want, op.OperationID)
			}
		}
	}
	for id := range trials {
		have = append(have, id)
	}
	slices.Sort(want)
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("operations of the document (-) and those that are tried (+):\n%s", diff)
	}
}

// at fills in what the path names.
func (a tried) at(match, sequence string) string {
	return strings.NewReplacer("{match}", match, "{sequence}", sequence).Replace(a.path)
}

// words is an answer without the id of its request and without the names that
// the caller gave himself.
func words(a answer, names ...string) string {
	var said any
	if json.Unmarshal([]byte(a.body), &said) != nil {
		return a.body
	}
	if m, ok := said.(map[string]any); ok {
		delete(m, "instance")
	}
	text, _ := json.Marshal(said)
	out := string(text)
	for _, n := range names {
		out = strings.ReplaceAll(out, n, "NAME")
	}
	return strconv.Itoa(a.status) + " " + out
}

// everything of a tenant, as the store has it.
func (b *bench) everything(match string) (all []any) {
	b.t.Helper()
	must(b.t, b.store.View(b.t.Context(), func(r store.Reader) error {
		row, err := r.Match(match)
		must(b.t, err)
		games, err := r.Games(match)
		must(b.t, err)
		all = append(all, row, games)
		for _, g := range games {
			segments, err := r.Segments(match, g.Number)
			must(b.t, err)
			rolls, err := r.Rolls(match, g.Number)
			must(b.t, err)
			lines, err := r.Events(match, g.Number, 1)
			must(b.t, err)
			all = append(all, segments, rolls, lines)
		}
		sequences, err := r.Sequences(tenant, "random", 0, 100)
		all = append(all, sequences)
		return err
	}))
	return all
}

// A tenant with a key of all scopes tries every operation on what is another's:
// he changes nothing, and the words are those for what does not exist. What
// is public he is told in the words that everybody is told.
func TestForeignTenant(t *testing.T) {
	b := newBench(t) // the stream of a match that has ended ends by itself, and is compared whole
	ctx := t.Context()
	must(t, b.house.AddTenant(ctx, "rival"))
	rival, err := b.house.IssueKey(ctx, "rival", "", house.Scopes())
	must(t, err)
	// A roll was drawn, a move is due: every kind of thing is there to be had.
	id := b.openL0("short")
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueStage })
	// Of a match that has ended, what was answered to its owner stays his too.
	ended := b.openL0("short")
	b.playOn(ended, 1, setting(t, single), [2]*player.Player{}, nil)
	must(t, second(b.client.CloseGame(ctx, ended, 1, 0)))
	page, err := b.client.Sequences(ctx, tenant, "random", "free", 0)
	must(t, err)
	free, gone := page.Sequences[0].Sequence, page.Sequences[1].Sequence
	must(t, second(b.client.Retire(ctx, gone, "test", 0)))

	as := []string{"Authorization", "Bearer " + rival}
	for _, o := range guardedBy(t) {
		a, ok := trials[o.id]
		if !ok || a.own {
			continue
		}
		t.Run(o.id, func(t *testing.T) {
			for _, target := range []struct{ match, sequence string }{{id, free}, {ended, gone}} {
				before := b.everything(target.match)
				got := b.send(o.method, a.at(target.match, target.sequence), a.body, as...)
				switch {
				case o.public, o.token && target.match == ended:
					anybody := b.send(o.method, a.at(target.match, target.sequence), a.body, "Authorization", "")
					if diff := cmp.Diff(words(anybody), words(got)); diff != "" {
						t.Errorf("a foreign key is told (+) what nobody else is (-):\n%s", diff)
					}
				case o.id == "openMatch": // the match is public, its name is taken
					if got.status != http.StatusConflict || strings.Contains(got.body, "viewToken") {
						t.Errorf("the name of another's match: %d %s", got.status, got.body)
					}
				default:
					nobodys := newID(t)
					none := b.send(o.method, a.at(nobodys, nobodys), a.body, as...)
					if want := words(none, nobodys); got.status != http.StatusNotFound && got.status != http.StatusForbidden && got.status != http.StatusUnauthorized ||
						!o.token && words(got, target.match, target.sequence) != want {
						t.Errorf("what is another's: %s\nwhat is nobody's: %s", words(got, target.match, target.sequence), want)
					}
				}
				if diff := cmp.Diff(before, b.everything(target.match)); diff != "" {
					t.Errorf("a stranger has changed something:\n%s", diff)
				}
			}
		})
	}
}

// Each scope alone does exactly the operations that the document gives it, a
// caller without a key those that it gives to all.
func TestScopeMatrix(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.StreamLife = 10 * time.Millisecond })
	ctx := t.Context()
	holders := map[string]string{"": ""}
	for _, s := range house.Scopes() {
		key, err := b.house.IssueKey(ctx, tenant, s, []string{s})
		must(t, err)
		holders[s] = "Bearer " + key
	}
	page, err := b.client.Sequences(ctx, tenant, "random", "free", 0)
	must(t, err)
	last := page.Sequences[len(page.Sequences)-1].Sequence
	shared := b.openL0("short")
	for _, o := range guardedBy(t) {
		a, ok := trials[o.id]
		if !ok {
			continue
		}
		t.Run(o.id, func(t *testing.T) {
			for scope, key := range holders {
				match := shared
				switch o.id {
				case "openMatch":
					match = newID(t)
				case "abandonMatch", "abortGame": // nothing could be tried after them
					match = b.openL0("short")
				}
				got := b.send(o.method, a.at(match, last), a.body, "Authorization", key)
				may := o.public || slices.Contains(o.scopes, scope) || scope == house.ScopeAdmin
				want := "" // anything else
				switch {
				case !may && scope == "":
					want = "unauthorized"
				case !may:
					want = "forbidden"
				}
				if code := got.code(); want != "" && code != want || want == "" && (code == "unauthorized" || code == "forbidden") {
					t.Errorf("scope %q: %d %s, want %q", scope, got.status, got.body, want)
				}
			}
		})
	}
}
