package api

import (
	"slices"
	"strings"
	"testing"
)

// Every code has a status, and every problem type of the document a code.
func TestProblemTypes(t *testing.T) {
	var types []ProblemType
	for code, kind := range problems {
		p := ProblemType("urn:fairdice:problem:" + string(code))
		types = append(types, p)
		if !p.Valid() {
			t.Errorf("the document does not list %s", p)
		}
		if kind.status < 400 || kind.title == "" {
			t.Errorf("%s has status %d and title %q", code, kind.status, kind.title)
		}
	}
	for _, p := range []ProblemType{ProblemTypeUrnFairdiceProblemIllegalEvent, ProblemTypeUrnFairdiceProblemInternal} {
		if !slices.Contains(types, p) {
			t.Errorf("no code for %s", p)
		}
	}
	if len(types) != documentedTypes(t) {
		t.Errorf("%d codes, %d problem types in the document", len(types), documentedTypes(t))
	}
}

func documentedTypes(t *testing.T) int {
	data, err := (&server{}).GetDocument(t.Context(), GetDocumentRequestObject{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data.(document)), "- urn:fairdice:problem:")
}
