//go:build !js

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/internal/dealer"
)

// TestScale audits archives of as many games as FAIRDICE_SCALE lists, in a
// process of its own, and says how fast it was and how much memory it took: no
// more than 256 MB, whatever the number. "100000" are short games, "2000:120"
// games of 120 rolls under default lengths.
func TestScale(t *testing.T) {
	sizes := strings.Fields(os.Getenv("FAIRDICE_SCALE"))
	if len(sizes) == 0 {
		t.Skip("FAIRDICE_SCALE lists no sizes")
	}
	bin := filepath.Join(t.TempDir(), "verify")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, s := range sizes {
		number, rolls, _ := strings.Cut(s, ":")
		games, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("FAIRDICE_SCALE: %v", err)
		}
		how := dealer.Terms{Variant: "hyper", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: commitment.Lengths{4, 8, 8}, Anchored: true, StopAt: 4}
		if rolls != "" {
			how.Variant, how.Rolls = "short", commitment.DefaultLengths()
			if how.StopAt, err = strconv.Atoi(rolls); err != nil {
				t.Fatalf("FAIRDICE_SCALE: %v", err)
			}
		}
		t.Run(s, func(t *testing.T) {
			dir, key := scaleArchive(t, how, games)
			cmd := exec.Command(bin, "archive", dir, "--key", key, "--html", filepath.Join(t.TempDir(), "report.html"))
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			start := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			done, peak := make(chan struct{}), make(chan int)
			go watch(cmd.Process.Pid, done, peak)
			err := cmd.Wait()
			took := time.Since(start)
			close(done)
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			most := <-peak
			processor := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			t.Logf("%d games in %v: %.0f games/s, %.2f ms of processor a game, %d MB", games, took.Round(time.Millisecond),
				float64(games)/took.Seconds(), 1e3*processor.Seconds()/float64(games), most)
			if most == 0 || most > 256 {
				t.Errorf("%d MB", most)
			}
		})
	}
}

// watch sends the most memory, in megabytes, that a process held while it ran.
// The figure that wait returns is of no use: it begins with the parent's.
func watch(pid int, done <-chan struct{}, peak chan<- int) {
	most := 0
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
			var kilobytes int
			if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
				most = max(most, kilobytes>>10)
			}
		}
		select {
		case <-done:
			peak <- most
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// scaleArchive plays games and writes their archive.
func scaleArchive(t *testing.T, how dealer.Terms, games int) (dir, key string) {
	h := dealer.New(t, 11)
	for range games {
		m := h.Open(how)
		m.Play()
		m.Finish()
	}
	dir = t.TempDir()
	for name, data := range h.Archive() {
		put(t, filepath.Join(dir, name), data)
	}
	return dir, h.Key
}
