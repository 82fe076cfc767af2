package postgres

import (
	"fmt"
	"strings"
	"time"

	"fairdice/store"
)

const selectEndpoint = `SELECT id, tenant, address, events, plain, sealed, old_sealed, old_ends, created, disabled, reason, version FROM endpoints `

func scanEndpoint(r *row) store.Endpoint {
	return store.Endpoint{
		ID: r.text(0), Tenant: r.text(1), Address: r.text(2), Events: strings.Fields(r.text(3)), Plain: r.bool(4),
		Sealed: r.blob(5), OldSealed: r.blob(6), OldEnds: r.time(7), Created: r.time(8),
		Disabled: r.time(9), Reason: r.text(10), Version: r.int64(11),
	}
}

func (r *reader) Endpoint(id string) (store.Endpoint, error) {
	e, err := one(r, scanEndpoint, selectEndpoint+"WHERE id = $1", id)
	return e, wrap(err, "read endpoint %s", id)
}

func (r *reader) Endpoints() ([]store.Endpoint, error) {
	es, err := list(r, scanEndpoint, selectEndpoint+"ORDER BY tenant, id")
	return es, wrap(err, "list endpoints")
}

func eventsOf(e store.Endpoint) (string, error) {
	for _, v := range e.Events {
		if v == "" || strings.ContainsAny(v, " \t\r\n") {
			return "", fmt.Errorf("store endpoint %s: event %q is not a word", e.ID, v)
		}
	}
	return strings.Join(e.Events, " "), nil
}

func (t *tx) AddEndpoint(e store.Endpoint) error {
	events, err := eventsOf(e)
	if err != nil {
		return err
	}
	err = t.add(`INSERT INTO endpoints (id, tenant, address, events, plain, sealed, old_sealed, old_ends, created, disabled, reason, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`, e.ID, e.Tenant, e.Address, events, e.Plain, filled(e.Sealed), e.OldSealed,
		e.OldEnds, e.Created, e.Disabled, e.Reason, e.Version)
	return wrap(err, "add endpoint %s", e.ID)
}

func (t *tx) ReplaceEndpoint(e store.Endpoint) error {
	events, err := eventsOf(e)
	if err != nil {
		return err
	}
	err = t.replace("SELECT 1 FROM endpoints WHERE id = $1", []any{e.ID}, `UPDATE endpoints SET tenant = $1, address = $2, events = $3, plain = $4,
		sealed = $5, old_sealed = $6, old_ends = $7, created = $8, disabled = $9, reason = $10, version = version + 1 WHERE id = $11 AND version = $12`,
		e.Tenant, e.Address, events, e.Plain, filled(e.Sealed), e.OldSealed, e.OldEnds, e.Created, e.Disabled, e.Reason, e.ID, e.Version)
	return wrap(err, "replace endpoint %s", e.ID)
}

func (t *tx) RemoveEndpoint(id string) error {
	found, err := t.write("DELETE FROM endpoints WHERE id = $1", id)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	if err == nil {
		err = t.put("DELETE FROM messages WHERE endpoint = $1", id)
	}
	return wrap(err, "remove endpoint %s", id)
}

const selectMessage = `SELECT endpoint, id, type, entry, body, created, state, attempts, due, status, failure, version FROM messages `

func scanMessage(r *row) store.Message {
	return store.Message{
		Endpoint: r.text(0), ID: r.text(1), Type: r.text(2), Entry: r.int64(3), Body: r.blob(4), Created: r.time(5),
		State: store.MessageState(r.int(6)), Attempts: r.int(7), Due: r.time(8), Status: r.int(9), Failure: r.text(10), Version: r.int64(11),
	}
}

func (r *reader) Message(endpoint, id string) (store.Message, error) {
	m, err := one(r, scanMessage, selectMessage+"WHERE endpoint = $1 AND id = $2", endpoint, id)
	return m, wrap(err, "read message %s", id)
}

func (r *reader) Messages(endpoint, after string, limit int) ([]store.Message, error) {
	ms, err := list(r, scanMessage, selectMessage+"WHERE endpoint = $1 AND id > $2 ORDER BY id LIMIT $3", endpoint, after, limit)
	return ms, wrap(err, "list messages of %s", endpoint)
}

func (r *reader) Ready(by time.Time, signed int64) ([]string, error) {
	ids, err := list(r, func(r *row) string { return r.text(0) }, `SELECT id FROM endpoints WHERE disabled = 0 AND EXISTS (
		SELECT 1 FROM messages WHERE endpoint = endpoints.id AND state = 0 AND due <= $1 AND entry < $2) ORDER BY id`, by, signed)
	return ids, wrap(err, "find messages that are due")
}

func (r *reader) Due(endpoint string, by time.Time, signed int64, limit int) ([]store.Message, error) {
	ms, err := list(r, scanMessage, selectMessage+"WHERE endpoint = $1 AND state = 0 AND due <= $2 AND entry < $3 ORDER BY due, id LIMIT $4",
		endpoint, by, signed, limit)
	return ms, wrap(err, "find messages due at %s", endpoint)
}

func (r *reader) Outbox() (store.Outbox, error) {
	o, err := one(r, func(r *row) store.Outbox { return store.Outbox{Waiting: r.int64(0), Dead: r.int64(1)} },
		"SELECT (SELECT count(*) FROM messages WHERE state = 0), (SELECT count(*) FROM messages WHERE state = 2 AND state > 0)")
	return o, wrap(err, "count messages")
}

func (t *tx) Announce(tenant string, m store.Message) error {
	err := t.put(`INSERT INTO messages (endpoint, id, type, entry, body, created, state, attempts, due, status, failure, version)
		SELECT id, $1::text, $2::text, $3::bigint, $4::bytea, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::text, $11::bigint FROM endpoints
		WHERE tenant = $12 AND disabled = 0 AND (events = '' OR strpos(' ' || events || ' ', ' ' || $2::text || ' ') > 0)
		ON CONFLICT DO NOTHING`,
		m.ID, m.Type, m.Entry, filled(m.Body), m.Created, uint8(m.State), m.Attempts, m.Due, m.Status, m.Failure, m.Version, tenant)
	return wrap(err, "announce %s", m.ID)
}

func (t *tx) AddMessage(m store.Message) error {
	err := t.add(`INSERT INTO messages (endpoint, id, type, entry, body, created, state, attempts, due, status, failure, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		m.Endpoint, m.ID, m.Type, m.Entry, filled(m.Body), m.Created, uint8(m.State), m.Attempts, m.Due, m.Status, m.Failure, m.Version)
	return wrap(err, "add message %s", m.ID)
}

func (t *tx) ReplaceMessage(m store.Message) error {
	err := t.replace("SELECT 1 FROM messages WHERE endpoint = $1 AND id = $2", []any{m.Endpoint, m.ID}, `UPDATE messages SET type = $1, entry = $2,
		body = $3, created = $4, state = $5, attempts = $6, due = $7, status = $8, failure = $9, version = version + 1 WHERE endpoint = $10 AND id = $11 AND version = $12`,
		m.Type, m.Entry, filled(m.Body), m.Created, uint8(m.State), m.Attempts, m.Due, m.Status, m.Failure, m.Endpoint, m.ID, m.Version)
	return wrap(err, "replace message %s", m.ID)
}

func (t *tx) PruneMessages(state store.MessageState, before time.Time, limit int) (int, error) {
	n, err := t.run(nil, `DELETE FROM messages WHERE (endpoint, id) IN (
		SELECT endpoint, id FROM messages WHERE state = $1 AND state > 0 AND due < $2 LIMIT $3)`, uint8(state), before, limit)
	return int(n), wrap(err, "prune messages")
}

// filled is for columns that are never NULL.
func filled(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
