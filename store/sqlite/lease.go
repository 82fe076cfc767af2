package sqlite

import (
	"errors"
	"time"

	"fairdice/store"
)

func scanLease(r *row) store.Lease {
	left := time.Until(time.UnixMilli(r.int64(3)))
	return store.Lease{Name: r.text(0), Holder: r.text(1), Epoch: r.int64(2), Left: left}
}

func (r *reader) Lease(name string) (store.Lease, error) {
	l, err := one(r, scanLease, "SELECT name, holder, epoch, until FROM leases WHERE name = ?", name)
	return l, wrap(err, "read lease %s", name)
}

func (t *tx) TakeLease(name, holder string, d time.Duration) (store.Lease, error) {
	l, err := t.Lease(name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return l, err
	}
	if l.Holder != holder {
		if l.Left > 0 {
			return l, wrap(store.ErrConflict, "take lease %s", name)
		}
		l.Epoch++
	}
	_, err = t.conn.exec(`INSERT INTO leases (name, holder, epoch, until) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (name) DO UPDATE SET holder = ?2, epoch = ?3, until = ?4`,
		name, holder, l.Epoch, time.Now().Add(d).UnixMilli())
	return store.Lease{Name: name, Holder: holder, Epoch: l.Epoch, Left: d}, wrap(err, "take lease %s", name)
}

func (t *tx) Fence(name string, epoch int64) error {
	l, err := t.Lease(name)
	if errors.Is(err, store.ErrNotFound) || err == nil && l.Epoch != epoch {
		err = wrap(store.ErrConflict, "hold lease %s", name)
	}
	return err
}

// endLeases ends those of the process that had the database open before: it
// is gone, or this one could not have locked the file.
func endLeases(c *conn) error {
	_, err := c.exec("UPDATE leases SET until = 0 WHERE until > 0")
	return wrap(err, "end leases")
}
