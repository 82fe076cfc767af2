package postgres

import "fairdice/store"

const selectTally = "SELECT tenant, mode, sums FROM tallies "

func scanTally(r *row) store.Tally {
	return store.Tally{Tenant: r.text(0), Mode: r.text(1), Sums: r.blob(2)}
}

func (r *reader) Tally(tenant, mode string) (store.Tally, error) {
	v, err := one(r, scanTally, selectTally+"WHERE tenant = $1 AND mode = $2", tenant, mode)
	return v, wrap(err, "read tally of %s %s", tenant, mode)
}

func (r *reader) Tallies() ([]store.Tally, error) {
	vs, err := list(r, scanTally, selectTally+"ORDER BY tenant, mode")
	return vs, wrap(err, "list tallies")
}

func (t *tx) SetTally(v store.Tally) error {
	if v.Sums == nil {
		v.Sums = []byte{}
	}
	err := t.put(`INSERT INTO tallies (tenant, mode, sums) VALUES ($1, $2, $3)
		ON CONFLICT (tenant, mode) DO UPDATE SET sums = excluded.sums`, v.Tenant, v.Mode, v.Sums)
	return wrap(err, "set tally of %s %s", v.Tenant, v.Mode)
}

func (r *reader) Counting() (store.Counting, error) {
	v, err := one(r, func(r *row) store.Counting {
		return store.Counting{Done: r.int64(0), Until: r.int64(1)}
	}, "SELECT done, until FROM counting")
	return v, wrap(err, "read what is counted")
}

func (t *tx) SetCounting(v store.Counting) error {
	return wrap(t.put("UPDATE counting SET done = $1, until = $2", v.Done, v.Until), "set what is counted")
}
