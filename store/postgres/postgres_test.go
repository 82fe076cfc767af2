//go:build unix

package postgres

import (
	"testing"

	"fairdice/store"
	"fairdice/store/postgres/pgtest"
	"fairdice/store/storetest"
)

func TestStore(t *testing.T) {
	server := pgtest.Start(t)
	storetest.Run(t, func(t *testing.T) func() store.Store {
		address := server.Database(t)
		return func() store.Store {
			s, err := Open(t.Context(), address, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
