package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"fairdice/house"
)

// Codes of refusals that HTTP itself gives rise to, beside those of the house.
const (
	methodNotAllowed house.Code = "method-not-allowed"
	requestTimeout   house.Code = "request-timeout"
	tooLarge         house.Code = "too-large"
	unsupportedMedia house.Code = "unsupported-media-type"
	rateLimited      house.Code = "rate-limited"
	internal         house.Code = "internal"
)

// problems is the one place that maps codes to statuses and titles.
var problems = map[house.Code]struct {
	status int
	title  string
}{
	house.Malformed:    {http.StatusBadRequest, "The request cannot be understood"},
	house.Unauthorized: {http.StatusUnauthorized, "A valid API key is needed"},
	house.Forbidden:    {http.StatusForbidden, "The API key lacks the scope"},
	house.NotFound:     {http.StatusNotFound, "Nothing there"},
	house.OtherContent: {http.StatusConflict, "The address was used with other content"},
	house.OutOfOrder:   {http.StatusConflict, "Something else comes first"},
	house.NotDue:       {http.StatusConflict, "Not due now"},
	house.AwaitingLink: {http.StatusConflict, "The players' links are awaited"},
	house.NotPublic:    {http.StatusConflict, "The assign is not public yet"},
	house.GameEnded:    {http.StatusConflict, "The game has ended"},
	house.MatchEnded:   {http.StatusConflict, "The match has ended"},
	house.Invalid:      {http.StatusUnprocessableEntity, "The terms do not go together"},
	house.Illegal:      {http.StatusUnprocessableEntity, "The rules refuse the line"},
	house.WrongLink:    {http.StatusUnprocessableEntity, "The link does not continue the chain"},
	house.PoolEmpty:    {http.StatusServiceUnavailable, "No sealed sequence is left"},
	house.Unavailable:  {http.StatusServiceUnavailable, "The service cannot answer now"},
	methodNotAllowed:   {http.StatusMethodNotAllowed, "The method is not allowed here"},
	requestTimeout:     {http.StatusRequestTimeout, "The request did not arrive in time"},
	tooLarge:           {http.StatusRequestEntityTooLarge, "The request is too large"},
	unsupportedMedia:   {http.StatusUnsupportedMediaType, "The body must be application/json"},
	rateLimited:        {http.StatusTooManyRequests, "Too many requests"},
	internal:           {http.StatusInternalServerError, "Internal error"},
}

// busyAgain is when to repeat a request that found the service busy and was
// told no time of its own.
const busyAgain = time.Second

// outageAgain is when to repeat a request that the storage could not take: a
// full disk does not get room within a second.
const outageAgain = 5 * time.Second

func refuse(code house.Code, format string, args ...any) error {
	return &house.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refusal is what the caller is told of err. Whatever is not a refusal is
// logged and answered without its text: it may name files or hosts.
func (s *server) refusal(ctx context.Context, err error) *house.Error {
	var e *house.Error
	if errors.As(err, &e) {
		if _, known := problems[e.Code]; known {
			return e
		}
	}
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		s.log.DebugContext(ctx, "request ran out of time", slog.String("request", requestID(ctx)), slog.Any("error", err))
		return &house.Error{Code: house.Unavailable, Message: "the request took too long; repeat it"}
	}
	if s.outage(err) {
		s.log.ErrorContext(ctx, "storage failed", slog.String("request", requestID(ctx)), slog.Any("error", err))
		return &house.Error{Code: house.Unavailable, Message: "the storage cannot take the change now; repeat the request", RetryAfter: outageAgain}
	}
	s.log.ErrorContext(ctx, "request failed", slog.String("request", requestID(ctx)), slog.Any("error", err))
	return &house.Error{Code: internal, Message: "the failure was logged under the id of this request"}
}

// problem writes err as RFC 9457.
func (s *server) problem(w http.ResponseWriter, r *http.Request, err error) {
	e := s.refusal(r.Context(), err)
	if e.Code == house.Forbidden && who(r.Context()).Tenant == "" {
		// Who showed no key is not told that his key lacks something (RFC 9110 §15.5.2).
		e = &house.Error{Code: house.Unauthorized, Message: e.Message}
	}
	s.watch.Refused(e.Code)
	kind := problems[e.Code]
	p := Problem{
		Type: ProblemType("urn:fairdice:problem:" + e.Code), Title: kind.title, Status: kind.status,
		Detail: e.Message, Line: e.Line, Rule: e.Rule, Alternatives: e.Alternatives, Board: e.Board,
	}
	if id := requestID(r.Context()); id != "" {
		p.Instance = "urn:uuid:" + id
	}
	h := w.Header()
	again := e.RetryAfter
	if again == 0 && kind.status == http.StatusServiceUnavailable {
		again = busyAgain
	}
	if again > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(again.Seconds()))))
	}
	if kind.status == http.StatusRequestTimeout {
		h.Set("Connection", "close") // the rest of the body may still come
	}
	if kind.status == http.StatusUnauthorized {
		s.failed(r)
		h.Set("WWW-Authenticate", `Bearer realm="fairdice"`)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(kind.status)
	if err := json.NewEncoder(w).Encode(p); err != nil {
		s.log.DebugContext(r.Context(), "caller went away", slog.Any("error", err))
	}
}

// misread words what the generated code says about a request it cannot bind.
func misread(err error) error {
	var e *house.Error
	if errors.As(err, &e) {
		return e
	}
	var format *InvalidParamFormatError
	if errors.As(err, &format) {
		return refuse(house.Malformed, "parameter %s is not of the form the API document gives it", format.ParamName)
	}
	return refuse(house.Malformed, "%v", err)
}
