package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

func startProcess(t *testing.T, dir, listen string, more ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], append([]string{"serve", "--data", dir, "--listen", listen, "--sealed", "64", "--link-rate", "1000000", "--read-rate", "1000000"}, more...)...), errors: new(bytes.Buffer)}
	p.cmd.Env = append(os.Environ(), runAs+"=1")
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

// freeAddress is one that nobody listens on; the service comes back to it.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ledger is what the service has acknowledged: every effect whose answer has
// come back whole.
type ledger struct {
	base http.RoundTripper
	mu   sync.Mutex
	rows []row
}

type row struct {
	path, request, answer string
}

// RoundTrip notes what a PUT was answered, if it was.
func (l *ledger) RoundTrip(r *http.Request) (*http.Response, error) {
	var request []byte
	if r.Body != nil {
		var err error
		if request, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(request))
	}
	resp, err := l.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	if r.Method == http.MethodPut && resp.StatusCode == http.StatusOK {
		l.mu.Lock()
		l.rows = append(l.rows, row{r.URL.RequestURI(), string(request), string(answer)})
		l.mu.Unlock()
	}
	return resp, nil
}

func (l *ledger) take() []row {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := l.rows
	l.rows = nil
	return rows
}

// repeat sends an acknowledged request again and compares the answer.
func (p *process) repeat(t *testing.T, key string, r row) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.url+r.path, strings.NewReader(r.request))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if r.request != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if string(answer) != r.answer {
		t.Errorf("%s %s was answered\n%s\nand after the crash\n%s", r.path, r.request, r.answer, answer)
	}
}

// A SIGTERM lets requests in flight be answered; what was answered is there
// after the next start, and the exit is clean.
func TestTerminated(t *testing.T) {
	dir, listen := t.TempDir(), freeAddress(t)
	p := startProcess(t, dir, listen)
	key := p.apiKey
	l := &ledger{base: &http.Transport{MaxIdleConnsPerHost: 8}}
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
	rows := l.take()
	p = startProcess(t, dir, listen)
	for _, r := range rows[max(0, len(rows)-50):] {
		p.repeat(t, key, r)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("after the second SIGTERM: %v", err)
	}
}

// A client that has sent half a request and fell silent does not hold up a
// stop, and is no reason to fail; so it is with each signal that asks for one.
func TestStopsWithHalfRequest(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := startProcess(t, t.TempDir(), freeAddress(t))
			c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			io.WriteString(c, "PUT /v1/matches/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
			time.Sleep(100 * time.Millisecond) // for the request to get there
			begun := time.Now()
			if err := p.end(signal); err != nil {
				t.Errorf("%v\n%s", err, p.errors)
			}
			if took := time.Since(begun); took > Patience/2 {
				t.Errorf("the stop took %s", took)
			}
			answer, err := io.ReadAll(c)
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
				t.Errorf("the client was told %q, %v", answer, err)
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
