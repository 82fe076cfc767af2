package api

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"fairdice/house"
)

// Observer is told what is asked and answered, so that it can be counted. What
// it learns takes few values: whoever sends requests can send any path and any
// method, and must not be able to fill a memory with them.
type Observer interface {
	// Arrived: a request has come in.
	Arrived()
	// Answered: it was answered, that long after. The route is a path of the API
	// document, parameters and all, or "other"; the method is "other" unless
	// HTTP defines it. The status is 0 if the caller was cut off without one.
	Answered(method, route string, status int, took time.Duration)
	// Followed: a request for a stream was answered, in place of Answered. How
	// long that took says only how long the caller stayed.
	Followed(method, route string, status int)
	// Streaming: so many streams more are open, less if negative.
	Streaming(change int)
	// Refused: a problem was answered.
	Refused(code house.Code)
}

// unobserved is an API that nobody watches.
type unobserved struct{}

func (unobserved) Arrived()                                    {}
func (unobserved) Answered(string, string, int, time.Duration) {}
func (unobserved) Followed(string, string, int)                {}
func (unobserved) Streaming(int)                               {}
func (unobserved) Refused(house.Code)                          {}

// other stands for all that is not listed.
const other = "other"

// observe stands outside everything, so that panics are answered by then.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		s.watch.Arrived()
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		cut := true
		defer func() {
			status := answer.Status()
			if status == 0 && !cut { // what net/http writes for a handler that wrote nothing
				status = http.StatusOK
			}
			route := s.route(r)
			if shapes[http.MethodGet+" "+route].stream {
				s.watch.Followed(method(r), route, status)
				return
			}
			s.watch.Answered(method(r), route, status, time.Since(started))
		}()
		next.ServeHTTP(answer, r)
		cut = false
	})
}

// route is the pattern that the request has met.
func (s *server) route(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil {
		if p := c.RoutePattern(); s.paths[p] {
			return p
		}
	}
	return other
}

func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return other
}

// patterns are the routes there are.
func patterns(r chi.Routes) map[string]bool {
	all := map[string]bool{}
	// The function never fails, so neither does the walk.
	_ = chi.Walk(r, func(_ string, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		all[route] = true
		return nil
	})
	return all
}
