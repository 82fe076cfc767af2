package api_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
)

// operation is one of the document.
type operation struct {
	method, path string
	params       openapi3.Parameters
	*openapi3.Operation
}

// operations are all of the document, in a fixed order.
func operations(t testing.TB) (list []operation) {
	doc, err := document()
	must(t, err)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			list = append(list, operation{method, path, append(slices.Clone(item.Parameters), op.Parameters...), op})
		}
	}
	slices.SortFunc(list, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return list
}

// weights are of operations without which a sequence of requests goes nowhere.
var weights = map[string]int{"openMatch": 4, "nextGame": 2, "putLink": 3, "putThrow": 2, "drawRoll": 4, "appendEvents": 8, "closeGame": 2, "getMatch": 2, "verifyFile": 4}

// explorer makes requests out of the document: by the schemas of parameters
// and bodies, with values that earlier answers have brought, and now and then
// against all of it. Whatever it chooses it asks pick for, so that a sequence
// of requests is a sequence of numbers.
type explorer struct {
	*bench
	pick     func(n int) int
	ops      []operation // by weight
	pools    map[string][]string
	files    [][]byte // bundles and records
	places   map[string]*place
	chains   map[string]*commitment.Chain // by anchor
	keys     []string
	seat     int    // whose link is next
	state    string // fingerprint after the last request
	answered map[string]int
	refused  map[string]int
}

// place is how far a match has got, as its last answer said.
type place struct {
	client.Match
	anchors [2]string
	view    string
	legal   []string // lines that the last refusal would have accepted
}

// due is an operation that may well be served now.
func (p *place) due() string {
	if p.State != client.MatchStateOpen {
		return "getBundle"
	}
	if len(p.Games) == 0 {
		return "nextGame"
	}
	g := p.Games[len(p.Games)-1]
	switch {
	case g.State == client.GameStateAwaitingLinks:
		return "putLink"
	case g.State == client.GameStateOver:
		return "closeGame"
	case g.State != client.GameStatePlaying:
		return "nextGame"
	case p.Mode == client.ModeLive && g.Draw.Throw > 0 && !(g.Links[0] && g.Links[1]):
		return "putThrow"
	case p.Profile == "dice-only" || g.Draw.Throw > 0:
		return "drawRoll"
	}
	return "appendEvents"
}

// strange are values that no schema of the document allows everywhere.
var strange = []any{"", " ", "../..", "%00", "null", "-1", "1e9", "9223372036854775808", "\u0000", "ａ", "A\nB", "\xff\xfe",
	strings.Repeat("x", 5000), -1, 0, 1.5, 1e300, int64(1) << 62, true, nil, []any{}, map[string]any{}}

func explore(b *bench, pick func(n int) int) *explorer {
	b.t.Helper()
	ctx := b.t.Context()
	x := &explorer{bench: b, pick: pick, pools: map[string][]string{}, places: map[string]*place{}, chains: map[string]*commitment.Chain{},
		answered: map[string]int{}, refused: map[string]int{}}
	for _, op := range operations(b.t) {
		for range max(1, weights[op.OperationID]) {
			x.ops = append(x.ops, op)
		}
	}
	must(b.t, b.house.AddTenant(ctx, "rival"))
	issue := func(tenant string, scopes ...string) string {
		key, err := b.house.IssueKey(ctx, tenant, "fuzz", scopes)
		must(b.t, err)
		return key
	}
	x.keys = []string{issue("rival", house.Scopes()...), issue(tenant, house.ScopeRead), "", "fd_" + tenant + "_nothing", "\x00"}
	for range 24 {
		x.keys = append(x.keys, b.key)
	}
	for _, mode := range []string{"balanced", "live"} {
		must(b.t, b.house.TopUp(ctx, tenant, mode, 12))
	}
	throws := make([]commitment.Dice, 6+12+12)
	for i := range throws {
		throws[i] = commitment.Dice{D1: uint8(1 + i%6), D2: uint8(1 + i*5%6)}
	}
	imported, err := b.house.ImportThrows(ctx, tenant, throws)
	must(b.t, err)
	for n := range 12 {
		c, err := commitment.NewChain(rand.NewChaCha8([32]byte{byte(n)}), 64)
		must(b.t, err)
		x.chains[c.Anchor().String()] = c
	}
	x.pools = map[string][]string{
		"mode":    {"random", "random", "random", "balanced", "live"},
		"tenant":  {tenant, "rival", "nobody"},
		"token":   {"ada", "ben", "eva"},
		"variant": {"short", "tavla", "fevga", "long-classic", "chess"},
		"options": {single, "raise=cube stake=win series=points:3 crawford=on", "raise=none", "series=reverse raise=cube"},
		"lines":   {"timeout A", "timeout B", "resign A 1", "resign B 1", "end A 1", "end B 1", "double A", "take B"},
		"reason":  {"crash", "late"},
		"key":     {"own", b.logKey},
		"hash":    {imported.Archives[0].Hash.String(), strings.Repeat("ab", 32)},
		"level":   {"0", "entries"}, "tile": {"000.p/1", "000"},
	}
	x.files = [][]byte{[]byte("; [Site \"x\"]\n3 point match\n\nGame 1\n"), []byte("(;FF[4]GM[6])"), []byte("{}"), []byte("opening 3 1\nmove A 8/5 6/5\n")}
	x.state = x.fingerprint()
	return x
}

// run makes n requests.
func (x *explorer) run(n int) {
	for range n {
		x.request()
		if x.t.Failed() {
			return
		}
	}
}

// rarely is true once in n times.
func (x *explorer) rarely(n int) bool { return x.pick(n) == n-1 }

func pickOf[T any](x *explorer, list []T) T { return list[x.pick(len(list))] }

func (x *explorer) request() {
	op := pickOf(x, x.ops)
	var at *place
	if len(x.places) > 0 {
		at = x.places[pickOf(x, slices.Sorted(maps.Keys(x.places)))]
	}
	if at != nil && !x.rarely(4) {
		i := slices.IndexFunc(x.ops, func(o operation) bool { return o.OperationID == at.due() })
		op = x.ops[i]
	}
	values := x.fitting(op, at)
	if op.OperationID == "openMatch" {
		values["match"] = newID(x.t)
	}
	path, query, headers := op.path, url.Values{}, []string{"Authorization", x.authorization()}
	opened := ""
	for _, p := range op.params {
		p := p.Value
		text, ok := values[p.Name]
		if !ok || x.rarely(50) {
			text = fmt.Sprint(x.value(p.Name, p.Schema, 0))
		}
		switch p.In {
		case "path":
			if p.Name == "match" {
				opened = text
			}
			if p.Name != "tile" { // which may have slashes
				text = url.PathEscape(text)
			}
			path = strings.Replace(path, "{"+p.Name+"}", text, 1)
		case "query":
			if p.Required && !x.rarely(25) || x.rarely(3) {
				query.Add(p.Name, text)
			}
			if x.rarely(60) {
				query.Add(p.Name, text)
			}
		case "header":
			if x.rarely(3) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
				headers = append(headers, p.Name, text)
			}
		}
	}
	if x.rarely(50) {
		query.Add("surplus", "1")
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var body []byte
	if op.RequestBody != nil {
		var kind string
		body, kind = x.body(op, at)
		headers = append(headers, "Content-Type", kind)
		if op.OperationID == "closeGame" && at != nil && at.Profile == "refereed" && !x.rarely(8) {
			body = nil // the record is there
		}
	} else if x.rarely(30) {
		body = []byte(`{"surplus":1}`)
	}
	a := x.send(op.method, path, string(body), headers...)
	what := fmt.Sprintf("%s %s %.300q: %d %.600s", op.method, path, body, a.status, a.body)
	switch {
	case a.status >= http.StatusInternalServerError && (a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == ""):
		x.t.Errorf("%s", what)
	case len(a.body) > 1<<20:
		x.t.Errorf("%d bytes: %s", len(a.body), what)
	case a.status >= 400 && a.status != http.StatusConflict && a.status < 500:
		if after := x.fingerprint(); after != x.state {
			x.t.Errorf("a refusal has changed the store: %s\nbefore %s\nafter  %s", what, x.state, after)
		}
	case op.method == http.MethodPut:
		x.state = x.fingerprint() // a draw that needs another segment assigns it before it is refused
	}
	if a.status >= 400 {
		x.refused[op.OperationID]++
	} else {
		x.answered[op.OperationID]++
	}
	if x.t.Failed() {
		x.t.Fatal(what)
	}
	x.learn(op, opened, body, a)
}

// authorization is a key, one of another tenant, one that may only read, none, or nonsense.
func (x *explorer) authorization() string {
	key := pickOf(x, x.keys)
	switch {
	case strings.ContainsRune(key, 0):
		return "Basic eA=="
	case key == "":
		return ""
	}
	return "Bearer " + key
}

var startPosition = func() map[string]any {
	side := map[string]any{"points": map[string]int{"24": 2, "13": 5, "8": 3, "6": 5}}
	return map[string]any{"white": side, "black": side}
}()

// fitting are the parameters of a request that may well be served now.
func (x *explorer) fitting(op operation, at *place) map[string]string {
	values := map[string]string{}
	if at == nil {
		return values
	}
	x.seat = x.pick(2)
	values["match"], values["seat"] = at.Match.Match, []string{"a", "b"}[x.seat]
	if at.view != "" {
		values["view"], values["X-View-Token"] = at.view, at.view
	}
	values["game"] = strconv.Itoa(len(at.Games))
	if op.OperationID == "nextGame" || len(at.Games) == 0 {
		values["game"] = strconv.Itoa(len(at.Games) + min(1, x.pick(8)))
	}
	if len(at.Games) == 0 {
		return values
	}
	g := at.Games[len(at.Games)-1]
	values["segment"], values["line"] = strconv.Itoa(g.Segments), strconv.Itoa(g.Lines+1)
	values["stream"], values["index"], values["throw"] = string(g.Draw.Stream), strconv.Itoa(g.Draw.Index), strconv.Itoa(max(1, g.Draw.Throw))
	if g.Draw.Segment > 0 && op.OperationID == "drawRoll" {
		values["segment"] = strconv.Itoa(g.Draw.Segment)
	}
	if at.Mode == client.ModeLive && op.OperationID == "putThrow" && !x.rarely(4) { // the seat on roll first
		x.seat = 0
		if g.Draw.Stream == client.StreamB != (g.Links[0] || g.Links[1]) {
			x.seat = 1
		}
		values["seat"] = []string{"a", "b"}[x.seat]
	}
	if values["stream"] == "" { // dice-only: any stream is due
		stream := x.pick(3)
		values["stream"], values["index"] = []string{"opening", "a", "b"}[stream], strconv.Itoa(g.Rolls[stream])
	}
	return values
}

// body is one by the schema, or something else.
func (x *explorer) body(op operation, at *place) ([]byte, string) {
	media := op.RequestBody.Value.Content["application/json"]
	if media == nil { // a file
		data := slices.Clone(pickOf(x, x.files))
		for range x.pick(4) {
			if i := x.pick(256) * (len(data)/256 + 1); i < len(data) {
				data[i] = byte(x.pick(256))
			}
		}
		return data, pickOf(x, []string{"application/json", "text/plain", "application/octet-stream", "application/x-go-sgf"})
	}
	value := x.value("", media.Schema, 0)
	if object, ok := value.(map[string]any); ok && at != nil && (op.OperationID == "putLink" || op.OperationID == "putThrow") && !x.rarely(8) {
		if c := x.chains[at.anchors[x.seat]]; c != nil {
			if link, err := c.Link(at.Links[x.seat] + 1); err == nil {
				object["link"] = link.String()
			}
		}
	}
	if object, ok := value.(map[string]any); ok && op.OperationID == "openMatch" && !x.rarely(4) {
		x.playable(object)
	}
	if object, ok := value.(map[string]any); ok && op.OperationID == "appendEvents" && at != nil && len(at.legal) > 0 && !x.rarely(4) {
		object["lines"] = []string{pickOf(x, at.legal)}
	}
	if object, ok := value.(map[string]any); ok && op.OperationID == "listPlays" && !x.rarely(8) {
		object["requests"] = []map[string]any{{"variant": "short", "position": startPosition, "dice": []any{1 + x.pick(6), x.value("dice", &openapi3.SchemaRef{Value: openapi3.NewIntegerSchema().WithMin(1)}, 0)}}}
	}
	data, err := json.Marshal(value)
	must(x.t, err)
	switch x.pick(24) {
	case 0:
		data = data[:len(data)/2]
	case 1:
		data = append(data, data...)
	case 2:
		return data, "text/plain"
	case 3:
		data = bytes.Replace(data, []byte(":"), []byte(`:1,"x":`), 1)
	}
	return data, "application/json"
}

// playable makes the terms of a match go together.
func (x *explorer) playable(open map[string]any) {
	open["variant"], open["options"] = pickOf(x, []string{"short", "tavla", "long-classic"}), single
	open["mode"] = pickOf(x, []string{"random", "random", "random", "balanced", "live"})
	if !x.rarely(4) {
		open["profile"] = "refereed"
	}
	delete(open, "beacon")
	delete(open, "surplus")
	if open["mode"] == "live" {
		open["profile"] = "refereed"
	}
	unused := slices.DeleteFunc(slices.Sorted(maps.Keys(x.chains)), func(anchor string) bool {
		for _, p := range x.places {
			if slices.Contains(p.anchors[:], anchor) {
				return true
			}
		}
		return false
	})
	for i, seat := range []string{"a", "b"} {
		player := map[string]any{"token": []string{"ada", "ben"}[i]}
		if len(unused) > 1 && (open["mode"] == "live" || x.rarely(3)) {
			player["anchor"] = map[string]any{"hash": unused[i]}
		}
		open[seat] = player
	}
}

// value makes one by a schema. Names say which values of earlier answers may fit.
func (x *explorer) value(name string, ref *openapi3.SchemaRef, depth int) any {
	if x.rarely(60) {
		return pickOf(x, strange)
	}
	s := ref.Value
	pool := x.pools[name]
	switch {
	case s == nil || depth > 6:
		return pickOf(x, strange)
	case len(pool) > 0 && !s.Type.Is("array") && !s.Type.Is("object") && !x.rarely(8):
		text := pickOf(x, pool)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && s.Type.Is("integer") {
			return n
		}
		return text
	case len(s.Enum) > 0:
		return pickOf(x, s.Enum)
	case s.Type.Is("integer"):
		low := 0
		if s.Min != nil {
			low = int(*s.Min)
		}
		if x.rarely(12) && s.Max != nil {
			return int64(*s.Max) + int64(x.pick(2))
		}
		return low + max(0, x.pick(6)-3)
	case s.Type.Is("boolean"):
		return x.pick(2) == 0
	case s.Type.Is("array"):
		list := make([]any, max(1, x.pick(4)))
		for i := range list {
			list[i] = x.value(name, s.Items, depth+1)
		}
		return list
	case s.Type.Is("object"):
		object := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if needed := slices.Contains(s.Required, name); needed && !x.rarely(30) || !needed && x.rarely(3) {
				object[name] = x.value(name, s.Properties[name], depth+1)
			}
		}
		if x.rarely(60) {
			object["surplus"] = 1
		}
		return object
	case s.Pattern == "^[0-9a-f]{64}$":
		h := make([]byte, 32)
		h[0] = byte(x.pick(256))
		return hex.EncodeToString(h)
	case strings.HasPrefix(s.Pattern, "^[0-9a-f]{8}-"):
		return newID(x.t)
	}
	return pickOf(x, x.pools["lines"])
}

// maxPool keeps sequences of requests from forgetting what they know first.
const maxPool = 40

// learn takes over what an answer says.
func (x *explorer) learn(op operation, match string, body []byte, a answer) {
	var object map[string]any
	if json.Unmarshal([]byte(a.body), &object) != nil {
		return
	}
	x.harvest(object)
	if p := x.places[match]; p != nil && op.OperationID == "appendEvents" {
		p.legal = nil
		alternatives, _ := object["alternatives"].([]any)
		for _, line := range alternatives {
			p.legal = append(p.legal, fmt.Sprint(line))
		}
	}
	switch {
	case op.OperationID == "getBundle" && a.status == http.StatusOK:
		x.files = append(x.files[:min(len(x.files), 20)], []byte(a.body))
		return
	case op.OperationID == "getRecord" && a.status == http.StatusOK:
		x.files = append(x.files[:min(len(x.files), 20)], []byte(object["record"].(string)))
	case op.OperationID == "openMatch" && a.status == http.StatusOK && x.places[match] == nil:
		var asked client.OpenRequest
		var opened client.Opened
		must(x.t, json.Unmarshal(body, &asked))
		must(x.t, json.Unmarshal([]byte(a.body), &opened))
		p := &place{view: opened.ViewToken}
		for i, seat := range []client.Player{asked.A, asked.B} {
			if seat.Anchor != nil {
				p.anchors[i] = seat.Anchor.Hash
			}
		}
		x.places[match] = p
	}
	if p := x.places[match]; p != nil && op.method == http.MethodPut {
		m := x.send(http.MethodGet, "/v1/matches/"+match, "", "Authorization", "")
		var now client.Match
		must(x.t, json.Unmarshal([]byte(m.body), &now))
		p.Match = now
		if p.State != client.MatchStateOpen && x.rarely(2) || len(x.places) > 5 {
			delete(x.places, match) // its anchors stay spent, which is for the service to say
		}
	}
}

// harvest keeps values by the names of their members.
func (x *explorer) harvest(object map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		v := object[name]
		if name == "alternatives" {
			name = "lines"
		}
		switch v := v.(type) {
		case map[string]any:
			x.harvest(v)
		case []any:
			for _, e := range v {
				switch e := e.(type) {
				case map[string]any:
					x.harvest(e)
				case string:
					x.keep(name, e)
				}
			}
		case string:
			x.keep(name, v)
		case float64:
			if name == "number" || name == "index" && v < 1000 {
				x.keep(name, strconv.Itoa(int(v)))
			}
		}
	}
}

// harvested are the members whose values are of use as parameters and in bodies.
var harvested = map[string]bool{"match": true, "sequence": true, "lines": true, "number": true, "index": true, "canonical": true}

func (x *explorer) keep(name, value string) {
	if !harvested[name] {
		return
	}
	if name == "lines" { // the newest are the likeliest
		x.pools[name] = append([]string{value}, x.pools[name]...)[:min(maxPool, len(x.pools[name])+1)]
		return
	}
	if !slices.Contains(x.pools[name], value) && len(x.pools[name]) < maxPool {
		x.pools[name] = append(x.pools[name], value)
	}
}

// fingerprint is the state of the store that requests can change. Checkpoints
// are signed, and empty pools filled, in the background.
func (x *explorer) fingerprint() string {
	var state string
	must(x.t, x.store.View(x.t.Context(), func(r store.Reader) error {
		counts, err := r.Counts()
		if err != nil {
			return err
		}
		counts.Entries -= counts.Sequences
		counts.Checkpoints, counts.Sequences, counts.Hashes = 0, 0, 0
		state = fmt.Sprintf("%+v", counts)
		matches, err := r.Matches("", 1000)
		if err != nil {
			return err
		}
		for _, m := range matches {
			state += fmt.Sprintf(" %s:%d", m.ID, m.Version)
			games, err := r.Games(m.ID)
			if err != nil {
				return err
			}
			for _, g := range games {
				state += fmt.Sprintf("/%d", g.Version)
			}
		}
		return nil
	}))
	return state
}

// Requests made from the document alone, right ones and wrong ones, by the
// owner, a stranger and a rival: none is a failure of the service, every answer
// is one of the document (held sees to it), and what was refused because it cannot
// be understood or is not allowed has changed nothing.
func TestRandomRequests(t *testing.T) {
	b := newBench(t, anyRate)
	r := rand.New(rand.NewPCG(7, 11))
	x := explore(b, r.IntN)
	x.recorded()
	x.run(900)
	for _, id := range []string{"openMatch", "nextGame", "drawRoll", "appendEvents"} {
		if x.answered[id] == 0 {
			t.Errorf("no %s was served: the requests are too wild to test anything", id)
		}
	}
	if all := operations(t); len(x.answered) < len(all)*2/3 || len(x.refused) < len(all)/2 {
		t.Errorf("of %d operations %d were served and %d refused", len(all), len(x.answered), len(x.refused))
	}
	t.Logf("answered %v\nrefused %v", x.answered, x.refused)
}

// recorded plays a game in mode real to its end, so that there is a file of throws.
func (x *explorer) recorded() {
	x.t.Helper()
	ctx := x.t.Context()
	id := newID(x.t)
	must(x.t, second(x.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeReal, Options: new(single), A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)))
	must(x.t, second(x.client.NextGame(ctx, id, 1, 0)))
	must(x.t, second(x.client.AbortGame(ctx, id, 1, "crash", 0)))
	x.pools["match"] = append(x.pools["match"], id)
	x.state = x.fingerprint()
}

// FuzzAPI explores by the bytes of its input: each is a choice.
func FuzzAPI(f *testing.F) {
	for seed := range uint64(2) {
		r := rand.NewChaCha8([32]byte{byte(seed)})
		data := make([]byte, 1200)
		r.Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBench(t, anyRate)
		x := explore(b, func(n int) int {
			if len(data) == 0 {
				return 0
			}
			v := int(data[0])
			data = data[1:]
			if n > 256 && len(data) > 0 {
				v, data = v<<8|int(data[0]), data[1:]
			}
			return v % n
		})
		for len(data) > 0 && !t.Failed() {
			x.request()
		}
	})
}
