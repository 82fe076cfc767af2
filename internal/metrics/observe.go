package metrics

import (
	"strconv"
	"time"

	"fairdice/house"
)

// Arrived counts a request in.
func (m *Metrics) Arrived() { m.inFlight.Inc() }

// Answered counts it out.
func (m *Metrics) Answered(method, route string, status int, took time.Duration) {
	m.Followed(method, route, status)
	m.latency.WithLabelValues(route, method).Observe(took.Seconds())
}

// Followed counts out a request for a stream.
func (m *Metrics) Followed(method, route string, status int) {
	m.inFlight.Dec()
	class := "none" // the caller was cut off
	if status >= 100 {
		class = strconv.Itoa(status/100) + "xx"
	}
	m.requests.WithLabelValues(route, method, class).Inc()
}

// Streaming counts the streams that are open.
func (m *Metrics) Streaming(change int) { m.streams.Add(float64(change)) }

// Refused counts a problem.
func (m *Metrics) Refused(code house.Code) { m.problems.WithLabelValues(string(code)).Inc() }

// Drawn counts a roll.
func (m *Metrics) Drawn(mode string, took time.Duration) {
	m.rolls.WithLabelValues(mode).Inc()
	m.draws.Observe(took.Seconds())
}

// ToppedUp notes that a pool is full.
func (m *Metrics) ToppedUp(tenant, mode string, err error) {
	m.topUps.WithLabelValues(tenant, mode, result(err)).Inc()
	if err == nil {
		m.toppedUp.WithLabelValues(tenant, mode).SetToCurrentTime()
	}
}

// SigningFailed counts a checkpoint that was not signed.
func (m *Metrics) SigningFailed(error) { m.unsigned.Inc() }

// Cosigned counts the answer of a witness.
func (m *Metrics) Cosigned(witness string, err error) {
	m.witnesses.WithLabelValues(witness, result(err)).Inc()
	if err == nil {
		m.witnessed.WithLabelValues(witness).SetToCurrentTime()
	}
}

// Fetched counts a round of the beacon.
func (m *Metrics) Fetched(_ uint64, public time.Time, err error) {
	m.beacon.WithLabelValues(result(err)).Inc()
	if err == nil {
		m.round.Set(float64(public.Unix()))
	}
}

// Looked counts a sweep.
func (m *Metrics) Looked(done house.Swept, err error) {
	m.sweeps.WithLabelValues(result(err)).Inc()
	if err != nil && done == (house.Swept{}) {
		return // it could not even look
	}
	m.overdue.WithLabelValues("game").Set(float64(done.LeftGames))
	m.overdue.WithLabelValues("sequence").Set(float64(done.LeftSequences))
}

// BackedUp counts a backup that was begun at some time, or failed.
func (m *Metrics) BackedUp(begun time.Time, err error) {
	m.backups.WithLabelValues(result(err)).Inc()
	if err == nil {
		m.BackupFound(begun)
	}
}

// BackupFound says of when the newest backup is that was there already.
func (m *Metrics) BackupFound(begun time.Time) {
	m.backedUp.Set(float64(begun.Unix()))
}

// Told counts an attempt to tell an endpoint of an event.
func (m *Metrics) Told(taken, dead bool) {
	result := ok
	if !taken {
		result = failed
	}
	m.told.WithLabelValues(result).Inc()
	if dead {
		m.dead.Inc()
	}
}
