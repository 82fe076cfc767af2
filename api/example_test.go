package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/commitment"
	"fairdice/translog"
)

// The examples of the document are real answers of one service: their proofs
// hold under the key of the example of /version. So a reader can try his own
// verifier on them.
func TestExamplesAreGenuine(t *testing.T) {
	doc, err := document()
	must(t, err)
	examples := make(map[string][]byte)
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if media := op.Responses.Value("200").Value.Content["application/json"]; media != nil && media.Example != nil {
				examples[op.OperationID], err = json.Marshal(media.Example)
				must(t, err)
			}
		}
	}
	var version client.Version
	must(t, json.Unmarshal(examples["getVersion"], &version))
	key, err := commitment.ParseVerifier(version.Key)
	must(t, err)
	texts := make(map[int64]string)
	proved := 0
	prove := func(name, checkpoint string, statements ...client.Statement) {
		head, err := translog.OpenCheckpoint(checkpoint, key)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range statements {
			var path []commitment.Hash
			for _, text := range s.Path {
				h, err := commitment.ParseHash(text)
				must(t, err)
				path = append(path, h)
			}
			if err := translog.VerifyInclusion(translog.LeafHash([]byte(s.Text)), s.Index, head.Size, path, head.Root); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := commitment.Parse([]byte(s.Text)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			texts[s.Index] = s.Text
			proved++
		}
	}
	for name, data := range examples {
		if name == "getBundle" {
			continue // verified below
		}
		var a struct {
			client.Published
			Nested client.Published `json:"published"`
		}
		must(t, json.Unmarshal(data, &a))
		for _, p := range []client.Published{a.Published, a.Nested} {
			if len(p.Statements) > 0 {
				prove(name, p.Checkpoint, p.Statements...)
			}
		}
	}
	// What the examples of the streams show is what the others prove.
	streamed := 0
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			media := op.Responses.Value("200").Value.Content["text/event-stream"]
			if media == nil {
				continue
			}
			text := media.Example.(string)
			heldEvents(t, doc, op, []byte(text))
			for _, e := range eventsIn([]byte(text)) {
				var st client.StatementEvent
				var c client.CheckpointEvent
				switch e.kind {
				case "statement":
					must(t, json.Unmarshal([]byte(e.data), &st))
					if texts[st.Index] != st.Text {
						t.Errorf("%s: statement %d is %q", op.OperationID, st.Index, st.Text)
					}
				case "checkpoint":
					must(t, json.Unmarshal([]byte(e.data), &c))
					if head, err := translog.OpenCheckpoint(c.Note, key); err != nil || head.Size != c.Size {
						t.Errorf("%s: checkpoint of %d: %v", op.OperationID, c.Size, err)
					}
				}
				streamed++
			}
		}
	}
	if streamed < 6 {
		t.Errorf("only %d events in the examples of streams", streamed)
	}
	var r client.Roll
	must(t, json.Unmarshal(examples["drawRoll"], &r))
	prove("drawRoll", r.Checkpoint, r.Commit, r.Open, r.Assign, r.Deal)
	s, err := commitment.Parse([]byte(r.Open.Text))
	must(t, err)
	if _, err := commitment.OpenReceipt(r.Receipt, s.(commitment.Open).ReceiptKey); err != nil {
		t.Errorf("drawRoll: %v", err)
	}
	if report := audit.VerifyRoll(examples["drawRoll"], audit.Trust{Key: version.Key}); report.Verdict != audit.Verified {
		t.Errorf("drawRoll: %s %v", report.Verdict, report.Failed())
	}
	for name, text := range map[string]string{"getCheckpoint": "/checkpoint", "getProof": "/v1/statements/{index}/proof"} {
		example, _ := doc.Paths.Value(text).Get.Responses.Value("200").Value.Content["text/plain"].Example.(string)
		_, checkpoint, _ := strings.Cut("\n\n"+example, "\n\n")
		if name == "getProof" {
			_, checkpoint, _ = strings.Cut(example, "\n\n")
		}
		prove(name, checkpoint)
	}
	if report := audit.Verify(examples["getBundle"], audit.Trust{Key: version.Key}); report.Verdict != audit.Verified {
		t.Errorf("getBundle: %s %v", report.Verdict, report.Failed())
	}
	if proved < 10 {
		t.Errorf("only %d statements in all examples", proved)
	}
}

// Every operation shows an example of its body and of its answer, but for those
// that answer bytes, and this document.
func TestExamplesAreThere(t *testing.T) {
	shown := func(m *openapi3.MediaType) bool {
		return m.Example != nil || m.Schema != nil && len(m.Schema.Value.Examples) > 0
	}
	for _, op := range operations(t) {
		if op.RequestBody != nil {
			for kind, m := range op.RequestBody.Value.Content {
				if !shown(m) {
					t.Errorf("%s has no example of its body, %s", op.OperationID, kind)
				}
			}
		}
		for kind, m := range op.Responses.Value("200").Value.Content {
			if kind != "application/octet-stream" && kind != "application/yaml" && !shown(m) {
				t.Errorf("%s has no example of its answer, %s", op.OperationID, kind)
			}
		}
	}
}

// What does not depend on the state of a service is answered as the examples
// say, when it is asked as the examples say; of a list they may show a part.
func TestExamplesAreAnswered(t *testing.T) {
	b := newBench(t)
	for _, op := range operations(t) {
		if !slices.Contains(op.Tags, "reference") && op.OperationID != "verifyFile" || op.OperationID == "getVersion" || op.OperationID == "getDocument" {
			continue
		}
		query, body := url.Values{}, ""
		for _, p := range op.params {
			if p.Value.In == "query" && p.Value.Example != nil && op.OperationID != "verifyFile" { // whose key belongs to a bundle
				query.Set(p.Value.Name, fmt.Sprint(p.Value.Example))
			}
		}
		if op.RequestBody != nil {
			for _, m := range op.RequestBody.Value.Content {
				switch {
				case m.Example != nil:
					body = m.Example.(string)
				default:
					data, err := json.Marshal(m.Schema.Value.Examples[0])
					must(t, err)
					body = string(data)
				}
			}
		}
		a := b.send(op.method, op.path+"?"+query.Encode(), body)
		var got any
		if a.status != http.StatusOK || json.Unmarshal([]byte(a.body), &got) != nil {
			t.Errorf("%s: %d %s", op.OperationID, a.status, a.body)
			continue
		}
		example, err := json.Marshal(op.Responses.Value("200").Value.Content["application/json"].Example)
		must(t, err)
		var want any
		must(t, json.Unmarshal(example, &want))
		if where := beyond(want, got); where != "" {
			t.Errorf("%s: the answer is not as in the example at %s", op.OperationID, where)
		}
	}
}

// beyond says where an example is not a part of what was answered.
func beyond(example, got any) string {
	switch e := example.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(e) {
			return fmt.Sprintf("/: members %v", slices.Sorted(maps.Keys(e)))
		}
		for name, v := range e {
			if where := beyond(v, g[name]); where != "" {
				return "/" + name + where
			}
		}
	case []any:
		list, _ := got.([]any)
		for i, v := range e {
			if !slices.ContainsFunc(list, func(g any) bool { return beyond(v, g) == "" }) {
				return fmt.Sprintf("/%d", i)
			}
		}
	default:
		if example != got {
			return fmt.Sprintf(": %v", example)
		}
	}
	return ""
}
