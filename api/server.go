package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/cors"
	"github.com/google/uuid"

	"fairdice"
	"fairdice/house"
	"fairdice/web"
)

// Defaults of a Config.
const (
	// DefaultLinkRate lets one address release ten links a second: a club
	// behind one router is not slowed down, a flood costs one hash each.
	DefaultLinkRate = 600
	// DefaultWorkRate lets one address ask for a check, a list of plays or the
	// statistics twice a second.
	DefaultWorkRate = 120
	// DefaultReadRate lets one address read a hundred times a second without a
	// key: enough for a hall full of spectators.
	DefaultReadRate = 6000
	// FailureRate is how many wrong keys and view tokens a minute one address may try.
	FailureRate = 60
	// DefaultTimeout is longer than the house waits for a checkpoint.
	DefaultTimeout = 30 * time.Second
)

// Config is what a handler is made of.
type Config struct {
	House *house.House
	// Log serves the log's own paths, /checkpoint and /tile/….
	Log http.Handler
	// Site renders the pages; nil: there are none, and only the API is served.
	Site *web.Site
	// Ready fails while the database cannot be read; nil never fails.
	Ready func(context.Context) error
	// Outage tells the storage's failures, a full disk for instance, from
	// faults of the program: the former are answered 503. Nil: there are none.
	Outage   func(error) bool
	Version  string // of the build
	LinkRate int    // links a minute from one address; zero: DefaultLinkRate
	WorkRate int    // stateless requests a minute from one address; zero: DefaultWorkRate
	ReadRate int    // reads without a key a minute from one address; zero: DefaultReadRate
	KeyRate  int    // requests a minute with one key; zero: no limit
	// Streams ends all streams when it ends, as before a stop of the service:
	// their clients go on elsewhere. Nil: only their callers end them.
	Streams    context.Context
	StreamLife time.Duration // of one stream; zero: DefaultStreamLife
	// ProxyHeader names the header to which the operator's own proxy appends
	// the address it was called from; empty: there is no proxy. It counts only
	// in requests that come from one of TrustedProxies.
	ProxyHeader    string
	TrustedProxies []netip.Prefix
	Timeout        time.Duration // of a request; zero: DefaultTimeout
	Logger         *slog.Logger  // nil: nothing is logged
	Observer       Observer      // nil: nobody counts
	Now            func() time.Time
}

type server struct {
	house   *house.House
	keys    *keyring
	welcome *welcome
	proxies proxies
	streams *streams
	site    *web.Site    // nil: no pages
	logs    http.Handler // Config.Log

	files *checker

	links, reads, work, failures *quota
	perKey                       *quota // nil: no limit

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
	if c.ReadRate == 0 {
		c.ReadRate = DefaultReadRate
	}
	if c.StreamLife == 0 {
		c.StreamLife = DefaultStreamLife
	}
	if c.Streams == nil {
		c.Streams = context.Background()
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
		house: c.House, site: c.Site, logs: c.Log, keys: newKeyring(c.Now), proxies: proxies{c.ProxyHeader, c.TrustedProxies}, ready: c.Ready, outage: c.Outage,
		version: c.Version, timeout: c.Timeout, log: c.Logger, watch: c.Observer, welcome: newWelcome(), streams: newStreams(c.Streams, c.StreamLife, c.Observer),
		links:    newQuota("links", "links from this address", c.LinkRate),
		work:     newQuota("work", "requests for work from this address", c.WorkRate),
		files:    newChecker(c.Now),
		reads:    newQuota("reads", "reads without a key from this address", c.ReadRate),
		failures: newQuota("failures", "wrong keys or view tokens from this address", FailureRate),
	}
	if c.KeyRate > 0 {
		s.perKey = newQuota("key", "requests with this key", c.KeyRate)
	}
	r := s.routes(c.Log)
	s.paths = patterns(r)
	return r, nil
}

func (s *server) routes(log http.Handler) chi.Router {
	r := chi.NewRouter()
	r.Use(s.observe, s.guard, middleware.GetHead)
	// Public reads and links may come from any page; an API key may not: a
	// browser that sends Authorization across origins is refused.
	r.Use(cors.Handler(cors.Options{
		AllowedOrigins: []string{"*"},
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost},
		AllowedHeaders: []string{"Accept-Language", "Content-Type", "If-None-Match", "Last-Event-ID", "X-View-Token", requestIDHeader},
		ExposedHeaders: []string{"ETag", "RateLimit", "RateLimit-Policy", "Retry-After", requestIDHeader},
		MaxAge:         3600,
	}))
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		err := refuse(house.NotFound, "no such address")
		if s.site != nil && strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/v1/") {
			s.site.Render(w, r, s.failure(r, err)) // somebody has mistyped an address into a browser
			return
		}
		s.problem(w, r, err)
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
	if s.site != nil {
		s.pages(r)
	}
	r.With(s.deadline).Get("/checkpoint", log.ServeHTTP)
	r.With(s.deadline).Get("/tile/*", log.ServeHTTP)
	r.Group(func(r chi.Router) {
		r.Use(s.deadline, caching, s.canonical, s.guesses, s.authenticate, s.limit, s.query, s.body)
		HandlerWithOptions(limited{s.strict(), s}, ChiServerOptions{
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

// newRequestID is the caller's own if it is a UUID in canonical form, so that
// nobody writes anything else into the log or into an answer with it.
func newRequestID(r *http.Request) string {
	if text := r.Header.Get(requestIDHeader); text != "" {
		if u, err := uuid.Parse(text); err == nil && u.String() == text {
			return text
		}
	}
	u, err := uuid.NewV7()
	if err != nil {
		return ""
	}
	return u.String()
}

// guard names the request, and turns a panic into an answer that says
// nothing about it.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := newRequestID(r)
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
		if r.ContentLength != 0 {
			// A server that cannot set deadlines, as in tests, waits longer.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadGrace))
		}
	})
}

// deadline ends a request that takes too long; a stream has deadlines of its own.
func (s *server) deadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if shapeOf(r).stream {
			next.ServeHTTP(w, r.WithContext(withFollower(r, s.proxies)))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// caching keeps answers out of caches, unless their operation says itself how
// long they last.
func caching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !shapeOf(r).lasting {
			w.Header().Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
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
