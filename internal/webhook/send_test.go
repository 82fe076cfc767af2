package webhook

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	receiver "fairdice/client/webhook"
)

var home = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// names answers look-ups in turn; the last answer stays.
type names struct {
	asked   atomic.Int32
	answers [][]string
}

func (n *names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	i := int(n.asked.Add(1)) - 1
	if len(n.answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	var ips []netip.Addr
	for _, a := range n.answers[min(i, len(n.answers)-1)] {
		ips = append(ips, netip.MustParseAddr(a))
	}
	return ips, nil
}

func secureServer(t *testing.T, h http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s, pool
}

func request(address string) Request {
	return Request{Address: address, Keys: []string{specSecret}, ID: specID, Body: []byte(specBody)}
}

// What arrives is what was to be sent, signed, and verifies at the receiver.
func TestSend(t *testing.T) {
	v, err := receiver.New(specSecret)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	server, roots := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = v.Verify(r.Header, body, time.Now())
		}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.String() != "/dice?x=1" {
			err = fmt.Errorf("got %s %s %v", r.Method, r.URL, r.Header)
		}
		got <- err
		w.WriteHeader(http.StatusNoContent)
	})
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	s := New(Config{Private: home, Roots: roots})
	defer s.Close()
	if r := s.Send(t.Context(), request(server.URL+"/dice?x=1")); r != (Result{Status: 204}) {
		t.Errorf("result %+v", r)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestAnswers(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var answer func(http.ResponseWriter)
	var asked atomic.Int32
	server, roots := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w)
	})
	s := New(Config{Private: home, Roots: roots, Timeout: time.Second, Now: func() time.Time { return now }})
	defer s.Close()
	status := func(code int, header ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	for _, test := range []struct {
		name   string
		answer func(http.ResponseWriter)
		want   Result
	}{
		{"200", status(200), Result{Status: 200}},
		{"299", status(299), Result{Status: 299}},
		{"500", status(500), Result{Status: 500, Failure: "answered 500"}},
		{"secret words", func(w http.ResponseWriter) { w.WriteHeader(400); io.WriteString(w, "password is 1234") }, Result{Status: 400, Failure: "answered 400"}},
		{"410", status(410), Result{Status: 410, Failure: "answered 410: the endpoint wants nothing any more", Gone: true}},
		{"redirect inside", status(302, "Location", "http://169.254.169.254/latest"), Result{Status: 302, Failure: "answered 302: redirects are not followed"}},
		{"redirect to itself", status(308, "Location", "/"), Result{Status: 308, Failure: "answered 308: redirects are not followed"}},
		{"seconds", status(503, "Retry-After", "120"), Result{Status: 503, Failure: "answered 503", After: 2 * time.Minute}},
		{"date", status(429, "Retry-After", "Mon, 30 Nov 2026 13:00:00 GMT"), Result{Status: 429, Failure: "answered 429", After: time.Hour}},
		{"past date", status(429, "Retry-After", "Mon, 30 Nov 2026 11:00:00 GMT"), Result{Status: 429, Failure: "answered 429"}},
		{"nonsense", status(429, "Retry-After", "-5"), Result{Status: 429, Failure: "answered 429"}},
		{"huge header", status(200, "X", strings.Repeat("x", 64<<10)), Result{Failure: "no proper answer"}},
		{"huge body", func(w http.ResponseWriter) { w.Write(make([]byte, 4<<20)) }, Result{Status: 200}},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer = test.answer
			before := asked.Load()
			if r := s.Send(t.Context(), request(server.URL)); r != test.want {
				t.Errorf("result %+v, want %+v", r, test.want)
			}
			if n := asked.Load() - before; n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// raw is a server that does to a connection what it likes.
func raw(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				http.ReadRequest(bufio.NewReader(c))
				do(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// A receiver that hangs, drips or lies ends within the time limit, and a
// status that came counts, however long the body takes.
func TestHostileReceivers(t *testing.T) {
	s := New(Config{Private: home, Timeout: 1500 * time.Millisecond})
	defer s.Close()
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	drip := func(first string) func(net.Conn) {
		return func(c net.Conn) {
			io.WriteString(c, first)
			for {
				select {
				case <-end:
					return
				case <-time.After(50 * time.Millisecond):
				}
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
			}
		}
	}
	for _, test := range []struct {
		name string
		do   func(net.Conn)
		want Result
	}{
		{"hangs", func(net.Conn) { <-end }, Result{Failure: "no answer in time"}},
		{"closes", func(net.Conn) {}, Result{Failure: "no proper answer"}},
		{"drips headers", drip("HTTP/1.1 200 OK\r\nX: "), Result{Failure: "no answer in time"}},
		{"drips its body", drip("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), Result{Status: 200}},
		{"short body", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nab") }, Result{Status: 500, Failure: "answered 500"}},
		{"no HTTP", func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n\r\n") }, Result{Failure: "no proper answer"}},
		{"endless informational", func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("y", 2000)+"\r\n\r\n"); err != nil {
					return
				}
			}
		}, Result{Failure: "no proper answer"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := request(raw(t, test.do))
			q.Plain = true
			if r := s.Send(context.WithoutCancel(t.Context()), q); r != test.want {
				t.Errorf("result %+v, want %+v", r, test.want)
			}
		})
	}
}

func TestBadTLS(t *testing.T) {
	server, roots := secureServer(t, func(http.ResponseWriter, *http.Request) { t.Error("the message was sent") })
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := Result{Failure: "its certificate is not good"}
	if r := New(Config{Private: home}).Send(t.Context(), request(server.URL)); r != want {
		t.Errorf("unknown root: %+v", r)
	}
	s := New(Config{Private: home, Roots: roots, Resolver: &names{answers: [][]string{{"127.0.0.1"}}}})
	if r := s.Send(t.Context(), request("https://club.test:"+u.Port())); r != want {
		t.Errorf("another name: %+v", r)
	}
	if r := s.Send(t.Context(), request("https://127.0.0.1:"+strings.TrimPrefix(raw(t, func(net.Conn) {}), "http://127.0.0.1:"))); r.Failure == "" {
		t.Errorf("no TLS: %+v", r)
	}
}

// A name that was public when it was looked at and is loopback a moment later:
// whichever answer the sender gets, it connects to the address it has looked at.
func TestRebinding(t *testing.T) {
	hit := make(chan struct{}, 10)
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit <- struct{}{} }))
	t.Cleanup(inside.Close)
	u, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		answers [][]string
	}{
		{"first public", [][]string{{"192.0.0.9"}, {"127.0.0.1"}}},
		{"then loopback", [][]string{{"2a00:1450::1"}, {"127.0.0.1"}}},
		{"loopback", [][]string{{"127.0.0.1"}}},
		{"among public", [][]string{{"8.8.8.8", "127.0.0.1"}}},
		{"mapped", [][]string{{"::ffff:127.0.0.1"}}},
		{"none", nil},
		{"empty", [][]string{{}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &names{answers: test.answers}
			s := New(Config{Resolver: n, Timeout: 300 * time.Millisecond})
			defer s.Close()
			q := request("http://rebind.test:" + u.Port())
			q.Plain = true
			for range 2 {
				before := n.asked.Load()
				if r := s.Send(t.Context(), q); r.Failure == "" || r.Status != 0 {
					t.Errorf("result %+v", r)
				}
				if asked := n.asked.Load() - before; asked != 1 {
					t.Errorf("looked up %d times in one attempt", asked)
				}
			}
			select {
			case <-hit:
				t.Error("a server on this machine was reached")
			default:
			}
		})
	}
}
