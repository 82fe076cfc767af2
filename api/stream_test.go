package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fairdice/api"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/house"
	"fairdice/replay"
)

// follow opens a stream behind an event id and reads at most n events with an
// id, 0 for all until it ends. Header pairs follow.
func (b *bench) follow(ctx context.Context, path, last string, n int, headers ...string) (list []sent, status int) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+path, nil)
	must(b.t, err)
	req.Header.Set("Authorization", "Bearer "+b.key)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	must(b.t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode
	}
	var block strings.Builder
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return list, resp.StatusCode
		}
		block.WriteString(line)
		if line != "\n" {
			continue
		}
		for _, e := range eventsIn([]byte(block.String())) {
			if e.id != "" {
				list = append(list, e)
			}
		}
		block.Reset()
		if n > 0 && len(list) >= n {
			return list[:n], resp.StatusCode
		}
	}
}

// shownOf is what a feed has shown: texts of statements, records and receipts.
type shownOf struct {
	statements map[string]bool
	lines      []string
	receipts   []string
	ended      bool
}

func shown(t testing.TB, events []sent) (s shownOf) {
	t.Helper()
	s.statements = make(map[string]bool)
	for _, e := range events {
		switch e.kind {
		case "statement":
			var st client.StatementEvent
			must(t, json.Unmarshal([]byte(e.data), &st))
			if s.statements[st.Text] {
				t.Errorf("statement %d came twice", st.Index)
			}
			s.statements[st.Text] = true
		case "line":
			var l client.LineEvent
			must(t, json.Unmarshal([]byte(e.data), &l))
			if l.Line != len(s.lines)+1 {
				t.Errorf("line %d came after %d lines", l.Line, len(s.lines))
			}
			s.lines = append(s.lines, l.Text)
			if l.Receipt != "" {
				s.receipts = append(s.receipts, l.Receipt)
			}
		case "end":
			s.ended = true
		}
	}
	return s
}

// Followers who are there from the start, who come late, and who lose their
// connection all the time see the same events, and they are the statements and
// the record of the match.
func TestWatchMatch(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id := newID(t)
	opened, err := b.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(single), A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)
	must(t, err)
	path := "/v1/matches/" + id + "/feed"
	live, restless := make(chan []sent, 1), make(chan []sent, 1)
	go func() {
		all, _ := b.follow(ctx, path, "", 0)
		live <- all
	}()
	go func() {
		var all []sent
		last := ""
		for n := 0; ; n = (n + 1) % 4 {
			some, status := b.follow(ctx, path, last, 1+n, "Authorization", "", "X-View-Token", opened.ViewToken)
			if status != http.StatusOK || len(some) == 0 {
				break
			}
			all = append(all, some...)
			if last = some[len(some)-1].id; strings.HasSuffix(last, ".end") {
				break
			}
		}
		restless <- all
	}()
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, nil)
	must(t, second(b.client.CloseGame(ctx, id, 1, 0)))

	whole, _ := b.follow(ctx, path, "", 0, "Authorization", "")
	if diff := cmp.Diff(whole, <-live, cmp.AllowUnexported(sent{})); diff != "" {
		t.Errorf("afterwards (-) and live (+):\n%s", diff)
	}
	if diff := cmp.Diff(whole, <-restless, cmp.AllowUnexported(sent{})); diff != "" {
		t.Errorf("afterwards (-) and in pieces (+):\n%s", diff)
	}
	s := shown(t, whole)
	statements, err := b.client.Statements(ctx, id, 0)
	must(t, err)
	for _, st := range statements.Statements {
		if !s.statements[st.Text] {
			t.Errorf("statement %d was not shown", st.Index)
		}
	}
	record, err := b.client.Record(ctx, id, 1, "")
	must(t, err)
	_, body, _ := strings.Cut(record.Record, "\n\n")
	if len(s.statements) != len(statements.Statements) || strings.Join(s.lines, "\n")+"\n" != body || !slices.Equal(s.receipts, record.Receipts) || !s.ended {
		t.Errorf("%d statements of %d, ended %v, lines and receipts of the record: %v %v", len(s.statements), len(statements.Statements), s.ended,
			strings.Join(s.lines, "\n")+"\n" == body, slices.Equal(s.receipts, record.Receipts))
	}
	if len(s.lines) < 20 {
		t.Errorf("the game had only %d lines", len(s.lines))
	}

	// The client's iterator says the same.
	var kinds []string
	for e, err := range b.client.Watch(ctx, id, "", whole[len(whole)-3].id) {
		must(t, err)
		switch {
		case e.Match != nil:
			kinds = append(kinds, "match")
		case e.Statement != nil:
			kinds = append(kinds, string(e.Statement.Type))
		case e.End != nil:
			kinds = append(kinds, "end "+string(e.End.State))
		}
	}
	if want := []string{"match", "finish", "end decided"}; !slices.Equal(kinds, want) {
		t.Errorf("the client saw %v, want %v", kinds, want)
	}
	if _, status := b.follow(ctx, path, whole[len(whole)-1].id, 0); status != http.StatusNoContent {
		t.Errorf("behind the end: %d", status)
	}

	// Whatever the instants at which a client loses its connection.
	rapid.Check(t, func(rt *rapid.T) {
		last, got := "", []string(nil)
		for len(got) < len(whole) {
			feed, _, err := b.house.WatchMatch(ctx, house.Principal{}, "", id, last)
			if err != nil {
				rt.Fatal(err)
			}
			n := min(len(got)+rapid.IntRange(1, len(whole)).Draw(rt, "events"), len(whole))
			for len(got) < n {
				events, err := feed.Next(ctx)
				if err != nil {
					rt.Fatalf("behind %q: %v", last, err)
				}
				for _, e := range events[:min(len(events), n-len(got))] {
					got, last = append(got, e.ID), e.ID
				}
			}
			feed.Close()
		}
		for i, e := range whole {
			if got[i] != e.id {
				rt.Fatalf("event %d is %s, in the whole %s", i, got[i], e.id)
			}
		}
	})
	for _, bad := range []string{"x", "1", "1.1", "-1.1.1", "01.1.1", "999999.1.1", "8.1.99999", whole[5].id + ".end", whole[5].id + ".0", strings.Repeat("9", 30) + ".1.1"} {
		if a := b.send(http.MethodGet, path, "", "Last-Event-ID", bad); a.code() != "malformed-request" {
			t.Errorf("id %q: %d %s", bad, a.status, a.body)
		}
	}
}

// What strangers may not read they do not see in a stream, nor in that of the log.
func TestWatchIsPrivate(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	must(t, b.house.AddTenant(ctx, "other"))
	foreign, err := b.house.IssueKey(ctx, "other", "test", house.Scopes())
	must(t, err)
	drawing, err := b.house.IssueKey(ctx, tenant, "draws", []string{house.ScopeDraw})
	must(t, err)
	before := b.send(http.MethodGet, "/checkpoint", "").body
	_, size, _ := strings.Cut(before, "\n")
	size, _, _ = strings.Cut(size, "\n")
	id := b.openL0("short")
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Throws()[1] > 1 })
	path := "/v1/matches/" + id + "/feed"
	for _, c := range []struct {
		name, path, key, view string
		want                  int
	}{
		{"nobody", path, "", "", http.StatusUnauthorized},
		{"a guess", path, "", "AAAAAAAAAAAAAAAAAAAAAA", http.StatusUnauthorized},
		{"a guess in the address", path + "?view=AAAAAAAAAAAAAAAAAAAAAA", "", "", http.StatusUnauthorized},
		{"another tenant", path, "Bearer " + foreign, "", http.StatusForbidden},
		{"a key without the scope", path, "Bearer " + drawing, "", http.StatusForbidden},
		{"another tenant who knows an id", path + "?last=0.1.5", "Bearer " + foreign, "", http.StatusForbidden},
	} {
		a := b.send(http.MethodGet, c.path, "", "Authorization", c.key, "X-View-Token", c.view)
		if a.status != c.want || strings.Contains(a.body, "event:") {
			t.Errorf("%s: %d %s", c.name, a.status, a.body)
		}
	}
	// Three statements: open, assign and deal; each in the checkpoint before it.
	soon, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	events, _ := b.follow(soon, "/v1/feed", size+"."+size, 4, "Authorization", "")
	statements := 0
	for _, e := range events {
		switch e.kind {
		case "statement":
			statements++
		case "checkpoint":
		default:
			t.Errorf("the log's feed has an event %q", e.kind)
		}
		if strings.Contains(e.data, "fairdice/v1/roll") || strings.Contains(e.data, "move ") {
			t.Errorf("the log's feed shows %s", e.data)
		}
	}
	if statements == 0 {
		t.Errorf("no statement in %v", events)
	}
	if a := b.send(http.MethodHead, path, ""); a.status != http.StatusOK || a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %d %v", a.status, a.header)
	}
}

// The feed of the log, read in pieces, is the log.
func TestWatchLog(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.openL0("short")
	page, err := b.client.LogStatements(ctx, client.StatementList{})
	must(t, err)
	var whole []sent
	for last := "0.0"; ; {
		some, status := b.follow(ctx, "/v1/feed", last, 1)
		if status != http.StatusOK {
			t.Fatalf("behind %q: %d", last, status)
		}
		whole = append(whole, some...)
		last = whole[len(whole)-1].id
		var st client.StatementEvent
		must(t, json.Unmarshal([]byte(whole[len(whole)-1].data), &st))
		if st.Index == page.Published.Statements[len(page.Published.Statements)-1].Index {
			break
		}
	}
	var texts []string
	size := int64(0)
	for _, e := range whole {
		var c client.CheckpointEvent
		var st client.StatementEvent
		switch e.kind {
		case "checkpoint":
			must(t, json.Unmarshal([]byte(e.data), &c))
			size = c.Size
		case "statement":
			must(t, json.Unmarshal([]byte(e.data), &st))
			if st.Index >= size || st.Index != int64(len(texts)) {
				t.Errorf("statement %d comes after %d and a checkpoint of %d", st.Index, len(texts), size)
			}
			texts = append(texts, st.Text)
		}
	}
	for i, s := range page.Published.Statements {
		if texts[i] != s.Text {
			t.Errorf("statement %d differs", i)
		}
	}
	for e, err := range b.client.WatchLog(ctx, "") {
		must(t, err)
		if e.Checkpoint == nil {
			t.Errorf("a new follower begins with %+v", e)
		}
		break
	}
	for _, bad := range []string{"x", "1", "2.1", "0.00", "1.99999", "1.1.1"} {
		if a := b.send(http.MethodGet, "/v1/feed?last="+bad, ""); a.code() != "malformed-request" {
			t.Errorf("id %q: %d %s", bad, a.status, a.body)
		}
	}
}

// A stream outlives the times that a server sets for requests, and ends at
// once when the service stops.
func TestStreamTimes(t *testing.T) {
	alive, stop := context.WithCancel(t.Context())
	b := newBench(t, func(c *api.Config) { c.Streams = alive })
	h := httptest.NewUnstartedServer(b.handler)
	h.Config.ReadTimeout, h.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
	h.Start()
	defer h.Close()
	resp, err := http.Get(h.URL + "/v1/feed")
	must(t, err)
	defer resp.Body.Close()
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			events <- lines.Text()
		}
	}()
	time.Sleep(400 * time.Millisecond) // past every time of the server
	b.openL0("short")
	seen := false
	for line := range events {
		if seen = line == "event: statement"; seen {
			break
		}
	}
	if !seen {
		t.Error("the stream was cut")
	}
	stop()
	for range events { // until it ends
	}
	if a := b.send(http.MethodGet, "/v1/feed", ""); a.code() != "unavailable" || a.header.Get("Retry-After") == "" {
		t.Errorf("while stopping: %d %s", a.status, a.body)
	}
}
