package pgtest

import (
	"bytes"
	"testing"
)

// Dump is what pg_dump writes of a database: one moment of it, while it is in use.
func (s *Server) Dump(t testing.TB, address string) []byte {
	t.Helper()
	return s.pipe(t, nil, "pg_dump", "--format=custom", "--dbname", address)
}

// Load fills an empty database with a dump.
func (s *Server) Load(t testing.TB, address string, dump []byte) {
	t.Helper()
	s.pipe(t, dump, "pg_restore", "--exit-on-error", "--single-transaction", "--dbname", address)
}

func (s *Server) pipe(t testing.TB, in []byte, name string, args ...string) []byte {
	t.Helper()
	var said bytes.Buffer
	cmd := s.command(t.Context(), name, args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, &said)
	}
	return out
}
