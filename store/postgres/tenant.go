package postgres

import (
	"fmt"
	"strings"
	"time"

	"fairdice/store"
)

func scanTenant(r *row) store.Tenant {
	return store.Tenant{Name: r.text(0), Created: r.time(1)}
}

func (r *reader) Tenant(name string) (store.Tenant, error) {
	t, err := one(r, scanTenant, "SELECT name, created FROM tenants WHERE name = $1", name)
	return t, wrap(err, "read tenant %s", name)
}

func (r *reader) Tenants() ([]store.Tenant, error) {
	ts, err := list(r, scanTenant, "SELECT name, created FROM tenants ORDER BY name")
	return ts, wrap(err, "list tenants")
}

func (t *tx) AddTenant(v store.Tenant) error {
	err := t.add("INSERT INTO tenants (name, created) VALUES ($1, $2)", v.Name, v.Created)
	return wrap(err, "add tenant %s", v.Name)
}

const selectAPIKey = "SELECT hash, tenant, label, prefix, scopes, created, revoked, expires, used, replaces, withdrawn FROM api_keys "

func scanAPIKey(r *row) store.APIKey {
	return store.APIKey{
		Hash: r.hash(0), Tenant: r.text(1), Label: r.text(2), Prefix: r.text(3),
		Scopes: strings.Fields(r.text(4)), Created: r.time(5), Revoked: r.time(6),
		Expires: r.time(7), Used: r.time(8), Replaces: r.hash(9), Withdrawn: r.bool(10),
	}
}

func (r *reader) APIKey(hash [32]byte) (store.APIKey, error) {
	k, err := one(r, scanAPIKey, selectAPIKey+"WHERE hash = $1", hash)
	return k, wrap(err, "read API key")
}

func (r *reader) APIKeys(tenant string) ([]store.APIKey, error) {
	ks, err := list(r, scanAPIKey, selectAPIKey+"WHERE tenant = $1 ORDER BY created, hash", tenant)
	return ks, wrap(err, "list API keys of %s", tenant)
}

func (t *tx) AddAPIKey(k store.APIKey) error {
	for _, s := range k.Scopes {
		if s == "" || strings.ContainsAny(s, " \t\r\n") {
			return fmt.Errorf("add API key %s: scope %q is not a word", k.Prefix, s)
		}
	}
	err := t.add(`INSERT INTO api_keys (hash, tenant, label, prefix, scopes, created, revoked, expires, used, replaces, withdrawn)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		k.Hash, k.Tenant, k.Label, k.Prefix, strings.Join(k.Scopes, " "), k.Created, k.Revoked,
		k.Expires, k.Used, k.Replaces, k.Withdrawn)
	return wrap(err, "add API key %s", k.Prefix)
}

func (t *tx) RevokeAPIKey(hash [32]byte, at time.Time, final bool) error {
	found, err := t.write("UPDATE api_keys SET revoked = $1, withdrawn = $2 WHERE hash = $3", at, final, hash)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return wrap(err, "revoke API key")
}

func (t *tx) UseAPIKey(hash [32]byte, at time.Time) error {
	found, err := t.write("UPDATE api_keys SET used = greatest(used, $1) WHERE hash = $2", at, hash)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return wrap(err, "note use of API key")
}
