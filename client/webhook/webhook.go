// Package webhook is what a receiver of events does with a request: it checks
// the signature over the raw body (Standard Webhooks, symmetric v1 and asymmetric
// v1a), refuses old ones, and reads the event.
//
//	v, err := webhook.New("whsec_…") // or whpk_…; both during a rotation
//	http.HandleFunc("POST /events", func(w http.ResponseWriter, r *http.Request) {
//		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhook.MaxBody))
//		if err == nil {
//			err = v.Verify(r.Header, body, time.Now())
//		}
//		if err != nil {
//			http.Error(w, "not from the dice service", http.StatusUnauthorized)
//			return
//		}
//		e, err := webhook.Parse(body)
//		…
//	})
//
// A message may come more than once, and messages come in any order: remember
// the ids (header webhook-id) that were dealt with, and ask the service where
// the match stands. Answer with 2xx within 15 seconds, before any long work.
// What an event says is proved by nobody but the signature here: the proof of
// its statement is at /v1/statements/{index}.
package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a message.
const (
	IDHeader        = "webhook-id"
	TimestampHeader = "webhook-timestamp"
	SignatureHeader = "webhook-signature"
)

// Tolerance is how far the time of a message may be from the receiver's clock:
// an attempt is signed anew, so an older one is a replay by somebody else.
const Tolerance = 5 * time.Minute

// MaxBody bounds the body of a message, in bytes.
const MaxBody = 64 << 10

// maxSignatures bounds what is tried of one header.
const maxSignatures = 16

var (
	// ErrSignature: no signature of the message is good under any of the keys.
	ErrSignature = errors.New("no good signature")
	// ErrTime: it was signed too long ago, or in the future.
	ErrTime = errors.New("timestamp outside of the tolerance")
)

// Verifier knows the keys of an endpoint.
type Verifier struct {
	secrets [][]byte
	public  []ed25519.PublicKey
}

// New reads secrets (whsec_) and public keys (whpk_), at least one.
func New(keys ...string) (*Verifier, error) {
	var v Verifier
	for i, key := range keys {
		switch {
		case strings.HasPrefix(key, "whsec_"):
			b, err := decode(key, "whsec_", 24, 64)
			if err != nil {
				return nil, fmt.Errorf("read key %d: %w", i+1, err)
			}
			v.secrets = append(v.secrets, b)
		case strings.HasPrefix(key, "whpk_"):
			b, err := decode(key, "whpk_", ed25519.PublicKeySize, ed25519.PublicKeySize)
			if err != nil {
				return nil, fmt.Errorf("read key %d: %w", i+1, err)
			}
			v.public = append(v.public, b)
		default:
			return nil, fmt.Errorf("read key %d: it begins neither with whsec_ nor with whpk_", i+1)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("read keys: there is none")
	}
	return &v, nil
}

// decode never shows the key in an error.
func decode(key, prefix string, low, high int) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, prefix))
	switch {
	case err != nil:
		return nil, fmt.Errorf("what follows %s is not base64", prefix)
	case len(b) < low || len(b) > high:
		return nil, fmt.Errorf("what follows %s is %d bytes, not %d to %d", prefix, len(b), low, high)
	}
	return b, nil
}

// Verify checks a message as it came: its headers, and every byte of its body.
// One good signature is enough; while a key is replaced there are two.
func (v *Verifier) Verify(h http.Header, body []byte, now time.Time) error {
	id, stamp := h.Get(IDHeader), h.Get(TimestampHeader)
	if id == "" || strings.Contains(id, ".") {
		return fmt.Errorf("verify message: header %s: %q is no id", IDHeader, id)
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != stamp {
		return fmt.Errorf("verify message: header %s: %q is no number of seconds", TimestampHeader, stamp)
	}
	if at := time.Unix(seconds, 0); at.Before(now.Add(-Tolerance)) || at.After(now.Add(Tolerance)) {
		return fmt.Errorf("verify message %s: %w", id, ErrTime)
	}
	signed := append([]byte(id+"."+stamp+"."), body...)
	for i, s := range strings.Fields(h.Get(SignatureHeader)) {
		if i == maxSignatures {
			break
		}
		version, text, _ := strings.Cut(s, ",")
		sig, err := base64.StdEncoding.DecodeString(text)
		if err == nil && v.good(version, signed, sig) {
			return nil
		}
	}
	return fmt.Errorf("verify message %s: %w", id, ErrSignature)
}

func (v *Verifier) good(version string, signed, sig []byte) bool {
	switch version {
	case "v1":
		for _, secret := range v.secrets {
			mac := hmac.New(sha256.New, secret)
			mac.Write(signed)
			if hmac.Equal(mac.Sum(nil), sig) {
				return true
			}
		}
	case "v1a":
		for _, key := range v.public {
			if ed25519.Verify(key, signed, sig) {
				return true
			}
		}
	}
	return false
}

// Event is what a message says. Which fields of Data are there depends on
// Type; openapi.yaml has the shapes.
type Event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

// Data is what an event is about.
type Data struct {
	Log       string    `json:"log,omitempty"` // its origin
	Match     string    `json:"match,omitempty"`
	Game      int       `json:"game,omitempty"`
	Segment   int       `json:"segment,omitempty"`
	Index     *int64    `json:"index,omitempty"`     // of the statement in the log
	Statement string    `json:"statement,omitempty"` // its text
	Mode      string    `json:"mode,omitempty"`
	Free      *int      `json:"free,omitempty"` // sequences that are left
	Ends      time.Time `json:"ends,omitzero"`  // when the service will end the game itself
}

// Parse reads the body of a message that was verified. Unknown members are
// skipped: later versions may add some.
func Parse(body []byte) (Event, error) {
	var e Event
	if len(body) > MaxBody {
		return e, fmt.Errorf("read event: it has more than %d bytes", MaxBody)
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("read event: %w", err)
	}
	if e.Type == "" {
		return e, errors.New("read event: it has no type")
	}
	return e, nil
}
