package api

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"fairdice/house"
)

// canonical refuses a second name of a resource: an escape that need not be
// one, or a number in another form than the one it is printed in. What stands
// before the service, a cache or a list of addresses that are let through,
// compares names as bytes; for it %30 and 0, or 01 and 1, are two.
func (s *server) canonical(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawPath != "" {
			s.problem(w, r, refuse(house.Malformed, "the path has an escape that it does not need"))
			return
		}
		params := chi.RouteContext(r.Context()).URLParams
		for i, v := range params.Values {
			if slices.Contains(numbers, params.Keys[i]) && !printed(v) {
				s.problem(w, r, refuse(house.Malformed, "parameter %s is a number in another form than its own", params.Keys[i]))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// numbers are the parameters that may be one.
var numbers = []string{"cursor", "game", "index", "limit", "line", "number", "segment", "since", "throw"}

// printed reports whether text is no number, or one as it is printed.
func printed(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err != nil || strconv.FormatInt(n, 10) == text
}

// maxSmall is the largest body of a request that brings a few names and hashes.
const maxSmall = 64 << 10

// maxLink is the largest body that anybody may send without a key: one hash.
const maxLink = 1 << 10

// admit says why a body is not read at all: it is of another coding, or of
// somebody who may not send it. Otherwise strangers could have the service keep
// MaxBody for each connection, as long as they like to take for the rest.
func (s *server) admit(r *http.Request, sh shape) error {
	if c := r.Header.Get("Content-Encoding"); c != "" && !strings.EqualFold(c, "identity") {
		return refuse(unsupportedMedia, "the body is encoded; send it as it is")
	}
	if !sh.anybody && r.Method != http.MethodGet && r.Method != http.MethodHead && who(r.Context()).Tenant == "" {
		return refuse(house.Unauthorized, "an API key is needed")
	}
	return nil
}

// isJSON reports whether the Content-Type names the only form that is read.
func isJSON(contentType string) bool {
	kind, params, err := mime.ParseMediaType(contentType)
	charset, has := params["charset"]
	return err == nil && kind == "application/json" && (!has || strings.EqualFold(charset, "utf-8"))
}
