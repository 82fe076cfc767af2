package house

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairdice/internal/beacon"
	"fairdice/store"
)

// Beacon is where the signatures of drand's quicknet come from. The house
// believes none of them before it has verified it under the built-in key.
type Beacon interface {
	// Signature is that of a round, which is public from beacon.Time(round) on.
	Signature(ctx context.Context, round uint64) ([]byte, error)
}

// BeaconLead is how long after its assign the round of a segment is: time for
// the checkpoint that contains the assign to be signed and cosigned
// (PROTOCOL.md §4 wants 15 s at least).
const BeaconLead = 30 * time.Second

// roundFor is the first round that is public BeaconLead after an assign.
func roundFor(assigned time.Time) uint64 {
	return beacon.RoundFor(assigned.Add(BeaconLead - beacon.Lead))
}

const (
	beaconPoll  = time.Second // how often a round that is due is asked for
	beaconBatch = 1000        // segments looked at in one pass
)

// watchBeacon fetches the rounds that segments wait for. What it has to do is
// read from the store each time, so a restart forgets nothing. A round that no
// relay has is asked for again and again: nothing else ever takes its place.
func (h *House) watchBeacon(ctx context.Context) {
	defer close(h.beaconDone)
	for {
		wait, err := h.fetchRounds(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			h.log.Warn("beacon not fetched", "error", err)
			wait = true
		}
		var again <-chan time.Time
		if wait {
			again = time.After(beaconPoll)
		}
		select {
		case <-ctx.Done():
			return
		case <-h.beaconKick:
		case <-again:
		}
	}
}

// fetchRounds deals with every waiting segment whose round is public, and
// reports whether any is left waiting.
func (h *House) fetchRounds(ctx context.Context) (wait bool, err error) {
	var waiting []store.Segment
	if err := h.store.View(ctx, func(r store.Reader) (err error) {
		waiting, err = r.AwaitingBeacon(beaconBatch)
		return err
	}); err != nil {
		return true, fmt.Errorf("find waiting segments: %w", err)
	}
	signatures := map[uint64][]byte{}
	failed := map[uint64]bool{}
	var errs []error
	for _, s := range waiting {
		if s.Signature != nil { // it waits for links only
			continue
		}
		if h.now().Before(beacon.Time(s.Round)) || failed[s.Round] {
			wait = true
			continue
		}
		sig := signatures[s.Round]
		if sig == nil {
			if sig, err = h.round(ctx, s.Round); err != nil {
				errs = append(errs, err)
				failed[s.Round], wait = true, true
				continue
			}
			signatures[s.Round] = sig
		}
		if _, err := again(ctx, h, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, h.takeSignature(ctx, s, sig)
		}); err != nil {
			errs = append(errs, err)
			wait = true
		}
	}
	return wait, errors.Join(errs...)
}

func (h *House) round(ctx context.Context, round uint64) ([]byte, error) {
	sig, err := h.beacon.Signature(ctx, round)
	if err == nil {
		err = beacon.Verify(round, sig)
	}
	if ctx.Err() == nil {
		h.observer.Fetched(round, beacon.Time(round), err)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch round %d: %w", round, err)
	}
	return sig, nil
}

func (h *House) takeSignature(ctx context.Context, row store.Segment, sig []byte) error {
	t, err := h.table(ctx, row.Match)
	if err != nil {
		return err
	}
	defer t.unlock()
	g, err := t.at(ctx, row.Game)
	if err != nil {
		return err
	}
	s, err := g.segment(row.Segment)
	if err != nil {
		return err
	}
	if s.row.Signature != nil || s.dealt() || g.row.End >= 0 || g.state.Decided() {
		return nil
	}
	next := *s
	next.row.Signature = sig
	err = t.update(ctx, func(tx store.Tx) error {
		next := &next
		if t.complete(next.row) {
			w, err := h.lockLog(tx)
			if err != nil {
				return err
			}
			if err := t.deal(w, next); err != nil {
				return err
			}
		}
		if err := tx.ReplaceSegment(next.row); err != nil {
			return fmt.Errorf("replace segment: %w", err)
		}
		return tx.ReplaceGame(g.row) // so that nobody ends it meanwhile
	})
	if err != nil {
		return fmt.Errorf("deal segment %d of game %d of %s: %w", row.Segment, row.Game, row.Match, err)
	}
	g.row.Version++
	*s = next
	h.signer.poke()
	return nil
}

func (h *House) pokeBeacon() {
	select {
	case h.beaconKick <- struct{}{}:
	default:
	}
}
