package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"fairdice/internal/beacon"
	"fairdice/internal/relay"
	"fairdice/store"
)

// witnessed asks whether the witnesses are there, and looks how far behind the
// log they are.
func (d *doctor) witnessed(ctx context.Context, r store.Reader, log signingKey, head store.LogHead) error {
	if d.policy == "" {
		d.say(skipped, "witnesses", "", "no policy names any: only your word says that everybody sees one log")
		return nil
	}
	_, policy, err := d.watched(log.public)
	if err != nil {
		return nil // said under settings
	}
	var there, silent []string
	var mu sync.Mutex
	var wg sync.WaitGroup
	for name := range policy.Witnesses() {
		url := policy.URL(name)
		if url == "" {
			continue
		}
		wg.Go(func() {
			_, err := d.reach(ctx, url)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, name)
			} else {
				there = append(there, name)
			}
		})
	}
	wg.Wait()
	slices.Sort(silent)
	if len(silent) > 0 {
		d.say(unwise, "witnesses", "Ask who runs it, and look at the network from here to it.", "out of reach: %s; answering: %d", strings.Join(silent, ", "), len(there))
	} else {
		d.say(fine, "witnesses", "", "all answer: %d", len(there))
	}
	last, err := r.LatestCosigned()
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if behind := head.Size - last.Size; behind > 0 {
		d.say(unwise, "quorum", "If it stays so while the service runs, its log says which witness gives no signature.", "the quorum has cosigned %d statements, %d less than there are", last.Size, behind)
	} else {
		d.say(fine, "quorum", "", "it has cosigned all %d statements", last.Size)
	}
	return nil
}

// reach says whether anybody answers HTTP there, whatever he answers, and what
// time he has.
func (d *doctor) reach(ctx context.Context, url string) (time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return time.Time{}, err
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return time.Time{}, err
	}
	if err := resp.Body.Close(); err != nil {
		return time.Time{}, err
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		date = time.Time{} // he does not say
	}
	return date, nil
}

// beacon asks each relay for a round of a minute ago.
func (d *doctor) beacon(ctx context.Context) {
	if d.relays == "" || d.relays == noBeacon {
		d.say(skipped, "beacon", "", "no relays are set: no matches with a beacon")
		return
	}
	round := beacon.RoundFor(d.clock().Add(-time.Minute))
	type answer struct {
		relay string
		err   error
		date  time.Time
	}
	list := strings.Split(d.relays, ",")
	answers := make([]answer, len(list))
	var wg sync.WaitGroup
	for i, url := range list {
		url = strings.TrimSpace(url)
		wg.Go(func() {
			answers[i].relay = url
			one, err := relay.New([]string{url}, d.http)
			if err == nil {
				ctx, cancel := context.WithTimeout(ctx, relay.Timeout)
				defer cancel()
				_, err = one.Signature(ctx, round)
			}
			if answers[i].err = err; err == nil {
				if date, err := d.reach(ctx, url); err == nil {
					answers[i].date = date
				}
			}
		})
	}
	wg.Wait()
	good := 0
	for _, a := range answers {
		if a.err == nil {
			good++
		}
	}
	for _, a := range answers {
		switch {
		case a.err != nil && good == 0:
			d.say(failure, "beacon", "Mend the network, name other relays with beacon-relays, or offer no beacon with none.", "%s gives no round: %v", a.relay, a.err)
		case a.err != nil:
			d.say(unwise, "beacon", "Others answer, so nothing waits; name another relay if it stays so.", "%s gives no round: %v", a.relay, a.err)
		default:
			d.say(fine, "beacon", "", "%s gives rounds", a.relay)
		}
	}
	for _, a := range answers { // one is enough
		if !a.date.IsZero() {
			d.compareClock("clock", a.relay, a.date)
			break
		}
	}
}
