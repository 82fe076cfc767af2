package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// dial opens a connection of an attacker, which the test closes.
func dial(t *testing.T, s *service, raw string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.listen.Addr().String())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	// The service may have refused and gone before all is written.
	io.WriteString(conn, raw)
	return conn
}

// inUse is the memory that is reachable.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

const nobodysMatch = "/v1/matches/01936d4e-0000-7000-8000-000000000000"

// Strangers hold requests open in every way there is; the memory they take is
// bounded by what they were let send, and others are served all the while.
func TestSlowStrangers(t *testing.T) {
	s, _ := startService(t)
	served := func(when string) {
		t.Helper()
		resp, err := (&http.Client{Timeout: 20 * time.Second}).Get(s.url() + "/v1/modes")
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", when, resp.Status)
		}
	}
	served("before")
	before := inUse()
	const each = 40
	head := func(method, path, more string) string {
		return method + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + more + "\r\n"
	}
	mebibyte := "{\"lines\":[\"" + strings.Repeat("a", 1<<20)
	chunk := func(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }
	for _, way := range []struct{ name, raw string }{
		{"nothing at all", ""},
		{"half a header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b"},
		{"a body that does not come", head("PUT", nobodysMatch, "Content-Length: 2000000\r\n")},
		{"half a body of an append", head("PUT", nobodysMatch+"/games/1/events/1", "Content-Length: 2000000\r\n") + mebibyte},
		{"chunks without an end", head("PUT", nobodysMatch+"/games/1/close", "Transfer-Encoding: chunked\r\n") + chunk(mebibyte)},
		{"half a link", head("PUT", nobodysMatch+"/games/1/segments/1/links/a", "Content-Length: 2000000\r\n") + mebibyte},
		{"a body where none is read", head("GET", "/v1/modes", "Transfer-Encoding: chunked\r\n") + chunk(mebibyte)},
		{"an answer that is not read", strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n", 200)},
	} {
		for range each {
			dial(t, s, way.raw)
		}
		served("while " + way.name)
	}
	// 120 of them have sent a mebibyte each. What is reachable is their
	// connections' own buffers.
	if after := inUse(); after > before+32<<20 {
		t.Errorf("%d strangers hold %d KiB", 8*each, (after-before)>>10)
	}
}

// A body is not read from somebody who may not send one: the answer comes
// before its end.
func TestBodyOfNobody(t *testing.T) {
	s, _ := startService(t)
	for _, c := range []struct{ method, path string }{
		{"PUT", nobodysMatch},
		{"PUT", nobodysMatch + "/games/1/events/1"},
		{"PUT", nobodysMatch + "/games/1/close"},
		{"PUT", nobodysMatch + "/games/1/abort"},
		{"PUT", "/v1/modes/random/sequences/5"},
		{"PUT", "/v1/sequences/01936d4e-0000-7000-8000-000000000000/retire"},
	} {
		conn := dial(t, s, c.method+" "+c.path+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{")
		must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s %s: %s", c.method, c.path, resp.Status)
		}
	}
}
