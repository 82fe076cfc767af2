//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Standby makes a streaming replica of the server and starts it. It ends with
// the test.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	r := s.copied(t, "--write-recovery-conf")
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	return r
}

// BaseBackup is a base backup of the server while it is in use, with the
// write-ahead log that it needs: a server that was never started.
func (s *Server) BaseBackup(t testing.TB) *Server {
	t.Helper()
	return s.copied(t)
}

// Restored starts a server on a copy of a base backup. It ends with the test.
func (s *Server) Restored(t testing.TB) *Server {
	t.Helper()
	r := s.beside(t)
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", s.data(), r.data()).CombinedOutput(); err != nil {
		t.Fatalf("copy base backup: %v\n%s", err, out)
	}
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	return r
}

// copied has the data of the running server, as pg_basebackup takes it.
func (s *Server) copied(t testing.TB, more ...string) *Server {
	t.Helper()
	r := s.beside(t)
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	backup := r.command(ctx, "pg_basebackup", append(more, "--no-sync", "--checkpoint=fast",
		"-d", fmt.Sprintf("host=%s user=postgres application_name=%s", s.dir, standbyName), "-D", r.data())...)
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("copy cluster: %v\n%s", err, out)
	}
	return r
}

// beside is a server of the same owner that has no data yet.
func (s *Server) beside(t testing.TB) *Server {
	t.Helper()
	r := newServer(t)
	r.owner = s.owner
	t.Cleanup(func() {
		if err := r.remove(); err != nil {
			t.Error(err)
		}
	})
	if r.owner != nil {
		if err := os.Chown(r.dir, int(r.owner.Uid), int(r.owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// standbyName is what a replica calls itself to the server it follows.
const standbyName = "standby"

// Synchronous has every commit wait for the standby, as the default makes it wait for nobody.
func (s *Server) Synchronous(t testing.TB) {
	t.Helper()
	s.Set(t, "synchronous_standby_names", standbyName)
	s.await(t, "(SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync') = 1")
}

// Set changes a setting of the running server.
func (s *Server) Set(t testing.TB, name, value string) {
	t.Helper()
	for _, sql := range []string{fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value), "SELECT pg_reload_conf()"} {
		if err := s.Exec(s.Address("postgres"), sql); err != nil {
			t.Fatalf("set %s: %v", name, err)
		}
	}
	s.await(t, fmt.Sprintf("current_setting('%s') = '%s'", name, value))
}

// await waits until a condition holds for a new session.
func (s *Server) await(t testing.TB, condition string) {
	t.Helper()
	for deadline := time.Now().Add(startPatience); ; time.Sleep(10 * time.Millisecond) {
		err := s.Exec(s.Address("postgres"), "SELECT 1 / ("+condition+")::int")
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("wait for %s: %v", condition, err)
		}
	}
}

// CaughtUp waits until its standby has all that the server has.
func (s *Server) CaughtUp(t testing.TB) {
	t.Helper()
	s.await(t, "(SELECT count(*) FROM pg_stat_replication WHERE flush_lsn = pg_current_wal_flush_lsn()) = 1")
}

// Promote makes a standby a server of its own.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if err := s.Exec(s.Address("postgres"), "SELECT pg_promote()"); err != nil {
		t.Fatalf("promote standby: %v", err)
	}
}

// WithStandby is the address of a database on whichever of both servers takes writes.
func (s *Server) WithStandby(t testing.TB, address string, r *Server) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = url.Values{"host": {strings.Join([]string{s.dir, r.dir}, ",")}, "target_session_attrs": {"read-write"}}.Encode()
	return u.String()
}
