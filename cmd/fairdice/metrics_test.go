package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"fairdice/client"
	"fairdice/internal/selfplay"
	"fairdice/translog"
)

// tally counts what a client has asked and been answered.
type tally struct {
	mu    sync.Mutex
	asked map[string]float64 // by the series of the metric that should say the same
}

var parameters = []struct{ form, route string }{
	{`^/v1/matches/[^/]+$`, "/v1/matches/{match}"},
	{`^/v1/matches/[^/]+/games/\d+$`, "/v1/matches/{match}/games/{game}"},
	{`^/v1/matches/[^/]+/games/\d+/segments/\d+/rolls/\w+/\d+$`, "/v1/matches/{match}/games/{game}/segments/{segment}/rolls/{stream}/{index}"},
	{`^/v1/matches/[^/]+/games/\d+/events/\d+$`, "/v1/matches/{match}/games/{game}/events/{line}"},
	{`^/v1/matches/[^/]+/games/\d+/close$`, "/v1/matches/{match}/games/{game}/close"},
	{`^/(version|checkpoint)$`, "/$1"},
}

func (c *tally) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	route := "other"
	for _, p := range parameters {
		if resp.StatusCode == http.StatusMethodNotAllowed {
			break // it has met no route
		}
		if re := regexp.MustCompile(p.form); re.MatchString(r.URL.Path) {
			route = re.ReplaceAllString(r.URL.Path, p.route)
			if strings.Contains(p.route, "{") {
				route = p.route
			}
		}
	}
	method := r.Method
	if !slices.Contains([]string{"GET", "HEAD", "PUT", "POST"}, method) {
		method = "other"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[fmt.Sprintf(`fairdice_http_requests_total{method=%q,route=%q,status="%dxx"}`, method, route, resp.StatusCode/100)]++
	return resp, nil
}

// scrape reads the metrics as Prometheus does.
func scrape(s *service) (text string, series map[string]float64, err error) {
	resp, err := http.Get(s.metricsURL())
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("scrape: %s, %w\n%s", resp.Status, err, data)
	}
	series = map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(string(data))); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") {
			at := strings.LastIndexByte(line, ' ')
			if series[line[:at]], err = strconv.ParseFloat(line[at+1:], 64); err != nil {
				return "", nil, err
			}
		}
	}
	return string(data), series, nil
}

// backwards are the counted series that a later scrape has lower, or not at all.
func backwards(before, after map[string]float64) (fell []string) {
	for name, v := range before {
		base, _, _ := strings.Cut(name, "{")
		counted := strings.HasSuffix(base, "_total") || strings.HasSuffix(base, "_count") || strings.HasSuffix(base, "_bucket")
		if later, ok := after[name]; counted && (!ok || later < v) {
			fell = append(fell, fmt.Sprintf("%s from %v to %v", name, v, later))
		}
	}
	return fell
}

// watching scrapes again and again until done is closed, and answers what went backwards.
func watching(s *service, done <-chan struct{}) (fell []string, scrapes int, err error) {
	var before map[string]float64
	for {
		_, after, err := scrape(s)
		if err != nil {
			return fell, scrapes, err
		}
		fell = append(fell, backwards(before, after)...)
		before = after
		scrapes++
		select {
		case <-done:
			return fell, scrapes, nil
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// What the metrics say of a game is what has happened, to the last request.
func TestMetricsTellTheGame(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, key := startService(t, func(c *config) { c.metricsListen = "127.0.0.1:0" })
	count := &tally{asked: map[string]float64{}}
	c, err := client.New(s.url(), client.WithKey(key), client.WithHTTP(&http.Client{Transport: count}))
	must(t, err)
	id := uuid.Must(uuid.NewV7()).String()
	must(t, second(c.OpenMatch(ctx, id, benchTerms, 0)))
	rolls := 0.0
	var last client.DrawDue
	host := &croupier{api: c, match: id, moves: selfplay.New(selfplay.Random, 7), rolled: func(_ int, due client.DrawDue, _ client.Roll, _ time.Duration) {
		rolls, last = rolls+1, due
	}}
	done, watched := make(chan struct{}), make(chan error)
	go func() {
		fell, n, err := watching(s, done)
		if err == nil && (len(fell) > 0 || n < 2) {
			err = fmt.Errorf("in %d scrapes these went backwards: %v", n, fell)
		}
		watched <- err
	}()
	_, _, err = host.game(ctx, shortSetting(t))
	close(done)
	must(t, <-watched)
	must(t, err)
	// A roll that is answered again is not drawn again; refusals count by their code.
	must(t, second(c.Draw(ctx, id, 1, last.Segment, last.Stream, last.Index)))
	if _, err := c.NextGame(ctx, id, 2, 0); client.Code(err) != "match-ended" {
		t.Errorf("a second game: %v", err)
	}
	for _, r := range []struct{ method, path string }{
		{"GET", "/version"}, {"HEAD", "/version"}, {"POST", "/version"}, {"BREW", "/" + id}, {"GET", "/" + id}, {"GET", "/v1/matches/" + id + "/" + id}, {"GET", "/metrics"},
	} {
		req, err := http.NewRequest(r.method, s.url()+r.path, nil)
		must(t, err)
		resp, err := count.RoundTrip(req)
		must(t, err)
		resp.Body.Close()
	}
	head, err := c.Checkpoint(ctx)
	must(t, err)
	checkpoint, err := translog.ReadCheckpoint(head)
	must(t, err)

	s.metrics.Watch(s.house) // what was read from the database for the scrapes before is not too old yet
	text, series, err := scrape(s)
	// An answer may be here before the service has counted it.
	for err == nil && series["fairdice_http_requests_in_flight"] > 0 {
		text, series, err = scrape(s)
	}
	must(t, err)
	requests := map[string]float64{}
	var answered float64
	for name, v := range series {
		if strings.HasPrefix(name, "fairdice_http_requests_total{") {
			requests[name] = v
			answered += v
		}
	}
	if d := cmp.Diff(count.asked, requests); d != "" {
		t.Errorf("requests (-asked +counted):\n%s", d)
	}
	timed := 0.0
	for name, v := range series {
		if strings.HasPrefix(name, "fairdice_http_request_duration_seconds_count{") {
			timed += v
		}
	}
	if timed != answered {
		t.Errorf("%v requests were timed, %v answered", timed, answered)
	}
	for name, want := range map[string]float64{
		`fairdice_rolls_drawn_total{mode="random"}`:                             rolls,
		"fairdice_draw_duration_seconds_count":                                  rolls,
		`fairdice_draw_duration_seconds_bucket{le="+Inf"}`:                      rolls,
		"fairdice_http_requests_in_flight":                                      0,
		`fairdice_problems_total{code="not-found"}`:                             4,
		`fairdice_problems_total{code="method-not-allowed"}`:                    1,
		`fairdice_problems_total{code="match-ended"}`:                           1,
		"fairdice_log_statements":                                               float64(checkpoint.Size),
		"fairdice_log_signed_statements":                                        float64(checkpoint.Size),
		"fairdice_log_signing_refused":                                          0,
		"fairdice_signing_failures_total":                                       0,
		"fairdice_lease_held":                                                   1,
		"fairdice_lease_epoch":                                                  1,
		`fairdice_pool_free_sequences{mode="random",tenant="default"}`:          15,
		`fairdice_sequences_sealed_total{mode="random",tenant="default"}`:       16,
		`fairdice_pool_top_ups_total{mode="live",result="ok",tenant="default"}`: 1,
		`fairdice_deadline_sweeps_total{result="failed"}`:                       0,
		`fairdice_store_updates_total{result="ok"}`:                             series["fairdice_store_commit_updates_sum"] - series[`fairdice_store_updates_total{result="refused"}`],
		"fairdice_stats_failures_total":                                         0,
	} {
		if got, ok := series[name]; !ok || got != want {
			t.Errorf("%s is %v (%t), want %v", name, got, ok, want)
		}
	}
	if rolls < 10 {
		t.Errorf("only %v rolls were drawn", rolls)
	}
	if strings.Contains(text, id) {
		t.Error("the metrics name a match")
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	must(t, err)
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "fairdice_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}

}

// Profiles are there only for who asks for them, and metrics at no public address.
func TestMetricsAddress(t *testing.T) {
	t.Parallel()
	s, _ := startService(t)
	if s.watch.listen != nil {
		t.Errorf("metrics are served on %s, and nobody asked for them", s.watch.listen.Addr())
	}
	s, _ = startService(t, func(c *config) { c.metricsListen, c.pprof = "127.0.0.1:0", true })
	for path, want := range map[string]int{"": http.StatusOK, "/../debug/pprof/goroutine": http.StatusOK, "/../debug/pprof/cmdline": http.StatusNotFound, "/../": http.StatusNotFound} {
		resp, err := http.Get(s.metricsURL() + path)
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%q beside the metrics: %s", path, resp.Status)
		}
	}
}
