package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/api"
	"fairdice/house"
)

// What a caller writes into ids of events, tokens and paths makes no line of
// the log but his own, and the log has neither his key nor his token.
func TestLogTakesNoOrders(t *testing.T) {
	log := new(logged)
	b := newBench(t, func(c *api.Config) {
		c.StreamLife = 10 * time.Millisecond // of one that should not have begun
		c.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	path := "/v1/matches/" + b.openL0("short") + "/feed"
	const forged = "1.1.1\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\r\n\x1b[31mred\u2028"
	const token = "AAAAAAAAAAAAAAAAAAAAAA"
	for _, address := range []string{path + "?last=" + url.QueryEscape(forged), "/v1/feed?last=" + url.QueryEscape(forged), path + "?view=" + token + url.QueryEscape(forged),
		"/v1/matches/" + url.PathEscape(forged), "/" + url.PathEscape(forged)} {
		for _, id := range []string{"", "1.1.1\tlevel=ERROR\x9b31m", strings.Repeat("9", 10_000)} {
			if a := b.send(http.MethodGet, address, "", "Last-Event-ID", id, "X-View-Token", token, "Authorization", ""); a.status < 400 || a.status >= 500 {
				t.Errorf("%s with id %.20q: %d", address, id, a.status)
			}
		}
	}
	text := log.text()
	if text == "" {
		t.Fatal("nothing was logged")
	}
	for line := range strings.Lines(text) {
		var r struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Msg == "forged" || r.Level == "ERROR" {
			t.Errorf("a line of the log is %q, %v", line, err)
		}
		if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\x1b\u009b") {
			t.Errorf("a line of the log has control characters: %q", line)
		}
	}
	for _, secret := range []string{b.key, token} {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}

// Only who shows a whole key learns that it was revoked or has expired; of one
// that is nearly right nobody learns more than of one that never was.
func TestKeysAreNotTold(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	revoked, err := b.house.IssueKey(ctx, tenant, "revoked", house.Scopes())
	must(t, err)
	expired, err := b.house.IssueKeyUntil(ctx, tenant, "expired", house.Scopes(), b.clock().Add(time.Second))
	must(t, err)
	keys, err := b.house.Keys(ctx)
	must(t, err)
	for _, k := range keys {
		if k.Label == "revoked" {
			must(t, second(b.house.RevokeKeys(ctx, k.Prefix)))
		}
	}
	b.pass(2 * time.Second)
	ask := func(key string) answer {
		return b.send(http.MethodGet, "/v1/matches", "", "Authorization", "Bearer "+key)
	}
	if a := ask(revoked); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "revoked") {
		t.Errorf("the owner of a revoked key: %d %s", a.status, a.body)
	}
	if a := ask(expired); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "expired") {
		t.Errorf("the owner of an expired key: %d %s", a.status, a.body)
	}
	never := words(ask("fd_nobody_" + strings.Repeat("A", 32)))
	for _, key := range []string{revoked, expired, b.key} {
		flipped := []byte(key)
		flipped[len(flipped)-1] ^= 1
		for _, near := range []string{key[:len(key)-1], key[:len("fd_"+tenant)+5], string(flipped), key + "A", strings.ToUpper(key)} {
			if got := words(ask(near)); got != never {
				t.Errorf("a key like %.12s…: %s\nof one that never was: %s", near, got, never)
			}
		}
	}
}

// logged is a log that may be read meanwhile.
type logged struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}
