package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"fairdice/house"
	"fairdice/internal/plays"
	"fairdice/rules"
)

// Limits of a request for plays. A double in the open has some thousand ends,
// so a hundred questions stay below a second.
const (
	maxPlays     = 256 << 10 // bytes
	maxQuestions = 100
)

// ListPlays answers questions about single stages as verify plays does.
func (s *server) ListPlays(ctx context.Context, r ListPlaysRequestObject) (ListPlaysResponseObject, error) {
	if r.Body == nil {
		return nil, refuse(house.Malformed, "this request needs a body")
	}
	o := plays.Options{Variant: r.Body.Variant, PID: r.Body.Pid}
	if o.Variant != "" {
		if _, err := rules.Lookup(o.Variant); err != nil {
			return nil, refuse(house.Malformed, "variant %.64q is none of /v1/variants", o.Variant)
		}
	}
	if n := len(r.Body.Requests); n < 1 || n > maxQuestions {
		return nil, refuse(house.Malformed, "%d questions; a request has 1 to %d", n, maxQuestions)
	}
	var lines bytes.Buffer
	for i, q := range r.Body.Requests {
		if len(q) == 0 || q[0] != '{' {
			return nil, refuse(house.Malformed, "/requests/%d is not an object", i)
		}
		if err := json.Compact(&lines, q); err != nil {
			return nil, refuse(house.Malformed, "/requests/%d: %v", i, err)
		}
		lines.WriteByte('\n')
	}
	var answers bytes.Buffer
	if _, err := plays.Serve(&inTime{ctx, &lines}, &answers, o); err != nil {
		return nil, fmt.Errorf("list plays: %w", err)
	}
	var out ListPlays200JSONResponse
	for line := range bytes.Lines(answers.Bytes()) {
		out.Answers = append(out.Answers, json.RawMessage(bytes.TrimSpace(line)))
	}
	// A question that is too long is the last one that is answered.
	if len(out.Answers) < len(r.Body.Requests) {
		return nil, refuse(house.Malformed, "/requests/%d is longer than %d bytes", len(out.Answers)-1, plays.MaxLine)
	}
	return out, nil
}

// inTime is a reader that fails when the time of a request is over.
type inTime struct {
	ctx context.Context
	io.Reader
}

func (r *inTime) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	// Little at a time, so that it is asked again soon.
	return r.Reader.Read(p[:min(len(p), 4096)])
}
