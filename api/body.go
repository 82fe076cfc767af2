package api

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fairdice/house"
)

// MaxBody is the largest request body read, in bytes: a record of the largest
// size PROTOCOL.md §5 allows comes in one request when a dice-only game is
// closed, and JSON puts three characters around every line of it.
const MaxBody = 2 << 20

// unreadGrace is how long the rest of a body may still come once its request is
// answered: net/http reads on, to use the connection again, before it even sends
// the answer. Whoever sends all at once sees it and no reset.
const unreadGrace = time.Second

// body reads a request body whole, so that what is behind the first JSON
// value is not silently dropped, and refuses what two readers could read in two ways.
func (s *server) body(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		shape := shapeOf(r)
		if err := s.admit(r, shape); err != nil {
			w.Header().Set("Connection", "close") // its rest is not waited for
			s.problem(w, r, err)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(shape.limit, maxSmall))
		if shape.file {
			next.ServeHTTP(w, r) // which reads it when there is room for it
			return
		}
		data, err := io.ReadAll(r.Body)
		if err != nil {
			w.Header().Set("Connection", "close") // the rest may still come
			s.problem(w, r, unread(err, len(data)))
			return
		}
		if len(data) == 0 {
			r.Body = http.NoBody
			next.ServeHTTP(w, r)
			return
		}
		if !isJSON(r.Header.Get("Content-Type")) {
			s.problem(w, r, refuse(unsupportedMedia, "the Content-Type is %q", r.Header.Get("Content-Type")))
			return
		}
		if err := wellFormed(data); err != nil {
			s.problem(w, r, err)
			return
		}
		if !shape.body {
			// Clients that send {} with every PUT mean nothing by it.
			if v := jsontext.Value(bytes.Clone(data)); v.Compact() != nil || string(v) != "{}" {
				s.problem(w, r, refuse(house.Malformed, "this request has no body"))
				return
			}
			r.Body = http.NoBody
			next.ServeHTTP(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		next.ServeHTTP(w, r)
	})
}

// unread says why a body could be read only so far.
func unread(err error, read int) error {
	switch large := new(http.MaxBytesError); {
	case errors.As(err, &large):
		return refuse(tooLarge, "the body is larger than %d bytes", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &house.Error{
			Code: requestTimeout, Message: fmt.Sprintf("the body stopped after %d bytes; nothing was done, send it again", read), RetryAfter: busyAgain,
		}
	}
	return refuse(house.Malformed, "the body breaks off after %d bytes", read)
}

// wellFormed accepts exactly one JSON object with no member twice.
func wellFormed(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	v, err := d.ReadValue()
	if err != nil {
		return refuse(house.Malformed, "the body is not JSON: %v", syntax(err))
	}
	if v.Kind() != '{' {
		return refuse(house.Malformed, "the body is not a JSON object")
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return refuse(house.Malformed, "text follows the JSON object at byte %d", d.InputOffset())
	}
	return nil
}

// syntax leaves the place and the reason of a JSON error.
func syntax(err error) string {
	var e *jsontext.SyntacticError
	if errors.As(err, &e) {
		return fmt.Sprintf("byte %d: %v", e.ByteOffset, e.Err)
	}
	return err.Error()
}

// strict decodes an object whose members are exactly those of the document:
// an unknown member is refused by its name, for a misspelt option that is
// dropped would open another match than the one meant.
func strict(data []byte, into any, required ...string) error {
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(true))
	if err != nil {
		var e *json.SemanticError
		switch {
		case !errors.As(err, &e):
			return refuse(house.Malformed, "the body: %v", err)
		case errors.Is(e.Err, json.ErrUnknownName):
			return refuse(house.Malformed, "the body has an unknown member %s", e.JSONPointer)
		default:
			return refuse(house.Malformed, "the body: member %s is not of the type the API document gives it", e.JSONPointer)
		}
	}
	for _, path := range required {
		if lacks(data, path) {
			return refuse(house.Malformed, "the body lacks the member /%s", path)
		}
	}
	return nil
}

// lacks reports whether an object has no member at the end of the path,
// although it has everything in front of it. An anchor without a hash, say, is
// not the same as no anchor: the player meant to take part in the cut.
func lacks(object jsontext.Value, path string) bool {
	first, rest, deeper := strings.Cut(path, "/")
	var members map[string]jsontext.Value
	if err := json.Unmarshal(object, &members); err != nil {
		return true
	}
	v, ok := members[first]
	if !deeper {
		return !ok || v.Kind() == 'n'
	}
	return ok && lacks(v, rest)
}

// UnmarshalJSON is strict.
func (b *OpenRequest) UnmarshalJSON(data []byte) error {
	type plain OpenRequest
	return strict(data, (*plain)(b), "variant", "mode", "a", "b", "a/token", "b/token", "a/anchor/hash", "b/anchor/hash")
}

// UnmarshalJSON is strict.
func (b *LinkRequest) UnmarshalJSON(data []byte) error {
	type plain LinkRequest
	return strict(data, (*plain)(b), "link")
}

// UnmarshalJSON is strict.
func (b *EventsRequest) UnmarshalJSON(data []byte) error {
	type plain EventsRequest
	return strict(data, (*plain)(b), "lines")
}

// UnmarshalJSON is strict.
func (b *CloseRequest) UnmarshalJSON(data []byte) error {
	type plain CloseRequest
	return strict(data, (*plain)(b), "lines")
}

// UnmarshalJSON is strict.
func (b *ReasonRequest) UnmarshalJSON(data []byte) error {
	type plain ReasonRequest
	return strict(data, (*plain)(b), "reason")
}

// UnmarshalJSON is strict, but for the questions themselves.
func (b *PlaysRequest) UnmarshalJSON(data []byte) error {
	type plain PlaysRequest
	return strict(data, (*plain)(b), "requests")
}
