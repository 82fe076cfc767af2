package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"fairdice/store"
	"fairdice/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.RunMemory(t, func(t *testing.T) (func() store.Memory, bool) {
		path := filepath.Join(t.TempDir(), "witness.db")
		return func() store.Memory {
			m, err := OpenMemory(path)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}, true
	})
}

// TestMemoryFile: one process writes, others may look, and neither database is taken for the other.
func TestMemoryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "witness.db")
	if _, err := ReadMemory(path); err == nil {
		t.Error("a file that does not exist was read")
	}
	m, err := OpenMemory(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := OpenMemory(path); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	w := store.Witnessed{Origin: "log", Size: 1, Note: "note"}
	if ok, err := m.Advance(t.Context(), 0, w); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r, err := ReadMemory(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if last, err := r.Last(t.Context(), "log"); err != nil || last.Size != 1 {
		t.Errorf("beside the witness: %v, %v", last, err)
	}
	if ok, err := r.Advance(t.Context(), 1, store.Witnessed{Origin: "log", Size: 2}); ok || err == nil {
		t.Error("a reader has written")
	}
	service := filepath.Join(t.TempDir(), "fairdice.db")
	s, err := Open(service, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := OpenMemory(service); err == nil {
		t.Error("a service's database was opened as a witness's")
	}
	if _, err := ReadMemory(service); err == nil {
		t.Error("a service's database was read as a witness's")
	}
}
