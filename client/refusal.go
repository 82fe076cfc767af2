package client

import (
	"errors"
	"strings"
	"time"
)

// Refusal is a problem the service answered; it has changed nothing.
type Refusal struct {
	Problem
	RetryAfter time.Duration // zero: do not repeat
}

// Error says what is wrong, and the rule and line if the rules refused one.
func (r *Refusal) Error() string { return r.Code() + ": " + r.Detail }

// Code is the stable code of the problem, as openapi.yaml lists them.
func (r *Refusal) Code() string { return strings.TrimPrefix(string(r.Type), "urn:fairdice:problem:") }

// Code is the code of a refusal in err's chain, or "" for any other error.
func Code(err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Code()
	}
	return ""
}
