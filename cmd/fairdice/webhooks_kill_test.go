package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairdice/client"
	"fairdice/client/webhook"
)

// A service that is killed while a receiver keeps it waiting has lost nothing: the
// message is there after the next start, and comes again under its id.
func TestWebhookSurvivesKill(t *testing.T) {
	t.Parallel()
	type arrival struct {
		id, body string
		header   http.Header
	}
	arrived := make(chan arrival, 10)
	hang := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- arrival{r.Header.Get(webhook.IDHeader), string(body), r.Header}
		<-hang
	}))
	t.Cleanup(receiver.Close)
	let := sync.OnceFunc(func() { close(hang) })
	t.Cleanup(let)
	next := func() arrival {
		t.Helper()
		select {
		case a := <-arrived:
			return a
		case <-time.After(30 * time.Second):
			t.Fatal("nothing arrives")
		}
		return arrival{}
	}

	dir, listen := t.TempDir(), freeAddress(t)
	p := startProcess(t, dir, listen, "--webhook-private", "127.0.0.0/8")
	out, err := run(t, "webhooks", "add", receiver.URL, "--data", dir, "--allow-http", "--events", "match.opened")
	if err != nil {
		t.Fatalf("add endpoint: %v\n%s", err, out)
	}
	key := ""
	for word := range strings.FieldsSeq(out) {
		if strings.HasPrefix(word, "whsec_") {
			key = word
		}
	}
	v, err := webhook.New(key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(p.url, client.WithKey(p.apiKey))
	if err != nil {
		t.Fatal(err)
	}
	id := benchID(t)
	if _, err := c.OpenMatch(t.Context(), id, benchTerms, 0); err != nil {
		t.Fatal(err)
	}
	first := next()
	if err := p.end(syscall.SIGKILL); err == nil {
		t.Fatal("it was not killed")
	}
	let()
	p = startProcess(t, dir, listen, "--webhook-private", "127.0.0.0/8")
	// The claim of the dead one has a minute to run; the operator does not wait for it.
	if out, err := run(t, "webhooks", "replay", first.id, "--data", dir); err != nil {
		t.Fatalf("replay: %v\n%s", err, out)
	}
	second := next()
	if first.id != second.id || first.body != second.body || !strings.Contains(first.body, id) {
		t.Errorf("first\n%s %s\nthen\n%s %s", first.id, first.body, second.id, second.body)
	}
	for _, a := range []arrival{first, second} {
		if err := v.Verify(a.header, []byte(a.body), time.Now()); err != nil {
			t.Error(err)
		}
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, p.errors)
	}
}
