package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"fairdice/client"
)

// said sends bytes as they are and answers the first response, or status 0 if
// the connection was closed without one.
func said(t *testing.T, s *service, raw string) (status int, header http.Header, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", s.listen.Addr().String())
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	// The service may have refused and gone before all is written.
	io.WriteString(conn, raw)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(data)
}

// Requests that no client writes: every resource has one name, no header
// makes another request of it, and what is ambiguous is refused. None of them
// moves the log.
func TestTricks(t *testing.T) {
	s, key := startService(t)
	c, err := client.New(s.url(), client.WithKey(key))
	must(t, err)
	ctx := t.Context()
	id := uuid.Must(uuid.NewV7()).String()
	must(t, second(c.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(demoOptions), A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)))
	must(t, second(c.NextGame(ctx, id, 1, 0)))
	must(t, second(c.Draw(ctx, id, 1, 1, client.StreamOpening, 0)))
	match := "/v1/matches/" + id
	draw := match + "/games/1/segments/1/rolls/opening/0"

	get := func(target string, headers ...string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: dice.example\r\nConnection: close\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	}
	put := func(target, body string, headers ...string) string {
		return "PUT " + target + " HTTP/1.1\r\nHost: dice.example\r\nConnection: close\r\nAuthorization: Bearer " + key + "\r\n" +
			strings.Join(append(headers, ""), "\r\n") + "\r\n" + body
	}
	abort := `{"reason":"crash"}`
	ofJSON := "Content-Type: application/json"
	for _, trick := range []struct {
		name, raw string
		status    string // those that will do; 0: cut off
	}{
		{"as it should be", get(match), "200"},
		{"as it should be, drawn again", put(draw, "", "Content-Length: 0"), "200"},

		{"escaped dots", get("/v1/matches/%2e%2e/modes"), "400 404"},
		{"dots", get("/v1/matches/../modes"), "404"},
		{"double slash", get("//v1/matches/" + id), "404"},
		{"double slash inside", get("/v1//matches/" + id), "404"},
		{"slash at the end", get(match + "/"), "404"},
		{"encoded slash", get("/v1/matches%2f" + id), "404"},
		{"encoded letter of a name", get("/v1/%6datches/" + id), "404"},
		{"encoded digit of an id", get("/v1/matches/%30" + id[1:]), "400"},
		{"an id and an encoded slash", get("/v1/matches/" + id + "%2fgames"), "400 404"},
		{"NUL in a path", get("/v1/matches/" + id + "%00"), "400 404"},
		{"raw NUL in a path", get("/v1/matches/" + id + "\x00"), "400"},
		{"line break in a path", get("/v1/matches/" + id + "%0d%0aX-Evil:%20yes"), "400 404"},
		{"tab in the request line", "GET " + match + "\tHTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"backslash", get("/v1\\matches\\" + id), "404"},
		{"semicolon", get(match + ";admin=1"), "400 404"},
		{"query with a semicolon", get(match + "/statements?since=3;since=4"), "400"},
		{"bad escape", get("/v1/matches/%zz"), "400"},
		{"upper-case id", get("/v1/matches/" + strings.ToUpper(id)), "400"},
		{"id in braces", get("/v1/matches/%7b" + id + "%7d"), "400 404"},
		{"id without dashes", get("/v1/matches/" + strings.ReplaceAll(id, "-", "")), "400"},
		{"id as a URN", get("/v1/matches/urn:uuid:" + id), "400"},
		{"asterisk", "GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400 404"},
		{"no slash", "GET healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"},
		{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n", "400 404 405"},

		{"plus before a number", put(match+"/games/+1/segments/1/rolls/opening/0", "", "Content-Length: 0"), "400 404"},
		{"zero before a number", put(match+"/games/01/segments/1/rolls/opening/0", "", "Content-Length: 0"), "400 404"},
		{"zero before an index", put(match+"/games/1/segments/1/rolls/opening/00", "", "Content-Length: 0"), "400 404"},
		{"less than nothing", put(match+"/games/1/segments/1/rolls/opening/-0", "", "Content-Length: 0"), "400 404"},
		{"a fraction", put(match+"/games/1.0/segments/1/rolls/opening/0", "", "Content-Length: 0"), "400 404"},
		{"an exponent", put(match+"/games/1e0/segments/1/rolls/opening/0", "", "Content-Length: 0"), "400 404"},
		{"hex", put(match+"/games/0x1/segments/1/rolls/opening/0", "", "Content-Length: 0"), "400 404"},
		{"an underscore", put(match+"/games/1/segments/1/rolls/opening/0_0", "", "Content-Length: 0"), "400 404"},
		{"digits of another script", put(match+"/games/%D9%A1/segments/1/rolls/opening/0", "", "Content-Length: 0"), "400 404"},
		{"number of a statement", get("/v1/statements/00"), "400"},
		{"number of a statement with a plus", get("/v1/statements/+0"), "400"},
		{"number in a query", get(match + "/statements?since=%2B3"), "400"},
		{"number in a query with a zero", get(match + "/statements?since=03"), "400"},
		{"number of a page", get("/v1/sequences?tenant=default&mode=random&limit=010"), "400"},

		{"another method in a header", get(match+"/abandon", "X-HTTP-Method-Override: PUT", "X-Method-Override: PUT", "Authorization: Bearer "+key), "405"},
		{"another method in the query", get(match+"/abandon?_method=PUT", "Authorization: Bearer "+key), "405"},
		{"another address in a header", get("/healthz", "X-Original-URL: "+match+"/abandon", "X-Rewrite-URL: "+match+"/abandon"), "200"},
		{"whom it is forwarded for", get(match+"/games/1/record", "X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Forwarded-User: admin"), "401"},
		{"an API key as a parameter", get(match + "/games/1/record?key=" + key), "400"},
		{"an API key as a cookie", get(match+"/games/1/record", "Cookie: Authorization=Bearer "+key), "401"},
		{"an API key as a view token", get(match+"/games/1/record", "X-View-Token: "+key), "401"},
		{"two keys", get(match+"/games/1/record", "Authorization: Bearer wrong", "Authorization: Bearer "+key), "400 401"},
		{"two keys, the good one first", get(match+"/games/1/record", "Authorization: Bearer "+key, "Authorization: Bearer wrong"), "400 401"},
		{"a tab before the key", get(match+"/games/1/record", "Authorization: Bearer\t"+key), "401"},
		{"two hosts", get(match, "Host: evil.example"), "400"},
		{"no host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "400"},
		{"a host that is none", "GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", "400"},

		{"two lengths", put(match+"/games/1/abort", abort, ofJSON, "Content-Length: 18", "Content-Length: 2"), "400"},
		// The chunks count, as RFC 9112 §6.3 says: three bytes of them would be no JSON.
		{"length and chunks", put(draw, "2\r\n{}\r\n0\r\n\r\n", ofJSON, "Content-Length: 3", "Transfer-Encoding: chunked"), "200"},
		{"chunks of another coding", put(match+"/games/1/abort", abort, ofJSON, "Transfer-Encoding: gzip, chunked"), "400 501"},
		{"chunked, in capitals and a vertical tab", put(match+"/games/1/abort", abort, ofJSON, "Transfer-Encoding: \x0bchunked"), "400 501"},
		{"a space before the colon", put(match+"/games/1/abort", abort, ofJSON, "Content-Length : 18"), "400"},
		{"a folded header", put(match+"/games/1/abort", abort, ofJSON, "Content-Length: 18", "Content-Encoding:\r\n gzip"), "0 415"},
		{"a length with a plus", put(match+"/games/1/abort", abort, ofJSON, "Content-Length: +18"), "400"},
		{"a negative length", put(match+"/games/1/abort", abort, ofJSON, "Content-Length: -1"), "400"},
		{"a chunk that is no number", put(match+"/games/1/abort", "xx\r\n"+abort+"\r\n0\r\n\r\n", ofJSON, "Transfer-Encoding: chunked"), "400"},
		{"a chunk whose length has no end", put(match+"/games/1/abort", strings.Repeat("0", 20)+"12\r\n"+abort, ofJSON, "Transfer-Encoding: chunked"), "400"},
		{"a packed body", put(match+"/games/1/abort", abort, ofJSON, "Content-Encoding: gzip", "Content-Length: 18"), "415"},
		{"an unknown coding of the body", put(match+"/games/1/abort", abort, ofJSON, "Content-Encoding: br", "Content-Length: 18"), "415"},
		{"a body of a form", put(match+"/games/1/abort", "reason=crash", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 12"), "415"},
		{"a body of text that is JSON", put(match+"/games/1/abort", abort, "Content-Type: text/plain", "Content-Length: 18"), "415"},
		{"another charset", put(match+"/games/1/abort", abort, "Content-Type: application/json; charset=utf-16", "Content-Length: 18"), "415"},

		{"a header without an end", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", "431"},
		{"ten thousand headers", "GET /healthz HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: b\r\n", 10_000) + "\r\n", "431"},
		{"a huge query", get("/v1/sequences?tenant=" + strings.Repeat("a", 64<<10)), "431"},
		{"a huge path", get("/v1/matches/" + strings.Repeat("a/", 32<<10)), "431"},
		{"a protocol that is none", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", "505"},
		{"HTTP/2 without being asked", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "0 400 404 505"},
		{"no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "0 400"},
	} {
		t.Run(trick.name, func(t *testing.T) {
			before, err := c.Match(ctx, id)
			must(t, err)
			status, header, body := said(t, s, trick.raw)
			if !strings.Contains(" "+trick.status+" ", fmt.Sprintf(" %d ", status)) {
				t.Errorf("answered %d, want %s\n%.300s", status, trick.status, body)
			}
			if header.Get("X-Evil") != "" || strings.Contains(body, key) || strings.Contains(header.Get("Content-Type"), "html") || header.Get("Location") != "" {
				t.Errorf("answered %v\n%.300s", header, body)
			}
			after, err := c.Match(ctx, id)
			must(t, err)
			if fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("the match was %v and is %v", before, after)
			}
		})
	}
}
