package sqlite

import (
	"path/filepath"
	"testing"

	"fairdice/store"
	"fairdice/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() store.Store {
		path := filepath.Join(t.TempDir(), "test.db")
		return func() store.Store {
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
