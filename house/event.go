package house

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fairdice/commitment"
	"fairdice/store"
)

// The types of events that endpoints are told of.
const (
	MatchOpened     = "match.opened"
	GameDealt       = "game.dealt" // each segment of a game
	GameClosed      = "game.closed"
	GameAborted     = "game.aborted"
	GameOverdueSoon = "game.overdue-soon"
	MatchFinished   = "match.finished"
	PoolLow         = "pool.low"

	eventTest = "webhook.test"
)

// Events are all of them, in the order of a match.
func Events() []string {
	return []string{MatchOpened, GameDealt, GameClosed, GameAborted, GameOverdueSoon, MatchFinished, PoolLow}
}

// event is the body of a message (openapi.yaml, webhooks). It says what the
// log says, or how much of a pool is left: nothing that is not public, or the tenant's own.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      eventData `json:"data"`
}

type eventData struct {
	Log       string    `json:"log"`
	Match     string    `json:"match,omitempty"`
	Game      int       `json:"game,omitempty"`
	Segment   int       `json:"segment,omitempty"`
	Index     *int64    `json:"index,omitempty"`
	Statement string    `json:"statement,omitempty"`
	Mode      string    `json:"mode,omitempty"`
	Free      *int      `json:"free,omitempty"`
	Ends      time.Time `json:"ends,omitzero"`
}

// told is what endpoints are told of a statement, "" for nothing.
func told(s commitment.Statement) (kind string, d eventData) {
	switch s := s.(type) {
	case commitment.Open:
		return MatchOpened, eventData{Match: s.Match}
	case commitment.Deal:
		return GameDealt, eventData{Match: s.Match, Game: s.Game, Segment: s.Segment}
	case commitment.Close:
		return GameClosed, eventData{Match: s.Match, Game: s.Game}
	case commitment.Abort:
		return GameAborted, eventData{Match: s.Match, Game: s.Game}
	case commitment.Finish:
		return MatchFinished, eventData{Match: s.Match}
	}
	return "", d
}

// tell appends a statement of a tenant's match, and puts the news of it into
// the outbox of his endpoints. Both are one transaction: a crash leaves neither, or
// both, and nobody is told before the statement is signed (deliver.go).
func (h *House) tell(w *writer, tenant string, s commitment.Statement) (int64, error) {
	index, err := w.append(s)
	if err != nil {
		return 0, err
	}
	kind, d := told(s)
	if kind == "" {
		return index, nil
	}
	d.Index, d.Statement = &index, string(s.Text())
	return index, h.announce(w.tx, tenant, kind, strconv.FormatInt(index, 10), index, w.at, d)
}

// announce puts an event into the outbox of every endpoint that takes it, once for
// each key: its id is derived, so it does not matter how often it is noticed.
func (h *House) announce(tx store.Tx, tenant, kind, key string, entry int64, at time.Time, d eventData) error {
	d.Log = h.origin
	body, err := json.Marshal(event{Type: kind, Timestamp: at, Data: d})
	if err != nil {
		return fmt.Errorf("announce %s: %w", kind, err)
	}
	return tx.Announce(tenant, store.Message{ID: h.messageID(kind, key), Type: kind, Entry: entry, Body: body, Created: at, Due: at})
}

func (h *House) messageID(kind, key string) string {
	sum := sha256.Sum256([]byte("fairdice/v1 event\n" + h.origin + "\n" + kind + "\n" + key + "\n"))
	return "msg_" + hex.EncodeToString(sum[:16])
}

// warnLow announces a pool that is low: one that the house does not fill by itself
// (mode real) below its mark, another one below a quarter of it, for then
// filling it has failed or is too slow. Once for each filling: the next number tells them apart.
func (h *House) warnLow(tenant, mode string, pool store.Pool) {
	mark := h.pool.Low
	if mode != commitment.Real.String() {
		mark /= 4
	}
	key := tenant + " " + mode
	if pool.Free >= mark || pool.Next == 0 {
		return
	}
	if last, ok := h.low.Load(key); ok && last == pool.Next {
		return
	}
	err := h.store.Update(h.ctx, func(tx store.Tx) error {
		return h.announce(tx, tenant, PoolLow, key+" "+strconv.FormatUint(pool.Next, 10), -1, h.now(), eventData{Mode: mode, Free: &pool.Free})
	})
	if err != nil { // the next assign tries again
		h.log.Warn("low pool not announced", "tenant", tenant, "mode", mode, "error", err)
		return
	}
	h.low.Store(key, pool.Next)
	h.pokeDeliveries()
}

// SoonMargin is how long before the house ends a game by itself its tenant is told.
const SoonMargin = 11 * time.Hour

// warnOverdue announces games that the house will end soon, each once.
func (h *House) warnOverdue(r store.Reader, now time.Time) (warnings []func(store.Tx) error, err error) {
	endpoints, err := r.Endpoints()
	if err != nil || !slices.ContainsFunc(endpoints, func(e store.Endpoint) bool { return e.Disabled.IsZero() }) {
		return nil, err
	}
	games, err := r.Unended(now.Add(assignedMargin+SoonMargin-AssignedLimit), 0, sweepBatch)
	if err != nil {
		return nil, fmt.Errorf("find games that are overdue soon: %w", err)
	}
	for _, g := range games {
		m, err := r.Match(g.Match)
		if err != nil {
			return nil, err
		}
		key := g.Match + " " + strconv.Itoa(g.Number)
		known := true
		for _, e := range endpoints {
			if e.Tenant != m.Tenant || !e.Disabled.IsZero() || len(e.Events) > 0 && !slices.Contains(e.Events, GameOverdueSoon) {
				continue
			}
			if _, err := r.Message(e.ID, h.messageID(GameOverdueSoon, key)); errors.Is(err, store.ErrNotFound) {
				known = false
			} else if err != nil {
				return nil, err
			}
		}
		if known {
			continue
		}
		segments, err := r.Segments(g.Match, g.Number)
		if err != nil {
			return nil, err
		}
		if len(segments) == 0 {
			continue
		}
		assign, err := r.Entry(segments[0].Assign)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, func(tx store.Tx) error {
			return h.announce(tx, m.Tenant, GameOverdueSoon, key, -1, now,
				eventData{Match: g.Match, Game: g.Number, Ends: assign.Time.Add(AssignedLimit - assignedMargin)})
		})
	}
	return warnings, nil
}
