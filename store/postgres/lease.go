package postgres

import (
	"time"

	"fairdice/store"
)

// serverNow is milliseconds since 1970, while a transaction runs too.
const serverNow = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const leaseColumns = "leases.name, leases.holder, leases.epoch, leases.until - " + serverNow

func scanLease(r *row) store.Lease {
	return store.Lease{Name: r.text(0), Holder: r.text(1), Epoch: r.int64(2), Left: time.Duration(r.int64(3)) * time.Millisecond}
}

func (r *reader) Lease(name string) (store.Lease, error) {
	l, err := one(r, scanLease, "SELECT "+leaseColumns+" FROM leases WHERE name = $1", name)
	return l, wrap(err, "read lease %s", name)
}

func (t *tx) TakeLease(name, holder string, d time.Duration) (store.Lease, error) {
	l, err := one(&t.reader, scanLease, `INSERT INTO leases (name, holder, epoch, until) VALUES ($1, $2, 1, `+serverNow+` + $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,
			epoch = leases.epoch + CASE WHEN leases.holder = excluded.holder THEN 0 ELSE 1 END
		WHERE leases.holder = excluded.holder OR leases.until <= `+serverNow+`
		RETURNING `+leaseColumns, name, holder, d.Milliseconds())
	if err == store.ErrNotFound {
		err = store.ErrConflict
	}
	return l, wrap(err, "take lease %s", name)
}

// Fence writes the row, so that whoever takes the lease meanwhile has to run
// again, or this transaction has.
func (t *tx) Fence(name string, epoch int64) error {
	held, err := t.write("UPDATE leases SET epoch = epoch WHERE name = $1 AND epoch = $2", name, epoch)
	if err == nil && !held {
		err = store.ErrConflict
	}
	return wrap(err, "hold lease %s", name)
}
