package api_test

import (
	"encoding/json"
	"testing"

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
	if proved < 10 {
		t.Errorf("only %d statements in all examples", proved)
	}
}
