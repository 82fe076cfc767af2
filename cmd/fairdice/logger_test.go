package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"fairdice/client"
	"fairdice/commitment"
)

// eachForm runs a test for both forms of the log.
func eachForm(t *testing.T, fn func(t *testing.T, cfg config)) {
	for _, form := range []string{formatText, formatJSON} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(filepath.Join(t.TempDir(), "data"))
			cfg.level, cfg.format, cfg.sealed, cfg.tenant = slog.LevelDebug, form, 4, "demo"
			fn(t, cfg)
		})
	}
}

// startLogged runs a service whose log goes to a buffer.
func startLogged(t *testing.T, cfg config, log io.Writer) (s *service, key string) {
	t.Helper()
	s, err := openService(t.Context(), cfg, cfg.logger(log))
	must(t, err)
	t.Cleanup(func() { must(t, s.stop()) })
	must(t, s.bind())
	key, err = s.prepare(t.Context())
	must(t, err)
	must(t, s.serve())
	return s, key
}

// heldLines demands that every line of a log is one record of printable text.
func heldLines(t *testing.T, form string, log []byte) (lines []string) {
	t.Helper()
	if len(log) == 0 {
		t.Fatal("nothing was logged")
	}
	for line := range strings.Lines(string(log)) {
		text, ok := strings.CutSuffix(line, "\n")
		if !ok || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("a line that commands a terminal: %q", line)
		}
		if form == formatText && !strings.HasPrefix(text, "time=") || form == formatJSON && !json.Valid([]byte(text)) {
			t.Errorf("a line that is no record: %q", line)
		}
		lines = append(lines, text)
	}
	return lines
}

// A whole match is played at the level that says most, and then every secret
// that the test can name is looked for in the log: also those that are public
// by now, for a log is kept by other people than the archive.
func TestLogHasNoSecrets(t *testing.T) {
	eachForm(t, func(t *testing.T, cfg config) {
		ctx := t.Context()
		logged, answers := &spoken{}, &spoken{}
		s, key := startLogged(t, cfg, logged)
		out := t.TempDir()
		d := &demo{variant: "hyper", mode: "random", level: "L2", profile: "refereed", options: demoOptions, games: 1, out: out}
		series, err := d.terms()
		must(t, err)
		c, err := client.New(s.url(), client.WithKey(key), client.WithHTTP(&http.Client{Transport: listening{answers}}))
		must(t, err)
		must(t, d.play(ctx, c, s.keys.log.public, cfg.data, series, io.Discard))

		// What people do with a key that they should not.
		for _, path := range []string{"/v1/matches/" + key, "/v1/sequences?tenant=" + key + "&mode=random", "/" + key} {
			resp, err := http.Get(s.url() + path)
			must(t, err)
			resp.Body.Close()
		}
		for _, wrong := range []string{"Basic " + key, "Bearer " + key + " " + key, "Bearer  " + key[:len(key)-1], key} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+"/v1/sequences?tenant=demo&mode=random", nil)
			must(t, err)
			req.Header.Set("Authorization", wrong)
			resp, err := (&http.Client{Transport: listening{answers}}).Do(req)
			must(t, err)
			if resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("a header that is wrong: %s", resp.Status)
			}
		}
		// The players' links and the secrets are in the statements.
		needles := map[string]string{"the API key": key}
		hexed := func(what string, b []byte) { needles[what] = hex.EncodeToString(b) }
		token := regexp.MustCompile(`"viewToken":"([A-Za-z0-9_-]{22})"`).FindSubmatch(answers.copy())
		if token == nil {
			t.Fatal("no view token was answered")
		}
		needles["the view token"] = string(token[1])
		for name, path := range map[string]string{"the log key": cfg.logKey(), "the receipt key": cfg.receiptKey(), "the master key": cfg.master} {
			text, err := readSecret(path)
			must(t, err)
			needles[name] = text[len(text)-24 : len(text)-1]
		}
		for i := int64(0); ; i++ {
			p, err := s.house.Statement(ctx, i, 0)
			if err != nil {
				break
			}
			read, err := commitment.Parse([]byte(p.Statements[0].Text))
			must(t, err)
			switch st := read.(type) {
			case commitment.Deal:
				if st.LinkA == nil || st.LinkB == nil {
					t.Fatal("a deal without links")
				}
				hexed("link A", st.LinkA[:])
				hexed("link B", st.LinkB[:])
			case commitment.Close:
				for _, r := range st.Secrets {
					hexed("secret of "+r.Sequence, r.Secret[:])
				}
			}
		}
		if len(needles) < 8 {
			t.Fatalf("only %d secrets to look for", len(needles))
		}
		log := logged.copy()
		lines := heldLines(t, cfg.format, log)
		if len(lines) < 50 {
			t.Errorf("only %d lines were logged", len(lines))
		}
		for what, needle := range needles {
			if bytes.Contains(bytes.ToLower(log), bytes.ToLower([]byte(needle))) {
				t.Errorf("the log has %s", what)
			}
		}
		if bytes.Contains(answers.copy(), []byte(key)) {
			t.Error("an answer has the API key")
		}
		// A copy of the database reads no match and gives no orders (the master
		// key, from which view tokens are derived, is another file).
		for _, file := range []string{"fairdice.db", "fairdice.db-wal"} {
			data, err := os.ReadFile(filepath.Join(cfg.data, file))
			must(t, err)
			for _, what := range []string{"the API key", "the view token", "the master key"} {
				if bytes.Contains(data, []byte(needles[what])) {
					t.Errorf("%s has %s", file, what)
				}
			}
		}
	})
}

// nasty is text that would begin a second line, forge a record, clear a
// terminal, or turn the text of a line around.
var nasty = []string{
	"\n", "\r\n", "a\ntime=2026-01-01T00:00:00Z level=ERROR msg=forged", "\x1b[2J", "\x1b]0;title\a", "\x7f\b\b", "\u009b2J", "\u202eevil",
	"\u2028", "\x00", "\xff\xfe", `"}` + "\n" + `{"msg":"forged"}`, `\n`, "%0a", "\t", "\ufeff", "fd_club_" + strings.Repeat("k", 32),
}

// Nothing a stranger sends is more than a part of one line of the log.
func TestLogInjection(t *testing.T) {
	eachForm(t, func(t *testing.T, cfg config) {
		logged := &spoken{}
		s, key := startLogged(t, cfg, logged)
		escape := func(text string) string { // every byte
			var b strings.Builder
			for _, c := range []byte(text) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			return b.String()
		}
		sent := 0
		send := func(method, target, header, body string) {
			conn, err := net.Dial("tcp", s.listen.Addr().String())
			must(t, err)
			defer conn.Close()
			_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%sContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
				method, target, key, header, len(body), body)
			must(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			must(t, err)
			if resp.StatusCode < 400 || resp.StatusCode >= 500 {
				t.Errorf("%s %q: %s", method, target, resp.Status)
			}
			sent++
		}
		const match = "/v1/matches/01936d4e-0000-7000-8000-000000000000"
		for _, text := range nasty {
			quoted, err := json.Marshal(text)
			must(t, err)
			send("GET", "/v1/matches/"+escape(text), "", "")
			send("GET", "/"+escape(text)+"/checkpoint", "", "")
			send("GET", "/v1/sequences?tenant="+escape(text)+"&mode="+escape(text), "", "")
			send("PUT", match, "", `{"variant":`+string(quoted)+`,"mode":"random","a":{"token":`+string(quoted)+`},"b":{"token":"b"}}`)
			if !strings.ContainsAny(text, "\r\n") {
				send("GET", match, "X-Request-Id: "+text+"\r\nUser-Agent: "+text+"\r\nX-Forwarded-For: "+text+"\r\n", "")
				send("BREW"+text, "/v1/matches", "", "")
			}
			if _, err := s.carryOut(t.Context(), order{Do: "add", Tenant: text, Label: "x", Scopes: []string{"draw"}}); err == nil && !strings.HasPrefix(text, "fd_") {
				t.Errorf("tenant %q was added", text)
			}
			s.log.Error("tried", "text", text, "error", errors.New(text), "list", []string{text}, slog.Group("in", "text", text))
		}
		log := logged.copy()
		lines := heldLines(t, cfg.format, log)
		forged := 0
		for _, line := range lines {
			var record struct{ Msg, Level string }
			if cfg.format == formatJSON {
				must(t, json.Unmarshal([]byte(line), &record))
			}
			if record.Msg == "forged" || strings.HasPrefix(line, "time=2026-01-01T00:00:00Z") {
				forged++
			}
		}
		if forged > 0 || len(lines) < len(nasty) || sent < 4*len(nasty) {
			t.Errorf("%d forged records in %d lines after %d requests", forged, len(lines), sent)
		}
		if bytes.Contains(log, []byte(strings.Repeat("k", 32))) {
			t.Error("the log has what looks like a key")
		}
	})
}
