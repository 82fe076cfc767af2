package witness

import (
	"encoding/base64"
	"strings"
	"testing"

	"fairdice/commitment"
)

// FuzzParseRequest: a request has one spelling; what is read prints to what was sent.
func FuzzParseRequest(f *testing.F) {
	hash := base64.StdEncoding.EncodeToString(make([]byte, 32))
	f.Add("old 0\n\nlog\n1\n" + hash + "\n\n— log AAAAAAAA\n")
	f.Add("old 20852014\n" + hash + "\n" + hash + "\n\ncheckpoint")
	f.Add("old 01\n\n")
	f.Add("\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		old, proof, checkpoint, err := parseRequest(body)
		if err != nil {
			return
		}
		if len(proof) > maxProof {
			t.Errorf("%d hashes", len(proof))
		}
		if got := requestText(old, proof, checkpoint); got != body {
			t.Errorf("%q prints as %q", body, got)
		}
	})
}

func TestParseRequest(t *testing.T) {
	proof := []commitment.Hash{{1}, {2}}
	body := requestText(12, proof, "a\n\nb\n\nc")
	old, got, checkpoint, err := parseRequest(body)
	if err != nil || old != 12 || len(got) != 2 || got[1] != proof[1] || checkpoint != "a\n\nb\n\nc" {
		t.Errorf("%d %v %q %v", old, got, checkpoint, err)
	}
	if _, _, _, err := parseRequest(requestText(1, make([]commitment.Hash, maxProof), "x")); err != nil {
		t.Error(err)
	}
	if _, _, _, err := parseRequest(requestText(1, make([]commitment.Hash, maxProof+1), "x")); err == nil || !strings.Contains(err.Error(), "63") {
		t.Errorf("64 hashes: %v", err)
	}
}
