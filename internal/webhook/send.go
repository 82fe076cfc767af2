// Package webhook sends events to the endpoints of tenants as Standard Webhooks
// has it: signed, in a POST that a receiver acknowledges with 2xx.
//
//	s, err := webhook.New(webhook.Config{})
//	r := s.Send(ctx, webhook.Request{Address: "https://club.example/dice", Keys: []string{"whsec_…"}, ID: "msg_…", Body: body})
//	// r.Failure == "": it was taken
//
// The address comes from a tenant and leads wherever he likes, so a sender
// trusts nothing about it. It resolves a name itself, refuses it if any of its
// addresses is not on the public internet, and connects to the addresses it has
// looked at, never to the name: what the name means a moment later does not
// matter. It follows no redirect, sends through no proxy, keeps no cookie, speaks
// HTTP/1.1 over verified TLS, reads a bounded answer in bounded time, and tells nobody
// what the answer said but its status. docs/integrating.md is the receiver's side.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

const (
	// Timeout is how long an endpoint has for its answer, from the look-up of its name on.
	Timeout = 15 * time.Second
	// MaxAnswer is how much of an answer's body is read, in bytes, to use the connection again.
	MaxAnswer = 64 << 10

	maxHeaders  = 16 << 10
	connectTime = 5 * time.Second
	drainTime   = time.Second
	maxResolved = 16 // addresses of a name
)

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config is what a sender is made of; the zero value is for the public internet.
type Config struct {
	Private  []netip.Prefix   // networks that may be reached although they are not public
	Resolver Resolver         // nil: the system's
	Roots    *x509.CertPool   // nil: the system's
	Timeout  time.Duration    // 0: Timeout
	Now      func() time.Time // nil: time.Now
}

// Sender sends. It is safe for concurrent use.
type Sender struct {
	private   []netip.Prefix
	resolver  Resolver
	timeout   time.Duration
	now       func() time.Time
	transport *http.Transport
}

// New makes a sender.
func New(c Config) *Sender {
	s := &Sender{private: c.Private, resolver: c.Resolver, timeout: c.Timeout, now: c.Now}
	if s.resolver == nil {
		s.resolver = net.DefaultResolver
	}
	if s.timeout <= 0 {
		s.timeout = Timeout
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.transport = &http.Transport{
		Proxy:                  nil, // one from the environment would dial for us, unchecked
		DialContext:            s.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
		TLSHandshakeTimeout:    connectTime,
		MaxResponseHeaderBytes: maxHeaders,
		MaxIdleConnsPerHost:    2,
		MaxIdleConns:           64,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true,
	}
	return s
}

// Close ends idle connections.
func (s *Sender) Close() { s.transport.CloseIdleConnections() }

// dial connects to the addresses that were looked at, in the order of the answer.
func (s *Sender) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ips, err := s.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: connectTime, Control: s.control}
	var failed error
	for _, ip := range ips {
		c, err := d.DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
		if err == nil {
			return c, nil
		}
		failed = err
	}
	return nil, failed
}

func (s *Sender) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	var ips []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		ips = []netip.Addr{ip}
	} else if ips, err = s.resolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	switch {
	case len(ips) == 0:
		return nil, fmt.Errorf("look up %s: it has no address", host)
	case len(ips) > maxResolved:
		return nil, fmt.Errorf("look up %s: it has %d addresses", host, len(ips))
	}
	for i, ip := range ips {
		// One that is not public among those that are is no accident.
		if err := s.allow(ip); err != nil {
			return nil, errRefused{err}
		}
		ips[i] = ip.Unmap()
	}
	return ips, nil
}

// control looks once more, at what the system is about to connect to.
func (s *Sender) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err == nil {
		err = s.allow(a.Addr())
	}
	if err != nil {
		return errRefused{err}
	}
	return nil
}

// errRefused is an address that is not connected to.
type errRefused struct{ error }

// Request is one attempt to tell an endpoint of an event.
type Request struct {
	Address string
	Plain   bool // http is allowed
	Keys    []string
	ID      string
	Body    []byte
}

// Result is what came of it. Failure is "" if the endpoint has taken the
// message; it has only words of this package, for it is shown to operators.
type Result struct {
	Status  int // of HTTP; 0: no answer
	Failure string
	After   time.Duration // the endpoint asks not to be tried again before that; 0: it does not
	Gone    bool          // it wants nothing any more (410)
}

// Send makes one attempt.
func (s *Sender) Send(ctx context.Context, q Request) Result {
	u, err := s.parse(q.Address, q.Plain)
	if err != nil {
		return Result{Failure: err.Error()}
	}
	at := s.now()
	signature, err := Sign(q.Keys, q.ID, at, q.Body)
	if err != nil {
		return Result{Failure: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(q.Body))
	if err != nil {
		return Result{Failure: "the address is no URL"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "fairdice-webhooks/1")
	req.Header.Set("webhook-id", q.ID)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	req.Header.Set("webhook-signature", signature)
	// RoundTrip and not a Client: a redirect is an answer like another, and no cookie is kept.
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		return Result{Failure: reason(ctx, err)}
	}
	// The status is all that counts. The rest is read only so that the connection can
	// be used again, and not from somebody who lets it drip.
	stop := time.AfterFunc(drainTime, cancel)
	io.CopyN(io.Discard, resp.Body, MaxAnswer+1)
	stop.Stop()
	resp.Body.Close()
	r := Result{Status: resp.StatusCode, After: s.after(resp.Header.Get("Retry-After"), at)}
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return Result{Status: resp.StatusCode}
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		r.Failure = fmt.Sprintf("answered %d: redirects are not followed", resp.StatusCode)
	case resp.StatusCode == http.StatusGone:
		r.Failure, r.Gone = "answered 410: the endpoint wants nothing any more", true
	default:
		r.Failure = fmt.Sprintf("answered %d", resp.StatusCode)
	}
	return r
}

// after reads Retry-After (RFC 9110 §10.2.3), seconds or a date.
func (s *Sender) after(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// reason says what went wrong without repeating what the other side sent.
func reason(ctx context.Context, err error) string {
	var refused errRefused
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case ctx.Err() != nil:
		return "no answer in time"
	case errors.As(err, &dns):
		return "the name was not found"
	case errors.As(err, &cert):
		return "its certificate is not good"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	}
	return "no proper answer"
}
