package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"
)

// loadReport is what a load has found; so it is printed with --json.
type loadReport struct {
	Clients int     `json:"clients"`
	Variant string  `json:"variant"`
	Mode    string  `json:"mode"`
	Profile string  `json:"profile"`
	Level   string  `json:"level"`
	Seconds float64 `json:"seconds"` // of playing

	Matches   int            `json:"matches"` // played to the end
	Rolls     int64          `json:"rolls"`
	PerSecond float64        `json:"rollsPerSecond"`
	Requests  []kindReport   `json:"requests"`
	Problems  map[string]int `json:"problems"` // by code, those that a repetition has overcome too
	Failures  []string       `json:"failures"` // matches that could not be played
	Audit     auditReport    `json:"audit"`
}

// kindReport is how long one kind of request took until its answer was here,
// in milliseconds; those that were refused are problems, and not in it.
type kindReport struct {
	Kind  string  `json:"kind"`
	Count uint64  `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
}

// auditReport is what the archive says of the matches.
type auditReport struct {
	Asked       bool     `json:"asked"`
	Key         string   `json:"key"`
	KeyFrom     string   `json:"keyFrom"`     // given, or service: then it proves only that the service agrees with itself
	Bundles     int      `json:"bundles"`     // verified
	Checkpoints int      `json:"checkpoints"` // proved to be beginnings of the last one
	Before      int64    `json:"before"`      // statements in the log
	After       int64    `json:"after"`
	Failures    []string `json:"failures"`
}

func (l *loadRun) newReport() *loadReport {
	t := l.terms
	return &loadReport{Clients: l.clients, Variant: t.variant, Mode: t.mode, Profile: t.profile, Level: t.level}
}

// fill takes over what was measured.
func (r *loadReport) fill(l *loadRun, took time.Duration, audited auditReport) {
	r.Seconds, r.Matches, r.Rolls = took.Seconds(), len(l.played), l.rolls.Load()
	r.PerSecond = float64(r.Rolls) / r.Seconds
	r.Failures, r.Problems, r.Audit = l.failures, l.wire.problems, audited
	for _, kind := range append(slices.Clone(kinds), "other") {
		if h := l.wire.answered[kind]; h != nil {
			ms := func(share float64) float64 { return float64(h.quantile(share).Microseconds()) / 1000 }
			r.Requests = append(r.Requests, kindReport{kind, h.count, ms(0.5), ms(0.9), ms(0.99), ms(0.999), ms(1)})
		}
	}
}

// err sums up what failed.
func (r *loadReport) err() error {
	if len(r.Failures)+len(r.Audit.Failures) == 0 {
		return nil
	}
	return fmt.Errorf("load service: %d matches could not be played, %d audits failed", len(r.Failures), len(r.Audit.Failures))
}

func (r *loadReport) json(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// shown is how many failures are printed; --json has all.
const shown = 10

func (r *loadReport) text(out io.Writer) error {
	t := &told{out: out}
	fmt.Fprintf(t, "%d clients, %s, %s, %s, %s: %d matches, %d rolls in %.1f s, %.0f rolls/s\n",
		r.Clients, r.Variant, r.Mode, r.Profile, r.Level, r.Matches, r.Rolls, r.Seconds, r.PerSecond)
	fmt.Fprintf(t, "%-8s %9s %9s %9s %9s %9s %9s   milliseconds\n", "request", "count", "p50", "p90", "p99", "p99.9", "max")
	for _, k := range r.Requests {
		fmt.Fprintf(t, "%-8s %9d %9.2f %9.2f %9.2f %9.2f %9.2f\n", k.Kind, k.Count, k.P50, k.P90, k.P99, k.P999, k.Max)
	}
	for _, code := range slices.Sorted(maps.Keys(r.Problems)) {
		fmt.Fprintf(t, "problem  %9d %s\n", r.Problems[code], code)
	}
	list := func(what string, failures []string) {
		for i, f := range failures {
			if i == shown {
				fmt.Fprintf(t, "%s and %d more\n", what, len(failures)-shown)
				break
			}
			fmt.Fprintf(t, "%s %s\n", what, f)
		}
	}
	list("not played:", r.Failures)
	if !r.Audit.Asked {
		fmt.Fprintln(t, "not audited")
		return t.err
	}
	from := "the key given"
	if r.Audit.KeyFrom != "given" {
		from = "the key the service itself names"
	}
	fmt.Fprintf(t, "audit    %d bundles verified under %s; the log went from %d to %d statements, %d checkpoints are beginnings of the last one\n",
		r.Audit.Bundles, from, r.Audit.Before, r.Audit.After, r.Audit.Checkpoints)
	list("audit failed:", r.Audit.Failures)
	return t.err
}

// watch shows on a terminal how far the load is, until stop is called.
func (l *loadRun) watch(out io.Writer) (stop func()) {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		started, before := time.Now(), int64(0)
		for {
			select {
			case <-done:
				fmt.Fprint(out, "\r\x1b[K")
				return
			case <-ticks.C:
			}
			if n := l.auditing.Load(); n > 0 {
				fmt.Fprintf(out, "\r\x1b[Kaudit: %d of %d matches", l.audited.Load(), n)
				continue
			}
			l.mu.Lock()
			played, failed := len(l.played), len(l.failures)
			l.mu.Unlock()
			rolls := l.rolls.Load()
			fmt.Fprintf(out, "\r\x1b[K%s of %s, %d matches, %d rolls, %d rolls/s, %d failed", time.Since(started).Round(time.Second), l.duration, played, rolls, rolls-before, failed)
			before = rolls
		}
	})
	return func() { close(done); wg.Wait() }
}
