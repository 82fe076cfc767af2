package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairdice/client"
)

// process is the real program in a process of its own.
type process struct {
	cmd    *exec.Cmd
	url    string
	logKey string
	apiKey string // "" unless this start made it
	errors *bytes.Buffer
}

// processSealed sequences of each mode are kept sealed ahead.
const processSealed = 64

func serveCommand(dir, listen string, more ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{"serve", "--data", dir, "--listen", listen, "--sealed", strconv.Itoa(processSealed), "--link-rate", "1000000", "--read-rate", "1000000"}, more...)...)
	c.Env = append(os.Environ(), runAs+"=1")
	return c
}

func startProcess(t *testing.T, dir, listen string, more ...string) *process {
	t.Helper()
	p := &process{cmd: serveCommand(dir, listen, more...), errors: new(bytes.Buffer)}
	p.cmd.Stderr = p.errors
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill() // it is dead already unless the test failed
		p.cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch f := strings.Fields(lines.Text()); {
		case len(f) < 2:
		case f[0] == "serving":
			p.url = f[1]
		case f[0] == "log":
			p.logKey = f[2]
		case f[0] == "api":
			p.apiKey = f[2]
		case f[0] == "next":
			go io.Copy(io.Discard, out)
			return p
		}
	}
	p.cmd.Wait()
	t.Fatalf("the service did not start:\n%s", p.errors)
	return nil
}

// end sends a signal and waits.
func (p *process) end(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// freeAddress is one that nobody listens on; the service comes back to it. It
// is below the ports that systems give to outgoing connections, one of which
// could take it while the service is away.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// A SIGTERM lets requests in flight be answered; what was answered is there
// after the next start, and the exit is clean.
func TestTerminated(t *testing.T) {
	dir, listen := t.TempDir(), freeAddress(t)
	p := startProcess(t, dir, listen)
	key := p.apiKey
	l := newLedger()
	c, err := client.New(p.url, client.WithKey(key), client.WithAttempts(1), client.WithHTTP(&http.Client{Transport: l}))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	cut := make(chan error, 8)
	for range 8 {
		wg.Go(func() {
			for {
				if _, err := c.OpenMatch(t.Context(), benchID(t), benchTerms, 0); err != nil {
					cut <- err
					return
				}
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Fatalf("after SIGTERM: %v\n%s", err, p.errors)
	}
	wg.Wait()
	for range 8 {
		// A request that found the door closed is refused a connection, or
		// its idle connection was closed under it; none is answered halfway.
		if err := <-cut; !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) &&
			!strings.HasSuffix(err.Error(), "http: server closed idle connection") {
			t.Errorf("a request during the stop: %v", err)
		}
	}
	rows, err := l.take()
	if err != nil {
		t.Error(err)
	}
	p = startProcess(t, dir, listen)
	for _, r := range rows[max(0, len(rows)-50):] {
		if err := l.again(t.Context(), p.url, key, r); err != nil {
			t.Error(err)
		}
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("after the second SIGTERM: %v", err)
	}
}

// A client that has sent half a request and fell silent does not hold up a
// stop, and is no reason to fail; so it is with each signal that asks for one,
// and whether the rest of the request would have been read or not.
func TestStopsWithHalfRequest(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := startProcess(t, t.TempDir(), freeAddress(t))
			half := func(key string) net.Conn {
				c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				io.WriteString(c, "PUT /v1/matches/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+key+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
				return c
			}
			member, stranger := half(p.apiKey), half("wrong")
			time.Sleep(100 * time.Millisecond) // for the requests to get there
			begun := time.Now()
			if err := p.end(signal); err != nil {
				t.Errorf("%v\n%s", err, p.errors)
			}
			if took := time.Since(begun); took > Patience/2 {
				t.Errorf("the stop took %s", took)
			}
			for want, c := range map[string]net.Conn{"408": member, "401": stranger} {
				answer, err := io.ReadAll(c)
				if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+want+" ") {
					t.Errorf("the client was told %q, %v; want %s", answer, err, want)
				}
			}
		})
	}
}

// A demo that is hung up on leaves none of its data behind.
func TestDemoHungUp(t *testing.T) {
	temp := t.TempDir()
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(os.Args[0], "demo", "--out", out, "--options", "raise=none stake=win series=points:25 crawford=off", "--games", "49")
	cmd.Env = append(os.Environ(), runAs+"=1", "TMPDIR="+temp)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil { // a game has been played
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 1 {
		t.Errorf("while it runs: %v, %v", left, err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a demo that was broken off ended well")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
