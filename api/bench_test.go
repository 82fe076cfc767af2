package api_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/uuid"

	"fairdice"
	"fairdice/api"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/translog/server"
)

// bench is a service on a database of its own. Every request that reaches it
// and every answer is held against openapi.yaml.
type bench struct {
	t       testing.TB
	house   *house.House
	store   store.Store
	url     string
	client  *client.Client // with a key of all scopes
	key     string
	logKey  string
	handler http.Handler

	mu  sync.Mutex
	now time.Time
}

const tenant = "club"

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func newBench(t testing.TB, change ...func(*api.Config)) *bench {
	t.Helper()
	return newBenchOf(t, func(*bench, *house.Config) {}, change...)
}

// newBenchOf changes the house too, which is not made yet.
func newBenchOf(t testing.TB, furnish func(*bench, *house.Config), change ...func(*api.Config)) *bench {
	t.Helper()
	ctx := t.Context()
	b := &bench{t: t, now: time.Date(2026, 11, 29, 21, 52, 6, 0, time.UTC)}
	dir := t.TempDir()
	const origin = "dice.example/log"
	newKey := func(name string) (skey, vkey string) {
		skey, vkey, err := commitment.NewKey(name, rand.Reader)
		must(t, err)
		return skey, vkey
	}
	logSecret, logKey := newKey(origin)
	receiptSecret, receiptKey := newKey(origin + "/receipts")
	logSigner, err := commitment.NewSigner(logSecret)
	must(t, err)
	verifier, err := commitment.ParseVerifier(logKey)
	must(t, err)
	receipts, err := commitment.NewSigner(receiptSecret)
	must(t, err)
	master, err := house.NewMasterKey(rand.Reader)
	must(t, err)
	b.store, err = sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{})
	must(t, err)
	quiet := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	furnished := house.Config{
		Store: b.store, Origin: origin, Log: logSigner, LogVerifier: verifier, LogKey: logKey,
		Receipts: receipts, ReceiptKey: receiptKey, Master: master, HeadFile: filepath.Join(dir, "head"),
		Now: b.clock, Logger: quiet, Rolls: commitment.Lengths{6, 12, 12}, Pool: house.PoolMarks{Low: 0, Full: 40},
	}
	furnish(b, &furnished)
	b.house, err = house.New(ctx, furnished)
	must(t, err)
	b.logKey = logKey
	must(t, b.house.AddTenant(ctx, tenant))
	b.key, err = b.house.IssueKey(ctx, tenant, "test", house.Scopes())
	must(t, err)
	must(t, b.house.TopUp(ctx, tenant, "random", 40))
	must(t, b.house.TopUp(ctx, tenant, "balanced", 2))
	c := api.Config{House: b.house, Log: server.New(b.store), Version: "test", Logger: quiet, Now: b.clock, WorkRate: 1_000_000}
	for _, f := range change {
		f(&c)
	}
	b.handler, err = api.New(c)
	must(t, err)
	h := httptest.NewServer(held(t, b.handler))
	t.Cleanup(func() {
		h.Close()
		must(t, errors.Join(b.house.Close(), b.store.Close()))
	})
	b.url = h.URL
	b.client = b.as(b.key)
	return b
}

func (b *bench) as(key string) *client.Client {
	c, err := client.New(b.url, client.WithKey(key), client.WithAttempts(1))
	must(b.t, err)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var document = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(fairdice.OpenAPI)
	if err == nil {
		err = doc.Validate(context.Background(), openapi3.EnableExamplesValidation())
	}
	return doc, err
})

var router = sync.OnceValues(func() (routers.Router, error) {
	doc, err := document()
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc)
})

// held holds requests and answers against the document: what the document
// does not allow must be refused, an answer must have its form, and a problem
// must be one that the operation lists.
func held(t testing.TB, next http.Handler) http.Handler {
	find, err := router()
	must(t, err)
	doc, _ := document()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route, params, err := find.FindRoute(r)
		if err != nil || route.Operation.Extensions["x-problems"] == nil || emptyIn(params) || strings.HasSuffix(r.URL.Path, "/") {
			next.ServeHTTP(w, r) // not an address of the document, or the log's own
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		input := &openapi3filter.RequestValidationInput{
			Request: r, PathParams: params, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		wrong := openapi3filter.ValidateRequest(r.Context(), input)
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := &recorder{ResponseRecorder: httptest.NewRecorder(), live: w}
		next.ServeHTTP(rec, r)
		answer := rec.Body.Bytes()
		name := route.Operation.OperationID
		if wrong != nil && rec.Code < 400 {
			t.Errorf("%s answered %d to a request the document does not allow: %v", name, rec.Code, wrong)
		}
		err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: input, Status: rec.Code, Header: rec.Header(), Body: io.NopCloser(bytes.NewReader(answer)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		})
		if err != nil {
			t.Errorf("%s: the answer is not as documented: %v\n%s", name, err, answer)
		}
		if rec.Code >= 400 {
			code := codeIn(answer)
			if !listed(route.Operation.Extensions["x-problems"], code) && !listed(doc.Extensions["x-problems-common"], code) {
				t.Errorf("%s answered %s, which its x-problems do not list", name, code)
			}
		}
		if rec.streams {
			heldEvents(t, doc, route.Operation, answer)
			return
		}
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		w.Write(answer)
	})
}

// emptyIn reports whether a part of the path is missing: for the service that
// is no address, for the router of the test it is.
func emptyIn(params map[string]string) bool {
	for _, v := range params {
		if v == "" {
			return true
		}
	}
	return false
}

// recorder keeps an answer until it is whole, but lets a stream through.
type recorder struct {
	*httptest.ResponseRecorder
	live    http.ResponseWriter
	streams bool
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.live }

func (r *recorder) Write(p []byte) (int, error) {
	if !r.streams && r.Header().Get("Content-Type") == "text/event-stream" {
		r.streams = true
		maps.Copy(r.live.Header(), r.Header())
		r.live.WriteHeader(r.Code)
	}
	if r.streams {
		if n, err := r.live.Write(p); err != nil {
			return n, err
		}
	}
	return r.ResponseRecorder.Write(p)
}

// FlushError and Flush, which middleware calls, hide those of the recorder.
func (r *recorder) FlushError() error { return http.NewResponseController(r.live).Flush() }

// Flush flushes what is let through.
func (r *recorder) Flush() {
	if err := r.FlushError(); err != nil && r.streams {
		panic(http.ErrAbortHandler) // the follower has left
	}
}

func init() {
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.PlainBodyDecoder)
}

// sent is an event of a stream.
type sent struct{ id, kind, data string }

// eventsIn reads a stream, or the beginning of one, as WHATWG HTML §9.2.6 says.
func eventsIn(text []byte) (list []sent) {
	blocks := strings.Split(string(text), "\n\n")
	for _, block := range blocks[:len(blocks)-1] { // what is not followed by an empty line is no event
		var e sent
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data += value
			}
		}
		if e.data != "" {
			list = append(list, e)
		}
	}
	return list
}

// heldEvents holds the events of a stream against their schemas.
func heldEvents(t testing.TB, doc *openapi3.T, op *openapi3.Operation, stream []byte) {
	kinds, _ := op.Extensions["x-events"].(map[string]any)
	for _, e := range eventsIn(stream) {
		schema := doc.Components.Schemas[fmt.Sprint(kinds[e.kind])]
		if schema == nil {
			t.Errorf("%s sent an event %q, which x-events does not list", op.OperationID, e.kind)
			continue
		}
		var data any
		if err := json.Unmarshal([]byte(e.data), &data); err != nil {
			t.Errorf("%s: event %s is not JSON: %v", op.OperationID, e.kind, err)
		} else if err := schema.Value.VisitJSON(data, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: event %s is not as documented: %v\n%s", op.OperationID, e.kind, err, e.data)
		}
	}
}

func codeIn(problem []byte) string {
	_, rest, _ := strings.Cut(string(problem), `"urn:fairdice:problem:`)
	code, _, _ := strings.Cut(rest, `"`)
	return code
}

func listed(extension any, code string) bool {
	list, _ := extension.([]any)
	for _, v := range list {
		if v == code {
			return true
		}
	}
	return false
}

// answer is what came over the wire.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) code() string { return codeIn([]byte(a.body)) }

// send makes a request as bytes; header pairs follow the body.
func (b *bench) send(method, path, body string, headers ...string) answer {
	b.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, r)
	must(b.t, err)
	req.Header.Set("Authorization", "Bearer "+b.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	must(b.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(b.t, err)
	return answer{resp.StatusCode, resp.Header, string(data)}
}

func newID(t testing.TB) string {
	id, err := uuid.NewV7()
	must(t, err)
	return id.String()
}

const single = "raise=mars stake=win series=single crawford=off"

// openL0 opens a match that no player cuts, and starts its first game.
func (b *bench) openL0(variant string) string {
	b.t.Helper()
	id := newID(b.t)
	_, err := b.client.OpenMatch(b.t.Context(), id, client.OpenRequest{
		Variant: variant, Mode: client.ModeRandom, Options: new(single),
		A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)
	must(b.t, err)
	_, err = b.client.NextGame(b.t.Context(), id, 1, 0)
	must(b.t, err)
	return id
}

// openL2 opens a match that both players cut.
func (b *bench) openL2(options string) (string, [2]*player.Player) {
	b.t.Helper()
	id := newID(b.t)
	var seats [2]*player.Player
	for i := range seats {
		p, err := player.New(filepath.Join(b.t.TempDir(), "player.json"), b.logKey, 64, rand.Reader)
		must(b.t, err)
		must(b.t, p.Join(player.Terms{Match: id, Variant: "short", Options: options}))
		seats[i] = p
	}
	_, err := b.client.OpenMatch(b.t.Context(), id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(options),
		A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: seats[0].Anchor().String()}},
		B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: seats[1].Anchor().String()}},
	}, 0)
	must(b.t, err)
	return id, seats
}

// step is one request of a game, as bytes.
type step struct{ path, body string }

// playOn plays a game that is dealt through raw requests until it is over or
// stop says so, and answers what it sent and got. Segments that follow are
// cut by the seats, if there are any.
func (b *bench) playOn(match string, game int, s replay.Setting, seats [2]*player.Player, stop func(replay.State) bool) (steps []step, answers []string, st replay.State) {
	b.t.Helper()
	st, err := replay.Start(s)
	must(b.t, err)
	moves := selfplay.New(selfplay.Random, 5)
	var gen rules.Generator
	for line := 1; !st.Over() && (stop == nil || !stop(st)); line++ {
		e, ok := moves.Next(st)
		next := step{gamePath(match, game, "events", line), `{"lines":["` + e.String() + `"]}`}
		if !ok {
			m, err := b.client.Match(b.t.Context(), match)
			must(b.t, err)
			due := m.Games[game-1].Draw
			next = step{gamePath(match, game, "segments", due.Segment, "rolls", due.Stream, due.Index), ""}
		}
		a := b.send(http.MethodPut, next.path, next.body)
		if a.code() == "awaiting-links" {
			m, err := b.client.Match(b.t.Context(), match)
			must(b.t, err)
			for _, p := range seats {
				_, err := p.Play(b.t.Context(), b.client, game, m.Games[game-1].Segments)
				must(b.t, err)
			}
			a = b.send(http.MethodPut, next.path, next.body)
		}
		if a.status != http.StatusOK {
			b.t.Fatalf("%s %s: %d %s", next.path, next.body, a.status, a.body)
		}
		if !ok {
			e, _ = selfplay.Throw(st, diceIn(b.t, a.body))
		}
		if st, err = st.Apply(&gen, e); err != nil {
			b.t.Fatal(err)
		}
		steps, answers = append(steps, next), append(answers, a.body)
	}
	return steps, answers, st
}

// anyRate lifts the limits on addresses, and lets no stream of events last.
func anyRate(c *api.Config) {
	c.LinkRate, c.WorkRate, c.ReadRate = 1_000_000, 1_000_000, 1_000_000
	c.StreamLife = 10 * time.Millisecond
}
