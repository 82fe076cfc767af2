package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"fairdice/api"
	"fairdice/client"
)

// maker makes values of the document's schemas, and now and then others.
type maker struct {
	r     *rand.Rand
	known map[string][]string // by the name of the member or parameter
}

var strange = []any{"", " ", "../..", "%00", "null", "-1", "1e9", "9223372036854775808", "\u0000", "ａ", "A\nB",
	strings.Repeat("x", 5000), -1, 0, 1.5, 1e300, true, nil, []any{}, map[string]any{}}

func (m *maker) value(name string, ref *openapi3.SchemaRef) any {
	if m.r.IntN(60) == 0 {
		return strange[m.r.IntN(len(strange))]
	}
	s := ref.Value
	switch {
	case name == "mode" && m.r.IntN(4) > 0:
		return "random"
	case len(s.Enum) > 0:
		return s.Enum[m.r.IntN(len(s.Enum))]
	case s.Type.Is("integer"):
		if m.r.IntN(20) == 0 {
			return m.r.Int64()
		}
		few := max(0, m.r.IntN(6)-3)
		if name == "index" || name == "number" {
			return few
		}
		return 1 + few
	case s.Type.Is("boolean"):
		return m.r.IntN(2) == 0
	case s.Type.Is("array"):
		list := make([]any, m.r.IntN(3))
		for i := range list {
			list[i] = m.value(name, s.Items)
		}
		return list
	case s.Type.Is("object"):
		object := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			if m.r.IntN(30) > 0 && (slices.Contains(s.Required, name) || m.r.IntN(3) == 0) {
				object[name] = m.value(name, p)
			}
		}
		if m.r.IntN(50) == 0 {
			object["surplus"] = 1
		}
		return object
	}
	known := m.known[name]
	if len(known) == 0 || m.r.IntN(20) == 0 {
		known = m.known["lines"]
	}
	return known[m.r.IntN(len(known))]
}

// Requests made at random from the document's own schemas find no failure of
// the service: whatever they are, they are served or refused. (That refusals
// and answers have the form of the document is checked by held.)
func TestRandomRequests(t *testing.T) {
	b := newBench(t, func(c *api.Config) {
		c.LinkRate, c.ReadRate, c.StreamLife = 1_000_000, 1_000_000, 10*time.Millisecond
	})
	ctx := t.Context()
	doc, err := document()
	must(t, err)
	cut, seats := b.openL2(single)
	must(t, second(b.client.NextGame(ctx, cut, 1, 0)))
	link, err := seats[0].Release(ctx, b.client, 1, 1)
	must(t, err)
	fresh := b.openL0("short")
	page, err := b.client.Sequences(ctx, tenant, client.ModeRandom, "", 0)
	must(t, err)
	matches := []string{cut, cut, fresh}
	for _, v := range []string{"short", "long-classic", "plakoto", "tavla", "hyper", "gyulbar"} {
		matches = append(matches, b.openL0(v), newID(t))
	}
	var sequences []string
	for _, q := range page.Sequences {
		sequences = append(sequences, q.Sequence)
	}
	anchors := []string{seats[0].Anchor().String(), link.Link.String(), strings.Repeat("ab", 32)}
	m := &maker{r: rand.New(rand.NewPCG(7, 11)), known: map[string][]string{
		"match": matches, "sequence": append(sequences, newID(t)), "link": anchors, "hash": anchors, "tenant": {tenant, "nobody"},
		"token": {"ada", "ben", "eva"}, "variant": {"short", "tavla", "fevga", "chess"}, "reason": {"crash", "late", "two words"},
		"options": {single, "raise=cube stake=score series=points:3 crawford=on", "raise=none"},
		"lines":   {"move A -", "move B 24/18 13/11", "double A", "take B", "timeout A", "timeout B", "resign B 1", "end A 1", "end B 1", "end B 2"},
	}}
	type operation struct {
		method, path string
		item         *openapi3.PathItem
		op           *openapi3.Operation
	}
	var operations []operation
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			weight := 4
			switch op.OperationID {
			case "abortGame", "abandonMatch":
				weight = 1 // else there is soon nothing left to play
			case "openMatch", "drawRoll", "appendEvents":
				weight = 16
			}
			for range weight {
				operations = append(operations, operation{method, path, item, op})
			}
		}
	}
	slices.SortFunc(operations, func(a, b operation) int { return strings.Compare(a.method+a.path, b.method+b.path) })
	answered := make(map[string]int)
	for range 2500 {
		o := operations[m.r.IntN(len(operations))]
		path, query := o.path, url.Values{}
		for _, p := range append(slices.Clone(o.item.Parameters), o.op.Parameters...) {
			v := fmt.Sprint(m.value(p.Value.Name, p.Value.Schema))
			switch p.Value.In {
			case "path":
				path = strings.Replace(path, "{"+p.Value.Name+"}", url.PathEscape(v), 1)
			case "query":
				if p.Value.Required || m.r.IntN(4) == 0 {
					query.Set(p.Value.Name, v)
				}
			}
		}
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		body := ""
		if o.op.RequestBody != nil {
			data, err := json.Marshal(m.value("", o.op.RequestBody.Value.Content["application/json"].Schema))
			must(t, err)
			body = string(data)
		}
		a := b.send(o.method, path, body)
		if a.status >= http.StatusInternalServerError && a.code() != "pool-empty" {
			t.Fatalf("%s %s %s: %d %s", o.method, path, body, a.status, a.body)
		}
		if a.status < 300 {
			answered[o.op.OperationID]++
		}
	}
	for _, id := range []string{"openMatch", "nextGame", "drawRoll", "sealSequence"} {
		if answered[id] == 0 {
			t.Errorf("no random %s was served: the requests are too wild to test anything", id)
		}
	}
}
