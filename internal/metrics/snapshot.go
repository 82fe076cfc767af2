package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairdice/house"
)

// patience is how long a scrape waits for the database.
const patience = 5 * time.Second

// snapshot is where the house stands, read again when the last reading is too old.
type snapshot struct {
	fresh  time.Duration
	failed prometheus.Counter

	mu    sync.Mutex
	of    *house.House // nil: none is watched
	taken time.Time
	stats house.Stats
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("fairdice_"+name, help, labels, nil)
}

var (
	logged     = desc("log_statements", "Statements in the log, signed or not.")
	signed     = desc("log_signed_statements", "Statements in the last signed checkpoint.")
	cosigned   = desc("log_cosigned_statements", "Statements in the last checkpoint that met the quorum of witnesses.")
	checkpoint = desc("log_last_checkpoint_timestamp_seconds", "When this instance signed or found the last checkpoint.")
	forked     = desc("log_signing_refused", "1 while nothing is signed because it would contradict what was signed.")
	leading    = desc("lease_held", "1 if this instance signs.")
	epoch      = desc("lease_epoch", "Number of the last lease of this instance.")
	sealed     = desc("sequences_sealed_total", "Sequences sealed ever, by tenant and mode.", "tenant", "mode")
	outbox     = desc("webhook_messages", "Messages to endpoints that were not delivered, by state: waiting or dead.", "state")
	free       = desc("pool_free_sequences", "Sealed sequences that no game has, by tenant and mode.", "tenant", "mode")
)

// Describe names the metrics that are read from the house.
func (s *snapshot) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{logged, signed, cosigned, checkpoint, forked, leading, epoch, sealed, free, outbox} {
		to <- d
	}
}

// Collect reads them.
func (s *snapshot) Collect(to chan<- prometheus.Metric) {
	st, ok := s.read()
	if !ok {
		return
	}
	value := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	value(logged, prometheus.GaugeValue, float64(st.Logged))
	value(signed, prometheus.GaugeValue, float64(st.Signed))
	value(cosigned, prometheus.GaugeValue, float64(st.Cosigned))
	if !st.SignedAt.IsZero() {
		value(checkpoint, prometheus.GaugeValue, float64(st.SignedAt.UnixMilli())/1000)
	}
	value(forked, prometheus.GaugeValue, number(st.Refused))
	value(leading, prometheus.GaugeValue, number(st.Leading))
	value(epoch, prometheus.GaugeValue, float64(st.Epoch))
	value(outbox, prometheus.GaugeValue, float64(st.Outbox.Waiting), "waiting")
	value(outbox, prometheus.GaugeValue, float64(st.Outbox.Dead), "dead")
	for _, p := range st.Pools {
		value(sealed, prometheus.CounterValue, float64(p.Sealed), p.Tenant, p.Mode)
		value(free, prometheus.GaugeValue, float64(p.Free), p.Tenant, p.Mode)
	}
}

// watch takes another house, and nothing from the reading before.
func (s *snapshot) watch(h *house.House) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of, s.taken = h, time.Time{}
}

// read answers scrapes that come at the same time with one reading.
func (s *snapshot) read() (house.Stats, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		return house.Stats{}, false
	}
	if !s.taken.IsZero() && time.Since(s.taken) < s.fresh {
		return s.stats, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := s.of.Stats(ctx)
	if err != nil {
		s.failed.Inc()
		return house.Stats{}, false
	}
	s.taken, s.stats = time.Now(), st
	return st, true
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
