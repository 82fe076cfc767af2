package house

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairdice/store"
)

// MaxEndpoints is how many a tenant may have.
const MaxEndpoints = 16

// EndpointRequest is an endpoint to be added.
type EndpointRequest struct {
	Tenant     string
	Address    string
	Events     []string // none: all
	Plain      bool     // http is allowed
	Asymmetric bool     // Ed25519 (v1a) in the place of HMAC-SHA256 (v1)
}

// EndpointKey is what the receiver of an endpoint checks signatures with: a
// secret (whsec_), which is shown this once, or a public key (whpk_).
type EndpointKey struct {
	ID      string
	Key     string
	OldEnds time.Time // when the key before it stops signing; zero: there is none
}

var errNoCourier = &Error{Code: Unavailable, Message: "this service sends no webhooks"}

// AddEndpoint adds an address that is told of the events of a tenant from now on.
func (h *House) AddEndpoint(ctx context.Context, req EndpointRequest) (EndpointKey, error) {
	if h.deliveries.courier == nil {
		return EndpointKey{}, errNoCourier
	}
	if err := h.deliveries.courier.Check(req.Address, req.Plain); err != nil {
		return EndpointKey{}, refuse(Malformed, "%s", err)
	}
	for i, e := range req.Events {
		if !slices.Contains(Events(), e) || slices.Contains(req.Events[:i], e) {
			return EndpointKey{}, refuse(Malformed, "event %q is unknown or comes twice; the events are %s", e, strings.Join(Events(), ", "))
		}
	}
	id, err := h.newID()
	if err != nil {
		return EndpointKey{}, err
	}
	secret, shown, err := h.newEndpointKey(req.Asymmetric)
	if err != nil {
		return EndpointKey{}, err
	}
	e := store.Endpoint{ID: id, Tenant: req.Tenant, Address: req.Address, Events: req.Events, Plain: req.Plain, Created: h.now()}
	if e.Sealed, err = h.master.encrypt(forWebhook, []byte(secret), id); err != nil {
		return EndpointKey{}, err
	}
	err = h.store.Update(ctx, func(tx store.Tx) error {
		if _, err := tx.Tenant(req.Tenant); errors.Is(err, store.ErrNotFound) {
			return refuse(NotFound, "no tenant %q", req.Tenant)
		} else if err != nil {
			return err
		}
		all, err := tx.Endpoints()
		if err != nil {
			return err
		}
		n := 0
		for _, other := range all {
			if other.Tenant == req.Tenant {
				n++
			}
		}
		if n >= MaxEndpoints {
			return refuse(Invalid, "tenant %s has %d endpoints already", req.Tenant, n)
		}
		return tx.AddEndpoint(e)
	})
	return EndpointKey{ID: id, Key: shown}, err
}

// newEndpointKey makes a key in the text forms of Standard Webhooks: what signs,
// and what the receiver gets.
func (h *House) newEndpointKey(asymmetric bool) (secret, shown string, err error) {
	var raw [32]byte
	if _, err := io.ReadFull(h.random, raw[:]); err != nil {
		return "", "", fmt.Errorf("make signing key: %w", err)
	}
	text := base64.StdEncoding.EncodeToString
	if !asymmetric {
		secret = "whsec_" + text(raw[:])
		return secret, secret, nil
	}
	private := ed25519.NewKeyFromSeed(raw[:])
	return "whsk_" + text(private), "whpk_" + text(private[ed25519.SeedSize:]), nil
}

// Endpoints are those of all tenants, by tenant, without their keys.
func (h *House) Endpoints(ctx context.Context) (all []store.Endpoint, err error) {
	err = h.store.View(ctx, func(r store.Reader) (err error) {
		all, err = r.Endpoints()
		return err
	})
	for i := range all {
		all[i].Sealed, all[i].OldSealed = nil, nil
	}
	return all, err
}

// onEndpoint changes an endpoint.
func (h *House) onEndpoint(ctx context.Context, id string, fn func(store.Tx, store.Endpoint) error) error {
	err := h.store.Update(ctx, func(tx store.Tx) error {
		e, err := tx.Endpoint(id)
		if errors.Is(err, store.ErrNotFound) {
			return refuse(NotFound, "no endpoint %s", id)
		} else if err != nil {
			return err
		}
		return fn(tx, e)
	})
	h.pokeDeliveries()
	return err
}

// RotateEndpoint gives an endpoint a new key of the same kind. Through the
// overlap every message carries both signatures, so that the receiver changes
// over without missing one; 0 ends the old key at once, also that of a rotation before.
func (h *House) RotateEndpoint(ctx context.Context, id string, overlap time.Duration) (EndpointKey, error) {
	if overlap < 0 || overlap > MaxOverlap {
		return EndpointKey{}, refuse(Malformed, "overlap %s is not 0 to %s", overlap, MaxOverlap)
	}
	var k EndpointKey
	now := h.now()
	err := h.onEndpoint(ctx, id, func(tx store.Tx, e store.Endpoint) error {
		if e.OldSealed != nil && now.Before(e.OldEnds) && overlap > 0 {
			return refuse(NotDue, "the key before the current one signs until %s; wait, or rotate with no overlap", e.OldEnds.Format(time.RFC3339))
		}
		old, err := h.master.decrypt(forWebhook, e.Sealed, id)
		if err != nil {
			return err
		}
		secret, shown, err := h.newEndpointKey(strings.HasPrefix(string(old), "whsk_"))
		if err != nil {
			return err
		}
		k = EndpointKey{ID: id, Key: shown}
		if e.OldSealed, e.OldEnds = nil, (time.Time{}); overlap > 0 {
			e.OldSealed, e.OldEnds = e.Sealed, now.Add(overlap)
			k.OldEnds = e.OldEnds
		}
		if e.Sealed, err = h.master.encrypt(forWebhook, []byte(secret), id); err != nil {
			return err
		}
		return tx.ReplaceEndpoint(e)
	})
	if err != nil {
		return EndpointKey{}, err
	}
	return k, nil
}

// RemoveEndpoint removes an endpoint with all that it was to be told.
func (h *House) RemoveEndpoint(ctx context.Context, id string) error {
	return h.onEndpoint(ctx, id, func(tx store.Tx, e store.Endpoint) error { return tx.RemoveEndpoint(id) })
}

// EnableEndpoint has one that was disabled told again.
func (h *House) EnableEndpoint(ctx context.Context, id string) error {
	return h.onEndpoint(ctx, id, func(tx store.Tx, e store.Endpoint) error {
		e.Disabled, e.Reason = time.Time{}, ""
		return tx.ReplaceEndpoint(e)
	})
}

// TestEndpoint sends an event of type webhook.test and answers what came of it.
// It is not in the outbox, and not repeated.
func (h *House) TestEndpoint(ctx context.Context, id string) (Delivery, error) {
	if h.deliveries.courier == nil {
		return Delivery{}, errNoCourier
	}
	var p Parcel
	err := h.onEndpoint(ctx, id, func(_ store.Tx, e store.Endpoint) error {
		now := h.now()
		body := fmt.Appendf(nil, `{"type":%q,"timestamp":%q,"data":{"log":%q}}`, eventTest, now.Format(time.RFC3339), h.origin)
		nonce, err := h.newID()
		if err != nil {
			return err
		}
		p, err = h.parcel(e, h.messageID(eventTest, nonce), body)
		return err
	})
	if err != nil {
		return Delivery{}, err
	}
	return h.deliveries.courier.Send(ctx, p), nil
}

// messagesBatch is how many messages an operator's command looks at in one transaction.
const messagesBatch = 500

// DeadMessages are those that were given up, by endpoint and id, at most limit.
func (h *House) DeadMessages(ctx context.Context, limit int) (dead []store.Message, err error) {
	err = h.eachMessage(ctx, "", func(m store.Message) error {
		if m.State == store.Dead && len(dead) < limit {
			dead = append(dead, m)
		}
		return nil
	})
	return dead, err
}

// eachMessage shows the messages of one endpoint, or of all.
func (h *House) eachMessage(ctx context.Context, endpoint string, show func(store.Message) error) error {
	all, err := h.Endpoints(ctx)
	if err != nil {
		return err
	}
	found := endpoint == ""
	for _, e := range all {
		if endpoint != "" && e.ID != endpoint {
			continue
		}
		found = true
		for after := ""; ; {
			var batch []store.Message
			if err := h.store.View(ctx, func(r store.Reader) (err error) {
				batch, err = r.Messages(e.ID, after, messagesBatch)
				return err
			}); err != nil {
				return err
			}
			if len(batch) == 0 {
				break
			}
			for _, m := range batch {
				if err := show(m); err != nil {
					return err
				}
				after = m.ID
			}
		}
	}
	if !found {
		return refuse(NotFound, "no endpoint %s", endpoint)
	}
	return nil
}

// Replay has a message sent again under its id, to one endpoint or to all
// ("") that have it, and says how many. One that waits is tried at once.
func (h *House) Replay(ctx context.Context, endpoint, id string) (int, error) {
	all, err := h.Endpoints(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range all {
		if endpoint != "" && e.ID != endpoint {
			continue
		}
		again, err := h.replay(ctx, e.ID, id)
		if err != nil {
			return n, err
		}
		n += again
	}
	if n == 0 {
		return 0, refuse(NotFound, "no message %s is kept for an endpoint", id)
	}
	h.pokeDeliveries()
	return n, nil
}

func (h *House) replay(ctx context.Context, endpoint, id string) (n int, err error) {
	err = h.store.Update(ctx, func(tx store.Tx) error {
		m, err := tx.Message(endpoint, id)
		if errors.Is(err, store.ErrNotFound) {
			n = 0
			return nil
		} else if err != nil {
			return err
		}
		m.State, m.Attempts, m.Due = store.Waiting, 0, h.now()
		n = 1
		return tx.ReplaceMessage(m)
	})
	return n, err
}

// ReplaySince has everything sent again that has happened since then, whatever
// became of it, to one endpoint or to all (""), and says how many messages.
func (h *House) ReplaySince(ctx context.Context, endpoint string, since time.Time) (n int, err error) {
	err = h.eachMessage(ctx, endpoint, func(m store.Message) error {
		if m.Created.Before(since) {
			return nil
		}
		again, err := h.replay(ctx, m.Endpoint, m.ID)
		n += again
		return err
	})
	h.pokeDeliveries()
	return n, err
}
