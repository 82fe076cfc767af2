package metrics

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"fairdice/house"
	"fairdice/store"
)

var describes = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// The table of the operator's manual has every metric with its labels, and no other.
func TestDocument(t *testing.T) {
	var have []string
	for _, c := range New("v1", 0).all {
		descs := make(chan *prometheus.Desc, 100)
		c.Describe(descs)
		close(descs)
		for d := range descs {
			m := describes.FindStringSubmatch(d.String())
			if m == nil {
				t.Fatalf("what is %s?", d)
			}
			labels := m[2]
			if m[1] == "fairdice_build_info" {
				labels = "version,goversion"
			}
			have = append(have, strings.TrimSuffix(m[1]+" "+labels, " "))
		}
	}
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(fairdice_[a-z_]+)(?:\\{([a-z,]+)\\})?` \\|").FindAllStringSubmatch(string(text), -1) {
		said = append(said, strings.TrimSuffix(m[1]+" "+m[2], " "))
	}
	slices.Sort(have)
	slices.Sort(said)
	if d := cmp.Diff(have, said); d != "" {
		t.Errorf("docs/operating.md (-metrics +document):\n%s", d)
	}
}

// refusing runs its function as often as it says, and answers what it is to answer.
type refusing struct {
	store.Store
	runs int
	err  error
}

func (r refusing) Update(_ context.Context, fn func(store.Tx) error) error {
	for range r.runs {
		if err := fn(nil); err != nil {
			return err
		}
	}
	return r.err
}

// Whatever is observed is counted once, under the label it belongs to, and
// Prometheus finds nothing to say about the names.
func TestCounts(t *testing.T) {
	m := New("v1", time.Minute)
	some := errors.New("some failure")
	nothing := func(store.Tx) error { return nil }
	for _, u := range []refusing{
		{runs: 3}, {runs: 1}, {err: fmt.Errorf("commit: %w", store.ErrUncertain)}, {err: store.ErrStorage}, {runs: 1, err: store.ErrConflict},
		{err: context.Canceled}, {err: some},
	} {
		if err := m.Store(u).Update(t.Context(), nothing); !errors.Is(err, u.err) {
			t.Errorf("%v became %v", u.err, err)
		}
	}
	m.Committed(5)
	m.Committed(1)
	m.Arrived()
	m.Arrived()
	m.Answered("GET", "/version", 200, time.Second)
	m.Answered("PUT", "other", 0, time.Second)
	m.Arrived()
	m.Streaming(1)
	m.Streaming(1)
	m.Followed("GET", "/v1/feed", 200)
	m.Streaming(-1)
	m.Arrived()
	m.Refused(house.PoolEmpty)
	m.ToppedUp("club", "live", nil)
	m.ToppedUp("club", "live", some)
	m.SigningFailed(some)
	m.Cosigned("w1", nil)
	m.Cosigned("w1", some)
	m.Fetched(7, time.Unix(1000, 0), nil)
	m.Fetched(8, time.Unix(1003, 0), some)
	m.Looked(house.Swept{Closed: 1}, nil)
	m.Looked(house.Swept{LeftGames: 2, LeftSequences: 1}, some)
	m.Looked(house.Swept{}, some) // it could not look: nobody knows that nothing is left
	m.Told(true, false)
	m.Told(false, false)
	m.Told(false, true)
	want := `# HELP fairdice_beacon_last_round_timestamp_seconds When the last round that was verified became public.
# TYPE fairdice_beacon_last_round_timestamp_seconds gauge
fairdice_beacon_last_round_timestamp_seconds 1000
# HELP fairdice_beacon_rounds_total Rounds of the beacon that were asked for, by result: ok or failed.
# TYPE fairdice_beacon_rounds_total counter
fairdice_beacon_rounds_total{result="failed"} 1
fairdice_beacon_rounds_total{result="ok"} 1
# HELP fairdice_deadline_left Games and sequences (kind) at their deadline that the last sweep could not end, at most 200 each.
# TYPE fairdice_deadline_left gauge
fairdice_deadline_left{kind="game"} 2
fairdice_deadline_left{kind="sequence"} 1
# HELP fairdice_deadline_sweeps_total Times that deadlines were looked after, by result: ok, or failed if something that had to end was left.
# TYPE fairdice_deadline_sweeps_total counter
fairdice_deadline_sweeps_total{result="failed"} 2
fairdice_deadline_sweeps_total{result="ok"} 1
# HELP fairdice_http_requests_in_flight Requests that are being answered, open streams included.
# TYPE fairdice_http_requests_in_flight gauge
fairdice_http_requests_in_flight 1
# HELP fairdice_http_requests_total Requests answered, by route, method and class of status.
# TYPE fairdice_http_requests_total counter
fairdice_http_requests_total{method="GET",route="/v1/feed",status="2xx"} 1
fairdice_http_requests_total{method="GET",route="/version",status="2xx"} 1
fairdice_http_requests_total{method="PUT",route="other",status="none"} 1
# HELP fairdice_pool_top_ups_total Times that a pool was filled (result ok) or could not be (failed).
# TYPE fairdice_pool_top_ups_total counter
fairdice_pool_top_ups_total{mode="live",result="failed",tenant="club"} 1
fairdice_pool_top_ups_total{mode="live",result="ok",tenant="club"} 1
# HELP fairdice_problems_total Problems answered, by code; rate-limited are the requests held back.
# TYPE fairdice_problems_total counter
fairdice_problems_total{code="pool-empty"} 1
# HELP fairdice_signing_failures_total Attempts to sign a checkpoint that failed.
# TYPE fairdice_signing_failures_total counter
fairdice_signing_failures_total 1
# HELP fairdice_store_commit_updates Updates that shared one commit (SQLite).
# TYPE fairdice_store_commit_updates histogram
fairdice_store_commit_updates_bucket{le="1"} 1
fairdice_store_commit_updates_bucket{le="2"} 1
fairdice_store_commit_updates_bucket{le="4"} 1
fairdice_store_commit_updates_bucket{le="8"} 2
fairdice_store_commit_updates_bucket{le="16"} 2
fairdice_store_commit_updates_bucket{le="32"} 2
fairdice_store_commit_updates_bucket{le="64"} 2
fairdice_store_commit_updates_bucket{le="128"} 2
fairdice_store_commit_updates_bucket{le="256"} 2
fairdice_store_commit_updates_bucket{le="+Inf"} 2
fairdice_store_commit_updates_sum 6
fairdice_store_commit_updates_count 2
# HELP fairdice_store_update_reruns_total Times that an update ran again because another one was faster.
# TYPE fairdice_store_update_reruns_total counter
fairdice_store_update_reruns_total 2
# HELP fairdice_store_updates_total Updates of the database, by result: ok, refused, conflict, uncertain, storage or canceled.
# TYPE fairdice_store_updates_total counter
fairdice_store_updates_total{result="canceled"} 1
fairdice_store_updates_total{result="conflict"} 1
fairdice_store_updates_total{result="ok"} 2
fairdice_store_updates_total{result="refused"} 1
fairdice_store_updates_total{result="storage"} 1
fairdice_store_updates_total{result="uncertain"} 1
# HELP fairdice_streams_open Streams of events that are open.
# TYPE fairdice_streams_open gauge
fairdice_streams_open 1
# HELP fairdice_webhook_attempts_total Attempts to tell endpoints of events, by result: ok or failed.
# TYPE fairdice_webhook_attempts_total counter
fairdice_webhook_attempts_total{result="failed"} 2
fairdice_webhook_attempts_total{result="ok"} 1
# HELP fairdice_webhook_dead_total Messages to endpoints that were given up.
# TYPE fairdice_webhook_dead_total counter
fairdice_webhook_dead_total 1
# HELP fairdice_witness_requests_total Cosignatures that were asked for, by witness and result: ok or failed.
# TYPE fairdice_witness_requests_total counter
fairdice_witness_requests_total{result="failed",witness="w1"} 1
fairdice_witness_requests_total{result="ok",witness="w1"} 1
`
	var names []string
	for _, line := range strings.Split(want, "\n") {
		if f := strings.Fields(line); len(f) > 3 && f[1] == "TYPE" {
			names = append(names, f[2])
		}
	}
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	// A stream lasts as long as its caller stays, which is no latency.
	if n := testutil.CollectAndCount(m.latency); n != 2 {
		t.Errorf("%d latencies were measured, want those of two routes", n)
	}
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
