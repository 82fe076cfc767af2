// Package metrics counts what a service does, in the form of Prometheus.
//
//	m := metrics.New("v1.2.0", 15*time.Second)
//	db = m.Store(db)                                     // updates of the database
//	h, err := house.New(ctx, house.Config{Observer: m})  // rolls, pools, signatures
//	handler, err := api.New(api.Config{Observer: m})     // requests and problems
//	m.Watch(h)                                           // sizes of log and pools
//	http.Handle("/metrics", m)
//
// Labels have few values, whatever is asked of the service: routes are the paths of the
// API document, tenants and witnesses are those the operator has made. No match,
// player, address or roll is ever named. docs/operating.md lists all metrics.
//
// A scrape adds up what is in memory. Only the head of the log and the pools are
// read from the database, not more often than every so many seconds however often
// it is scraped, and no table whose rows stay for ever is counted.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fairdice/house"
)

// Metrics are the metrics of one service, in a registry of their own. They
// observe a house and an API (house.Observer, api.Observer), and are the
// handler of /metrics.
type Metrics struct {
	registry *prometheus.Registry
	handler  http.Handler
	all      []prometheus.Collector // those of the service itself

	requests  *prometheus.CounterVec
	latency   *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	streams   prometheus.Gauge
	problems  *prometheus.CounterVec
	rolls     *prometheus.CounterVec
	draws     prometheus.Histogram
	topUps    *prometheus.CounterVec
	toppedUp  *prometheus.GaugeVec
	unsigned  prometheus.Counter
	witnesses *prometheus.CounterVec
	witnessed *prometheus.GaugeVec
	beacon    *prometheus.CounterVec
	round     prometheus.Gauge
	sweeps    *prometheus.CounterVec
	overdue   *prometheus.GaugeVec
	told      *prometheus.CounterVec
	dead      prometheus.Counter
	updates   *prometheus.CounterVec
	writing   prometheus.Histogram
	reruns    prometheus.Counter
	groups    prometheus.Histogram
	stale     prometheus.Counter
	backups   *prometheus.CounterVec
	backedUp  prometheus.Gauge

	snapshot snapshot
}

// Buckets of latencies in seconds: from a roll that is in memory to the time
// limit of a request.
var seconds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// New makes the metrics of a build. What is read from the database is at most
// fresh old.
func New(version string, fresh time.Duration) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.requests = counters(m, "http_requests_total", "Requests answered, by route, method and class of status.", "route", "method", "status")
	m.latency = add(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "fairdice_http_request_duration_seconds", Help: "How long requests but streams took, by route and method.", Buckets: seconds,
	}, []string{"route", "method"}))
	m.inFlight = gauge(m, "http_requests_in_flight", "Requests that are being answered, open streams included.")
	m.streams = gauge(m, "streams_open", "Streams of events that are open.")
	m.problems = counters(m, "problems_total", "Problems answered, by code; rate-limited are the requests held back.", "code")
	m.rolls = counters(m, "rolls_drawn_total", "Rolls drawn for the first time, by mode.", "mode")
	m.draws = histogram(m, "draw_duration_seconds", "How long it took from a request to the commit of its new roll.", seconds)
	m.topUps = counters(m, "pool_top_ups_total", "Times that a pool was filled (result ok) or could not be (failed).", "tenant", "mode", "result")
	m.toppedUp = gauges(m, "pool_last_top_up_timestamp_seconds", "When a pool was last filled.", "tenant", "mode")
	m.unsigned = counter(m, "signing_failures_total", "Attempts to sign a checkpoint that failed.")
	m.witnesses = counters(m, "witness_requests_total", "Cosignatures that were asked for, by witness and result: ok or failed.", "witness", "result")
	m.witnessed = gauges(m, "witness_last_success_timestamp_seconds", "When a witness last gave a good cosignature.", "witness")
	m.beacon = counters(m, "beacon_rounds_total", "Rounds of the beacon that were asked for, by result: ok or failed.", "result")
	m.round = gauge(m, "beacon_last_round_timestamp_seconds", "When the last round that was verified became public.")
	m.sweeps = counters(m, "deadline_sweeps_total", "Times that deadlines were looked after, by result: ok, or failed if something that had to end was left.", "result")
	m.overdue = gauges(m, "deadline_left", "Games and sequences (kind) at their deadline that the last sweep could not end, at most 200 each.", "kind")
	m.told = counters(m, "webhook_attempts_total", "Attempts to tell endpoints of events, by result: ok or failed.", "result")
	m.dead = counter(m, "webhook_dead_total", "Messages to endpoints that were given up.")
	m.updates = counters(m, "store_updates_total", "Updates of the database, by result: ok, refused, conflict, uncertain, storage or canceled.", "result")
	m.writing = histogram(m, "store_update_duration_seconds", "How long updates of the database took, waiting included.", seconds)
	m.reruns = counter(m, "store_update_reruns_total", "Times that an update ran again because another one was faster.")
	m.groups = histogram(m, "store_commit_updates", "Updates that shared one commit (SQLite).", []float64{1, 2, 4, 8, 16, 32, 64, 128, 256})
	m.stale = counter(m, "stats_failures_total", "Scrapes that could not read the database; they leave out what is read from it.")
	m.backups = counters(m, "backups_total", "Backups of the database, by result: ok or failed.", "result")
	m.backedUp = gauge(m, "backup_last_success_timestamp_seconds", "When the newest backup was begun; 0 if there is none.")
	m.snapshot = snapshot{fresh: fresh, failed: m.stale}
	add(m, &m.snapshot)
	add(m, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fairdice_build_info", Help: "1; the labels say which build this is.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}, func() float64 { return 1 }))
	for _, result := range []string{ok, failed} {
		m.beacon.WithLabelValues(result)
		m.sweeps.WithLabelValues(result)
		m.backups.WithLabelValues(result)
		m.told.WithLabelValues(result)
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	return m
}

// ServeHTTP answers a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Watch has the sizes of a house's log and pools in the metrics, from now on.
func (m *Metrics) Watch(h *house.House) { m.snapshot.watch(h) }

// Values of the label result.
const (
	ok     = "ok"
	failed = "failed"
)

func result(err error) string {
	if err != nil {
		return failed
	}
	return ok
}

func add[C prometheus.Collector](m *Metrics, c C) C {
	m.registry.MustRegister(c)
	m.all = append(m.all, c)
	return c
}

func counter(m *Metrics, name, help string) prometheus.Counter {
	return add(m, prometheus.NewCounter(prometheus.CounterOpts{Name: "fairdice_" + name, Help: help}))
}

func counters(m *Metrics, name, help string, labels ...string) *prometheus.CounterVec {
	return add(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdice_" + name, Help: help}, labels))
}

func gauge(m *Metrics, name, help string) prometheus.Gauge {
	return add(m, prometheus.NewGauge(prometheus.GaugeOpts{Name: "fairdice_" + name, Help: help}))
}

func gauges(m *Metrics, name, help string, labels ...string) *prometheus.GaugeVec {
	return add(m, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "fairdice_" + name, Help: help}, labels))
}

func histogram(m *Metrics, name, help string, buckets []float64) prometheus.Histogram {
	return add(m, prometheus.NewHistogram(prometheus.HistogramOpts{Name: "fairdice_" + name, Help: help, Buckets: buckets}))
}
