package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairdice/api"
	"fairdice/audit"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/house"
	"fairdice/internal/plays"
	"fairdice/replay/files"
	"fairdice/rules"
)

func decoded[T any](t testing.TB, a answer) (v T) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	must(t, json.Unmarshal([]byte(a.body), &v))
	return v
}

// TestOptions: what a canonical line of the answer says opens a match, and what
// is refused for a reason is refused by the house too.
func TestOptions(t *testing.T) {
	b := newBench(t)
	all, err := b.client.Options(t.Context(), "", "")
	must(t, err)
	if len(all.Options) != 5 || all.Default != single || all.Variant != "" || len(all.Refused) != 0 || all.Language != "en" {
		t.Errorf("%+v", all)
	}
	for _, o := range all.Options {
		if o.Name == "" || len(o.Values) < 2 {
			t.Errorf("option %+v", o)
		}
		for _, v := range o.Values {
			if strings.HasPrefix(v.Name, "option.") || strings.HasPrefix(v.About, "option.") {
				t.Errorf("%s=%s has no words: %+v", o.Option, v.Value, v)
			}
		}
	}
	georgian := b.send(http.MethodGet, "/v1/options?variant=short", "", "Accept-Language", "ka-GE, en;q=0.5")
	if got := decoded[client.Options](t, georgian); got.Language != "ka" || got.Options[0].Name == all.Options[0].Name || georgian.header.Get("Content-Language") != "ka" {
		t.Errorf("in Georgian: %s", georgian.body)
	}
	for _, c := range []struct {
		variant, line, canonical string
		codes                    []string
	}{
		{"short", "crawford=on  series=points:5 raise=cube", "raise=cube stake=win series=points:5 crawford=on", nil},
		{"long-classic", "head55=off", single + " head55=off", nil},
		{"short", "stake=unborne", "raise=mars stake=unborne series=single crawford=off", nil},
		{"short", "raise=beaver series=reverse", "", []string{"raise-series", "cube-reverse"}},
		{plain(t), "raise=cube", "", []string{"cube-variant"}},
		{"short", "series=points:99 gold=1", "", []string{"series-points", "unknown-value"}},
	} {
		a := decoded[client.Options](t, b.send(http.MethodGet, "/v1/options?"+url.Values{"variant": {c.variant}, "options": {c.line}}.Encode(), ""))
		var codes []string
		for _, r := range a.Check.Reasons {
			codes = append(codes, string(r.Code))
		}
		if diff := cmp.Diff(c.codes, codes); diff != "" || a.Check.Canonical != c.canonical {
			t.Errorf("%s, %s: %q %v", c.variant, c.line, a.Check.Canonical, codes)
		}
		line := a.Check.Canonical
		if line == "" {
			line = c.line
		}
		_, err := b.client.OpenMatch(t.Context(), newID(t), client.OpenRequest{
			Variant: c.variant, Mode: client.ModeRandom, Options: &line, A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
		}, 0)
		if (err == nil) != (a.Check.Canonical != "") {
			t.Errorf("%s, %s: opening a match: %v", c.variant, line, err)
		}
	}
	for _, q := range []string{"?options=raise%3Dcube", "?variant=chess", "?variant=short&options=" + strings.Repeat("x", 257)} {
		if a := b.send(http.MethodGet, "/v1/options"+q, ""); a.code() != "malformed-request" {
			t.Errorf("%s: %d %s", q, a.status, a.body)
		}
	}
}

// TestPlays: the answers are those of the program, line by line.
func TestPlays(t *testing.T) {
	b := newBench(t)
	v, err := rules.Lookup("short")
	must(t, err)
	id, err := v.Rules.PositionID(v.Rules.Start(), rules.White)
	must(t, err)
	questions := []string{
		`{"pid":"` + id + `","dice":[3,1]}`, `{"pid":"` + id + `","dice":[5,5]}`, `{"pid":"` + id + `","dice":"31"}`, `{"pid":"?","dice":[1,2]}`, `{}`,
	}
	var want bytes.Buffer
	_, err = plays.Serve(strings.NewReader(strings.Join(questions, "\n")), &want, plays.Options{Variant: "short", PID: true})
	must(t, err)
	a := b.send(http.MethodPost, "/v1/plays", `{"variant":"short","pid":true,"requests":[`+strings.Join(questions, ", \n")+`]}`)
	got := decoded[struct{ Answers []json.RawMessage }](t, a)
	var lines []string
	for _, l := range got.Answers {
		lines = append(lines, string(l)+"\n")
	}
	if diff := cmp.Diff(want.String(), strings.Join(lines, "")); diff != "" {
		t.Errorf("(-program +service)\n%s", diff)
	}
	long := `{"dice":[1,2],"x":"` + strings.Repeat("x", plays.MaxLine) + `"}`
	for name, c := range map[string]struct{ body, code string }{
		"none":         {`{"requests":[]}`, "malformed-request"},
		"too many":     {`{"requests":[` + strings.Repeat("{},", 100) + `{}]}`, "malformed-request"},
		"no object":    {`{"requests":[1]}`, "malformed-request"},
		"variant":      {`{"variant":"chess","requests":[{}]}`, "malformed-request"},
		"too long":     {`{"variant":"short","requests":[{},` + long + `,{}]}`, "malformed-request"},
		"given twice":  {`{"requests":[{"dice":[1,2],"dice":[3,4]}]}`, "malformed-request"},
		"large":        {`{"requests":[{}],"x":"` + strings.Repeat("x", 256<<10) + `"}`, "too-large"},
		"other member": {`{"requests":[{}],"x":1}`, "malformed-request"},
		"null":         {`{"requests":null}`, "malformed-request"},
	} {
		if a := b.send(http.MethodPost, "/v1/plays", c.body); a.code() != c.code {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
	}
}

const session = "; [Variant \"short\"]\n 1 point match\n\n Game 1\n ada : 0                          ben : 0\n  1) 31: 8/5 6/5                 64: 24/14\n"

// TestVerify: the answer is, byte for byte, what the program prints.
func TestVerify(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, nil)
	must(t, second(b.client.CloseGame(t.Context(), id, 1, 0)))
	bundle, err := b.client.Bundle(t.Context(), id)
	must(t, err)
	record, err := b.client.Record(t.Context(), id, 1, "")
	must(t, err)
	_, lines, _ := strings.Cut(record.Record, "\n\n")
	broken := bytes.Replace(bundle, []byte(`"text"`), []byte(`"Text"`), 1)
	other := strings.Replace(b.logKey, "dice.example", "mice.example", 1)
	mars, err := files.Check("body", strings.NewReader(lines), files.Options{Variant: new(variant(t, "short"))}).JSON()
	must(t, err)
	verified := func(data []byte, key string) string {
		out, err := audit.Verify(data, audit.Trust{Key: key, Now: b.clock()}).JSON()
		must(t, err)
		return string(out)
	}
	checked := func(data string) string {
		out, err := files.Check("body", strings.NewReader(data), files.Options{}).JSON()
		must(t, err)
		return string(out)
	}
	for _, c := range []struct{ name, body, query, verdict, want string }{
		{"bundle, own key", string(bundle), "?key=own", "verified", verified(bundle, b.logKey)},
		{"bundle, named key", "\n " + string(bundle), "?key=" + url.QueryEscape(b.logKey), "verified", verified(bundle, b.logKey)},
		{"bundle, no key", string(bundle), "", "incomplete", verified(bundle, "")},
		{"bundle, another key", string(bundle), "?key=" + url.QueryEscape(b.logKey[:len(b.logKey)-2]+"AA"), "", ""},
		{"broken bundle", string(broken), "", "malformed", verified(broken, "")},
		{"record", record.Record, "", "verified", checked(record.Record)},
		{"record without header", lines, "?variant=short", "verified", string(mars)},
		{"record without variant", lines, "", "malformed", checked(lines)},
		{"mat", session, "", "incomplete", checked(session)},
		{"sgf", "(;FF[4]GM[6]", "", "malformed", checked("(;FF[4]GM[6]")},
		{"nonsense", "\x00\xff", "", "malformed", checked("\x00\xff")},
	} {
		a := b.send(http.MethodPost, "/v1/verify"+c.query, c.body, "Authorization", "", "Content-Type", "application/octet-stream")
		if c.want == "" {
			continue
		}
		if a.status != http.StatusOK || a.body != c.want || !strings.Contains(a.body, `"verdict":"`+c.verdict+`"`) {
			t.Errorf("%s: %d\n%s", c.name, a.status, cmp.Diff(c.want, a.body))
		}
	}
	if said, err := b.client.Verify(t.Context(), bundle, "own", ""); err != nil || string(said) != verified(bundle, b.logKey) {
		t.Errorf("the client's way: %s %v", said, err)
	}
	for _, c := range []struct{ name, body, query, code string }{
		{"empty", "", "", "malformed-request"},
		{"no key", string(bundle), "?key=x", "malformed-request"},
		{"key with the wrong hash", string(bundle), "?key=" + url.QueryEscape(other), "malformed-request"},
		{"plus as it stands", string(bundle), "?key=" + b.logKey, "malformed-request"},
		{"variant of a bundle", string(bundle), "?variant=short", "malformed-request"},
		{"key of a record", record.Record, "?key=own", "malformed-request"},
		{"variant", lines, "?variant=chess", "malformed-request"},
		{"options", lines, "?variant=short&options=raise%3Dcube", "malformed-request"},
		{"too large", strings.Repeat("x", api.MaxFile+1), "", "too-large"},
	} {
		if a := b.send(http.MethodPost, "/v1/verify"+c.query, c.body); a.code() != c.code {
			t.Errorf("%s: %d %.300s", c.name, a.status, a.body)
		}
	}
}

// plain is a variant without a cube.
func plain(t testing.TB) string {
	for _, v := range rules.Variants() {
		if !v.Rules.Cube() {
			return v.ID
		}
	}
	t.Fatal("every variant has a cube")
	return ""
}

func variant(t testing.TB, id string) rules.Variant {
	v, err := rules.Lookup(id)
	must(t, err)
	return v
}

// TestWorkRate: who asks for more work than his share is told when to come again.
func TestWorkRate(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.WorkRate = 3 })
	for i := range 4 {
		a := b.send(http.MethodGet, "/v1/statistics", "")
		if i < 3 && a.status != http.StatusOK || i == 3 && (a.code() != "rate-limited" || a.header.Get("Retry-After") == "") {
			t.Errorf("request %d: %d %s", i+1, a.status, a.body)
		}
	}
	if a := b.send(http.MethodGet, "/v1/overdue", ""); a.status != http.StatusOK {
		t.Errorf("what costs nothing is limited: %d %s", a.status, a.body)
	}
}

// TestOverduePages: what the house owes is listed to everybody, page by page.
func TestOverduePages(t *testing.T) {
	b := newBench(t)
	if a := b.send(http.MethodGet, "/v1/overdue", ""); a.body != "{\"overdue\":[]}\n" {
		t.Errorf("at first: %s", a.body)
	}
	id := b.openL0("short")
	b.pass(house.AssignedLimit + time.Second)
	page, err := b.as("").Overdue(t.Context(), 0)
	must(t, err)
	if len(page.Overdue) != 1 || page.Overdue[0].Match != id || page.Overdue[0].Game != 1 || page.Next != 0 {
		t.Errorf("a game: %+v", page)
	}
	b.pass(house.FreeLimit)
	seen := map[string]bool{}
	for path, n := "/v1/overdue?limit=7", 0; ; n++ {
		page := decoded[client.OverduePage](t, b.send(http.MethodGet, path, ""))
		for _, o := range page.Overdue {
			if seen[o.Sequence] {
				t.Errorf("%s is listed twice", o.Sequence)
			}
			seen[o.Sequence] = true
		}
		if page.Next == 0 {
			break
		}
		path = "/v1/overdue?limit=7&cursor=" + string(must2(json.Marshal(page.Next)))
	}
	if len(seen) != 42 { // 41 free ones and that of the game
		t.Errorf("%d overdue", len(seen))
	}
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestStatistics: the counts are those of the receipts that were answered.
func TestStatistics(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, nil)
	if st := decoded[client.Statistics](t, b.send(http.MethodGet, "/v1/statistics", "")); len(st.Groups) != 0 || st.Games != 0 {
		t.Errorf("before the close: %+v", st)
	}
	must(t, second(b.client.CloseGame(t.Context(), id, 1, 0)))
	record, err := b.client.Record(t.Context(), id, 1, "")
	must(t, err)
	want := map[client.Stream]map[string]int64{client.StreamOpening: {}, client.StreamA: {}, client.StreamB: {}}
	for _, r := range record.Receipts {
		_, rest, _ := strings.Cut(r, "\nstream ")
		stream, rest, _ := strings.Cut(rest, "\n")
		_, rest, _ = strings.Cut(rest, "\ndice ")
		dice, _, _ := strings.Cut(rest, "\n")
		want[client.Stream(stream)][dice]++
	}
	st, err := b.as("").Statistics(t.Context(), tenant, client.ModeRandom)
	must(t, err)
	if st.Games != 1 || st.Uncounted != 0 || len(st.Groups) != 1 || st.Groups[0].Closed != 1 || len(st.NotTested) == 0 {
		t.Fatalf("%+v", st)
	}
	for _, s := range st.Groups[0].Streams {
		got, rolls, doubles := map[string]int64{}, int64(0), int64(0)
		for i, n := range s.Pairs {
			rolls += n
			if i/6 == i%6 {
				doubles += n
			}
			if n > 0 {
				got[string([]byte{byte('1' + i/6), ' ', byte('1' + i%6)})] = n
			}
		}
		if diff := cmp.Diff(want[s.Stream], got); diff != "" || s.Rolls != rolls || s.Doubles != doubles {
			t.Errorf("stream %s: %d rolls, %d doubles\n%s", s.Stream, s.Rolls, s.Doubles, diff)
		}
	}
	if a := b.send(http.MethodGet, "/v1/statistics?mode=chess", ""); a.code() != "malformed-request" {
		t.Errorf("%d %s", a.status, a.body)
	}
}
