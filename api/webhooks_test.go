package api_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairdice/client/webhook"
	"fairdice/house"
)

// letters is a courier that keeps what is to be sent.
type letters struct {
	mu   sync.Mutex
	seen map[string][]byte // by type
}

func (l *letters) Check(string, bool) error { return nil }

func (l *letters) Send(_ context.Context, p house.Parcel) house.Delivery {
	e, err := webhook.Parse(p.Body)
	if err != nil {
		return house.Delivery{Failure: err.Error()}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[e.Type] = p.Body
	return house.Delivery{Status: 200}
}

func (l *letters) types() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.seen))
}

// The document has every event that is sent, and what is sent is of the shape it
// gives and is understood by the client.
func TestWebhooksAreInTheDocument(t *testing.T) {
	doc, err := document()
	must(t, err)
	want := slices.Sorted(slices.Values(house.Events()))
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(doc.Webhooks))); d != "" {
		t.Fatalf("webhooks of the document (-house +document):\n%s", d)
	}
	post := &letters{seen: map[string][]byte{}}
	b := newBenchOf(t, func(_ *bench, c *house.Config) {
		c.Courier, c.Deliver, c.Pool = post, true, house.PoolMarks{Low: 200, Full: 40}
	})
	p := house.Principal{Tenant: tenant, Scopes: house.Scopes()}
	_, err = b.house.AddEndpoint(t.Context(), house.EndpointRequest{Tenant: tenant, Address: "https://club.test/"})
	must(t, err)
	open := func(id string) {
		t.Helper()
		_, err := b.house.OpenMatch(t.Context(), p, house.OpenRequest{Match: id, Variant: "short", Mode: "random", Profile: "refereed",
			Options: "raise=mars stake=win series=single crawford=off", A: "a", B: "b"})
		must(t, err)
		_, err = b.house.NextGame(t.Context(), p, id, 1, 0)
		must(t, err)
	}
	aborted, resigned, late := newID(t), newID(t), newID(t)
	open(aborted)
	_, err = b.house.AbortGame(t.Context(), p, aborted, 1, "test", 0)
	must(t, err)
	_, err = b.house.Abandon(t.Context(), p, aborted, 0)
	must(t, err)
	open(resigned)
	_, err = b.house.Draw(t.Context(), p, resigned, 1, 1, "opening", 0)
	must(t, err)
	_, err = b.house.Append(t.Context(), p, resigned, 1, 2, []string{"timeout A", "end B 2"})
	must(t, err)
	_, err = b.house.CloseGame(t.Context(), p, resigned, 1, nil, 0)
	must(t, err)
	open(late)
	b.pass(house.AssignedLimit - time.Hour - house.SoonMargin + time.Minute)
	_, err = b.house.Sweep(t.Context())
	must(t, err)
	for end := time.Now().Add(20 * time.Second); !slices.Equal(post.types(), want) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if d := cmp.Diff(want, post.types()); d != "" {
		t.Fatalf("events sent (-want +sent):\n%s", d)
	}
	for kind, body := range post.seen {
		schema := doc.Webhooks[kind].Post.RequestBody.Value.Content["application/json"].Schema.Value
		var v any
		must(t, json.Unmarshal(body, &v))
		if err := schema.VisitJSON(v); err != nil {
			t.Errorf("%s: %v\n%s", kind, err, body)
		}
		for _, member := range []string{"type", "timestamp", "data"} {
			if _, ok := v.(map[string]any)[member]; !ok {
				t.Errorf("%s has no %s", kind, member)
			}
		}
		data := schema.Properties["data"].Value
		for member := range v.(map[string]any)["data"].(map[string]any) {
			if data.Properties[member] == nil {
				t.Errorf("%s: data.%s is not in the document", kind, member)
			}
		}
	}
}
