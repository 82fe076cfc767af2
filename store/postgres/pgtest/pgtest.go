//go:build unix

// Package pgtest runs a private PostgreSQL cluster for tests.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
//	s, err := postgres.Open(t.Context(), pgtest.Database(t), postgres.Options{})
//
// Tests that stop the server, or change its settings, Start one of their own.
//
// A cluster lives in a directory of its own, listens on a socket in it and
// nowhere else, and is gone with its
// test. PostgreSQL refuses to run as root;
// for a root it runs as the user postgres. Where there are no binaries the
// test skips, but fails under CI=true, so that no test run leaves it out unnoticed.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a running cluster.
type Server struct {
	dir       string // the data, and the socket
	bin       string
	owner     *syscall.Credential // nil: this user
	process   *exec.Cmd
	databases atomic.Int64
}

// startPatience is how long initdb and the server may take, on a busy machine.
const startPatience = time.Minute

// Start makes a cluster and starts it. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := newServer(t)
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

var shared struct {
	sync.Mutex
	server *Server
	err    error // that of the first start
}

// Database makes an empty database in a cluster that the tests of a package
// share, and answers its address.
func Database(t testing.TB) string {
	t.Helper()
	shared.Lock()
	if shared.server == nil {
		s := func() *Server { defer shared.Unlock(); return newServer(t) }() // may skip or fail the test
		shared.Lock()
		shared.server, shared.err = s, s.start()
	}
	server, err := shared.server, shared.err
	shared.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	return server.Database(t)
}

// Main runs the tests of a package and removes the cluster they have shared.
func Main(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := shared.server.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
	}
	return code
}

func newServer(t testing.TB) *Server {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("PostgreSQL is needed under CI: %v", err)
		}
		t.Skipf("PostgreSQL is not installed: %v", err)
	}
	// Not t.TempDir: the path of a socket has at most 107 bytes.
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	return &Server{dir: dir, bin: bin}
}

func (s *Server) start() (err error) {
	if os.Geteuid() == 0 {
		if s.owner, err = unprivileged(); err == nil {
			err = os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid))
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	initdb := s.command(ctx, "initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D", s.data())
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("make cluster: %w\n%s", err, out)
	}
	return s.run()
}

func (s *Server) remove() error {
	return errors.Join(s.signal(syscall.SIGQUIT), os.RemoveAll(s.dir))
}

// binaries finds the directory of initdb and postgres: on the path, or where
// Debian puts them, the newest version first.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		// The other binaries are where it is itself, if the path has a link to it.
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(dirs) == 0 {
		return "", errors.New("there is no initdb on the path or in /usr/lib/postgresql/*/bin (Debian: apt-get install postgresql)")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(dirs, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// unprivileged is the user that Debian's package makes.
func unprivileged() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("run PostgreSQL as root's deputy: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("run PostgreSQL as root's deputy: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("run PostgreSQL as root's deputy: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = attributes(s.owner)
	return cmd
}

// Restart starts the server after a Stop or Kill, and waits for it.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) run() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.process = s.command(context.Background(), "postgres", "-D", s.data(), "-k", s.dir, "-h", "",
		"-c", "max_connections=200", "-c", "shared_buffers=64MB", "-c", "deadlock_timeout=200ms")
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		s.process = nil
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	for deadline := time.Now().Add(startPatience); ; time.Sleep(10 * time.Millisecond) {
		err := s.Exec(s.Address("postgres"), "SELECT 1")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, text)
		}
	}
}

// Stop shuts the server down like a service manager, ending its sessions.
func (s *Server) Stop(t testing.TB) { s.end(t, syscall.SIGINT) }

// Kill is a crash of the server: nothing is written that was not yet.
func (s *Server) Kill(t testing.TB) { s.end(t, syscall.SIGQUIT) }

func (s *Server) end(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.signal(sig); err != nil {
		t.Errorf("stop PostgreSQL: %v", err)
	}
}

// signal waits for the end that it brings. How the server exits depends on the signal.
func (s *Server) signal(sig syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Process.Signal(sig); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := s.process.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	s.process = nil
	if err := os.Remove(filepath.Join(s.data(), "postmaster.pid")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Database makes an empty database and answers its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.databases.Add(1))
	if err := s.Exec(s.Address("postgres"), "CREATE DATABASE "+name); err != nil {
		t.Fatalf("create database: %v", err)
	}
	return s.Address(name)
}

// Address is that of a database of the server.
func (s *Server) Address(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database, RawQuery: url.Values{"host": {s.dir}}.Encode()}
	return u.String()
}

// Exec runs SQL in the database at an address.
func (s *Server) Exec(address, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	c, err := pgconn.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, sql).ReadAll()
	return errors.Join(err, c.Close(ctx))
}
