package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"

	"fairdice/house"
)

// shape is what a request may bring beside its path and headers.
type shape struct {
	query   []string
	body    bool
	file    bool  // the body is a file of any kind, not JSON of ours
	limit   int64 // bytes of the body; zero: maxSmall
	anybody bool  // may send the body, without a key
	stream  bool  // the answer goes on until the caller leaves
	lasting bool  // the answer may be stored, and says how long
}

// shapes are those of the operations that bring anything or are answered in
// another way than most, by the pattern of their route; TestShapesAreTheDocument holds them against openapi.yaml.
var shapes = map[string]shape{
	"GET /v1/matches":                      {query: []string{"state", "variant", "mode", "player", "order", "cursor", "limit"}},
	"GET /v1/matches/{match}/feed":         {query: []string{"view", "last"}, stream: true},
	"GET /v1/feed":                         {query: []string{"last"}, stream: true},
	"GET /v1/statements":                   {query: []string{"type", "match", "since", "cursor", "limit"}},
	"GET /v1/matches/{match}/bundle":       {lasting: true},
	"GET /archive/{hash}":                  {lasting: true},
	"PUT /v1/matches/{match}":              {query: []string{"since"}, body: true},
	"GET /v1/matches/{match}/statements":   {query: []string{"since"}},
	"PUT /v1/matches/{match}/abandon":      {query: []string{"since"}},
	"PUT /v1/matches/{match}/games/{game}": {query: []string{"since"}},
	"PUT /v1/matches/{match}/games/{game}/segments/{segment}/links/{seat}":         {query: []string{"since"}, body: true, limit: maxLink, anybody: true},
	"PUT /v1/matches/{match}/games/{game}/segments/{segment}/links/{seat}/{throw}": {body: true, limit: maxLink, anybody: true},
	"PUT /v1/matches/{match}/games/{game}/events/{line}":                           {body: true, limit: MaxBody},
	"PUT /v1/matches/{match}/games/{game}/close":                                   {query: []string{"since"}, body: true, limit: MaxBody},
	"PUT /v1/matches/{match}/games/{game}/abort":                                   {query: []string{"since"}, body: true},
	"GET /v1/matches/{match}/games/{game}/record":                                  {query: []string{"view"}},
	"PUT /v1/modes/{mode}/sequences/{number}":                                      {query: []string{"since"}},
	"GET /v1/sequences":                   {query: []string{"tenant", "mode", "state", "cursor", "limit"}},
	"GET /v1/sequences/{sequence}":        {query: []string{"since"}},
	"PUT /v1/sequences/{sequence}/retire": {query: []string{"since"}, body: true},
	"GET /v1/options":                     {query: []string{"variant", "options"}},
	"POST /v1/plays":                      {body: true, limit: maxPlays, anybody: true},
	"POST /v1/verify":                     {query: []string{"key", "variant", "options"}, body: true, file: true, limit: MaxFile, anybody: true},
	"GET /v1/overdue":                     {query: []string{"cursor", "limit"}},
	"GET /v1/statistics":                  {query: []string{"tenant", "mode"}},
	"GET /v1/statements/{index}":          {query: []string{"since"}, lasting: true},
}

// shapeOf is that of the operation a request was routed to.
func shapeOf(r *http.Request) shape {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return shapes[method+" "+chi.RouteContext(r.Context()).RoutePattern()]
}

// query refuses parameters the operation does not have: one that is misspelt
// and passed over is an answer to another question than the one asked. The
// generated code checks of a size of the log only that it is a number.
func (s *server) query(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		// Not URL.Query, which drops the pairs it cannot read.
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			s.problem(w, r, refuse(house.Malformed, "the query string is not well-formed"))
			return
		}
		known := shapeOf(r).query
		for name, values := range q {
			switch {
			case !slices.Contains(known, name):
				s.problem(w, r, refuse(house.Malformed, "there is no parameter %.64q here", name))
				return
			case len(values) > 1:
				s.problem(w, r, refuse(house.Malformed, "parameter %s stands %d times in the query string", name, len(values)))
				return
			case slices.Contains(numbers, name) && !printed(values[0]):
				s.problem(w, r, refuse(house.Malformed, "parameter %s is a number in another form than its own", name))
				return
			case values[0] == "":
				s.problem(w, r, refuse(house.Malformed, "parameter %s is empty", name))
				return
			}
		}
		if n, err := strconv.ParseInt(q.Get("since"), 10, 64); q.Has("since") && (err != nil || n < 1) {
			s.problem(w, r, refuse(house.Malformed, "parameter since is not the size of a log: a number from 1 on"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
