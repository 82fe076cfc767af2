package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"fairdice/client"
)

// broken is a stream that says so much and then breaks off.
func broken(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

const soon = "retry: 0\n\n"

func line(id, n string) string {
	return "id: " + id + "\nevent: line\ndata: {\"game\":1,\"line\":" + n + ",\"text\":\"pass A\"}\n\n"
}

// An iterator goes on behind the last whole event, wherever its connection
// breaks, and shows none twice and none in part.
func TestWatchGoesOn(t *testing.T) {
	end := "id: 3.1.2.end\nevent: end\ndata: {\"state\":\"decided\",\"score\":[1,0]}\n\n"
	for name, cutAt := range map[string]int{"in the id": 7, "behind the id": 10, "in the data": 60, "before the empty line": len(line("3.1.2", "2")) - 1} {
		t.Run(name, func(t *testing.T) {
			var last []string
			acts := []func(http.ResponseWriter){
				broken(soon + line("3.1.1", "1") + line("3.1.2", "2")[:cutAt]),
				problem(503, "unavailable", "0"),
				broken(""),
				broken(soon + ": nothing new\n\nid: 3.1.2\nevent: weather\ndata: {}\n\n" + line("3.1.2", "2")),
				text(200, soon+end),
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				last = append(last, r.Header.Get("Last-Event-ID")) // one request at a time
				acts[len(last)-1](w)
			}))
			defer server.Close()
			cl, err := client.New(server.URL, client.WithAttempts(4))
			if err != nil {
				t.Fatal(err)
			}
			var seen []string
			for e, err := range cl.Watch(t.Context(), match, "", "2.1.0") {
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, e.ID)
			}
			if want := []string{"3.1.1", "3.1.2", "3.1.2.end"}; !slices.Equal(seen, want) {
				t.Errorf("saw %v, want %v", seen, want)
			}
			if want := []string{"2.1.0", "3.1.1", "3.1.1", "3.1.1", "3.1.2"}; !slices.Equal(last, want) {
				t.Errorf("asked behind %v, want %v", last, want)
			}
		})
	}
}

// A service that never brings an event is given up after the attempts that
// were set; a refusal at once.
func TestWatchGivesUp(t *testing.T) {
	for _, c := range []struct {
		name string
		act  func(http.ResponseWriter)
		sent int
		code string
	}{
		{"broken each time", broken(soon + "id: 1.1.1\nevent: line\n"), 3, ""},
		{"not there", problem(503, "unavailable", "0"), 3, "unavailable"},
		{"refused", problem(401, "unauthorized", ""), 1, "unauthorized"},
		{"an event that is none", text(200, "id: 1.1.1\nevent: line\ndata: {\n\n"), 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{acts: []func(http.ResponseWriter){c.act}}
			server := httptest.NewServer(s)
			defer server.Close()
			cl, err := client.New(server.URL, client.WithAttempts(3))
			if err != nil {
				t.Fatal(err)
			}
			var last error
			for e, err := range cl.WatchLog(t.Context(), "0.0") {
				if last = err; err == nil {
					t.Errorf("saw %+v", e)
				}
			}
			if last == nil || client.Code(last) != c.code || len(s.seen()) != c.sent {
				t.Errorf("after %d requests, want %d: %v", len(s.seen()), c.sent, last)
			}
		})
	}
}
