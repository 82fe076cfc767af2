package house

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of refusal an Error is. Codes are stable.
type Code string

// The codes, as openapi.yaml lists them.
const (
	Malformed    Code = "malformed-request" // the request cannot be understood
	Forbidden    Code = "forbidden"         // the key lacks the scope
	Unauthorized Code = "unauthorized"      // no key, or one that is unknown, revoked or expired
	NotFound     Code = "not-found"         // nothing there, or not for this caller
	OtherContent Code = "other-content"     // the address was used with other content
	Invalid      Code = "invalid-match"     // variant, options, mode, players or anchors that do not go together
	OutOfOrder   Code = "out-of-order"      // a game, segment, roll or line before its predecessor
	NotDue       Code = "not-due"           // this roll, line or close is not due now
	Illegal      Code = "illegal-event"     // the rules refuse the line
	AwaitingLink Code = "awaiting-links"    // the segment is not dealt yet
	NotPublic    Code = "not-yet-public"    // no signed checkpoint contains the assign yet
	WrongLink    Code = "wrong-link"        // the link does not continue the seat's chain
	GameEnded    Code = "game-ended"        // the game is closed or aborted
	MatchEnded   Code = "match-ended"       // the match is finished
	PoolEmpty    Code = "pool-empty"        // no sealed sequence is left; ask again
	Unavailable  Code = "unavailable"       // the service cannot answer now; ask again
)

// Error is a refusal: nothing was changed.
type Error struct {
	Code    Code
	Message string
	// Alternatives are the record lines that would have been accepted, Board
	// the position drawn in text; only with Illegal and NotDue.
	Alternatives []string
	Board        string
	Line         int           // the record line refused, 0 if none
	Rule         string        // the rule broken, as rules.Code or a check id
	RetryAfter   time.Duration // zero: do not repeat

	changed bool // the store holds another match than the table did, or may
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func refuse(c Code, format string, args ...any) error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the code of a refusal in err's chain, or "" for any other error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
