package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/cors"
	"github.com/go-chi/httprate"
	"github.com/google/uuid"

	"fairdice"
	"fairdice/house"
)

// Defaults of a Config.
const (
	// DefaultLinkRate lets one address release ten links a second: a club
	// behind one router is not slowed down, a flood costs one hash each.
	DefaultLinkRate = 600
	// DefaultWorkRate lets one address ask for a check, a list of plays or the
	// statistics twice a second.
	DefaultWorkRate = 120
	// DefaultTimeout is longer than the house waits for a checkpoint.
	DefaultTimeout = 30 * time.Second
)

// Config is what a handler is made of.
type Config struct {
	House *house.House
	// Log serves the log's own paths, /checkpoint and /tile/….
	Log http.Handler
	// Ready fails while the database cannot be read; nil never fails.
	Ready func(context.Context) error
	// Outage tells the storage's failures, a full disk for instance, from
	// faults of the program: the former are answered 503. Nil: there are none.
	Outage   func(error) bool
	Version  string // of the build
	LinkRate int    // links a minute from one address; zero: DefaultLinkRate
	WorkRate int    // stateless requests a minute from one address; zero: DefaultWorkRate
	// ProxyHeader names the header to which the operator's own proxy appends
	// the address it was called from; empty: there is no proxy.
	ProxyHeader string
	Timeout     time.Duration // of a request; zero: DefaultTimeout
	Logger      *slog.Logger  // nil: nothing is logged
	Observer    Observer      // nil: nobody counts
	Now         func() time.Time
}

type server struct {
	house   *house.House
	keys    *keyring
	links   *httprate.RateLimiter
	work    *httprate.RateLimiter
	files   *checker
	proxy   string // header of the operator's own proxy, or ""
	ready   func(context.Context) error
	outage  func(error) bool
	version string
	timeout time.Duration
	log     *slog.Logger
	watch   Observer
	paths   map[string]bool // the patterns of all routes
}

var _ StrictServerInterface = (*server)(nil)

// New makes the handler of the whole API.
func New(c Config) (http.Handler, error) {
	if c.House == nil || c.Log == nil {
		return nil, errors.New("make API: a house and a log are needed")
	}
	if c.LinkRate == 0 {
		c.LinkRate = DefaultLinkRate
	}
	if c.WorkRate == 0 {
		c.WorkRate = DefaultWorkRate
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.Outage == nil {
		c.Outage = func(error) bool { return false }
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) error { return nil }
	}
	s := &server{
		house: c.House, keys: newKeyring(c.Now), proxy: c.ProxyHeader, ready: c.Ready, outage: c.Outage,
		version: c.Version, timeout: c.Timeout, log: c.Logger, watch: c.Observer,
	}
	s.links = s.limiter(c.LinkRate, "too many links from this address")
	s.work = s.limiter(c.WorkRate, "too many requests for work from this address")
	s.files = newChecker(c.Now)
	r := s.routes(c.Log)
	s.paths = patterns(r)
	return r, nil
}

func (s *server) limiter(rate int, refusal string) *httprate.RateLimiter {
	return httprate.NewRateLimiter(rate, time.Minute,
		httprate.WithLimitHandler(func(w http.ResponseWriter, r *http.Request) {
			s.problem(w, r, &house.Error{Code: rateLimited, Message: refusal, RetryAfter: time.Minute / 4})
		}))
}

func (s *server) routes(log http.Handler) chi.Router {
	r := chi.NewRouter()
	r.Use(s.observe, s.guard, middleware.GetHead)
	// Public reads and links may come from any page; an API key may not: a
	// browser that sends Authorization across origins is refused.
	r.Use(cors.Handler(cors.Options{
		AllowedOrigins: []string{"*"},
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost},
		AllowedHeaders: []string{"Accept-Language", "Content-Type", "If-None-Match", "X-View-Token"},
		ExposedHeaders: []string{"ETag", "Retry-After", requestIDHeader},
		MaxAge:         3600,
	}))
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		s.problem(w, r, refuse(house.NotFound, "no such address"))
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		var allowed []string
		for _, m := range []string{http.MethodGet, http.MethodPut, http.MethodPost} {
			if r.Match(chi.NewRouteContext(), m, req.URL.Path) {
				allowed = append(allowed, m)
				if m == http.MethodGet {
					allowed = append(allowed, http.MethodHead)
				}
			}
		}
		if len(allowed) == 0 { // the router does not know the method, nor looks at the path
			s.problem(w, req, refuse(house.NotFound, "no such address"))
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.problem(w, req, refuse(methodNotAllowed, "only %s is", strings.Join(allowed, " and ")))
	})
	r.Get("/checkpoint", log.ServeHTTP)
	r.Get("/tile/*", log.ServeHTTP)
	r.Group(func(r chi.Router) {
		r.Use(s.deadline, s.canonical, s.authenticate, s.query, s.body)
		HandlerWithOptions(limited{s.strict(), s.links, s.work, s.proxy}, ChiServerOptions{
			BaseRouter: r,
			ErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, err error) {
				s.problem(w, r, misread(err))
			},
		})
	})
	return r
}

func (s *server) strict() ServerInterface {
	return NewStrictHandlerWithOptions(s, nil, StrictHTTPServerOptions{
		RequestErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, err error) {
			s.problem(w, r, misread(err))
		},
		ResponseErrorHandlerFunc: s.problem,
	})
}

const requestIDHeader = "X-Request-Id"

type requestIDKey struct{}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// guard names the request, and turns a panic into an answer that says
// nothing about it.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var id string
		if u, err := uuid.NewV7(); err == nil {
			id = u.String()
		}
		w.Header().Set(requestIDHeader, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
		started := time.Now()
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				s.log.ErrorContext(r.Context(), "handler panicked",
					slog.String("request", id), slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
				s.problem(w, r, &house.Error{Code: internal, Message: "the failure was logged under the id of this request"})
			}
			s.log.LogAttrs(r.Context(), slog.LevelDebug, "request answered", slog.String("request", id),
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Duration("took", time.Since(started)))
		}()
		next.ServeHTTP(w, r)
	})
}

func (s *server) deadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// GetDocument serves openapi.yaml.
func (s *server) GetDocument(context.Context, GetDocumentRequestObject) (GetDocumentResponseObject, error) {
	return document(fairdice.OpenAPI), nil
}

type document []byte

// VisitGetDocumentResponse writes the document.
func (d document) VisitGetDocumentResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, err := w.Write(d)
	return err
}
