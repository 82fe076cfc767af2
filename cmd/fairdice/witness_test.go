package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/store/sqlite"
	"fairdice/translog"
	"fairdice/translog/witness"

	"golang.org/x/mod/sumdb/note"
)

// startWitness runs the real program in a process of its own.
func startWitness(t *testing.T, dir, logKey string) (cmd *exec.Cmd, url, key string) {
	t.Helper()
	return startWitnessAt(t, dir, logKey, "127.0.0.1:0")
}

// command is the program as a process.
func command(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), runAs+"=1")
	return c
}

func startWitnessAt(t *testing.T, dir, logKey, listen string) (cmd *exec.Cmd, url, key string) {
	t.Helper()
	cmd = command("witness", "--data", dir, "--listen", listen, "--log", logKey)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() // it is dead already unless the test failed
		cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		f := strings.Fields(lines.Text())
		switch f[0] {
		case "witness":
			key = f[1]
		case "serving":
			go io.Copy(io.Discard, out)
			return cmd, f[1], key
		}
	}
	cmd.Wait()
	t.Fatalf("the witness did not start:\n%s", &stderr)
	return nil, "", ""
}

// grownLog is a log in memory.
type grownLog struct {
	key    note.Signer
	hashes [][32]byte
}

func (g *grownLog) LogHashes(indexes []int64) ([][32]byte, error) {
	out := make([][32]byte, len(indexes))
	for i, n := range indexes {
		out[i] = g.hashes[n]
	}
	return out, nil
}

func (g *grownLog) checkpoint(t *testing.T, size int64) string {
	t.Helper()
	root, err := translog.Root(size, translog.Stored(g))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: g.key.Name(), Size: size, Root: root}, g.key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func newGrownLog(t *testing.T, key note.Signer, size int64, salt string) *grownLog {
	t.Helper()
	g := &grownLog{key: key}
	for i := range size {
		more, err := translog.NewHashes(g, i, []byte(salt+string(rune('a'+i%26))))
		if err != nil {
			t.Fatal(err)
		}
		g.hashes = append(g.hashes, more...)
	}
	return g
}

// The witness is killed at random moments while two histories of a log race
// for its cosignatures, and started again. All that it has ever cosigned is
// one history, whose sizes grow.
func TestWitnessKilled(t *testing.T) {
	skey, vkey, err := commitment.NewKey("log.example/killed", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := commitment.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	histories := []*grownLog{newGrownLog(t, signer, 3000, "one"), newGrownLog(t, signer, 3000, "two")}
	dir := t.TempDir()
	chosen, cosigned, known := -1, 0, int64(0) // known: the largest size of an answer that came back
	key := ""
	for kill := range 6 {
		cmd, url, k := startWitness(t, dir, vkey)
		if key != "" && k != key {
			t.Fatal("a start after a crash made a new key")
		}
		key = k
		c, err := witness.NewClient(url, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(20+mathrand.IntN(120))*time.Millisecond, func() {
			cmd.Process.Kill()
			cancel()
		})
		for n := kill; ctx.Err() == nil; n++ {
			h := histories[n%2]
			var old int64
			var proof []commitment.Hash
			_, err := c.AddCheckpoint(ctx, 0, nil, h.checkpoint(t, 1))
			var stale *translog.StaleError
			if errors.As(err, &stale) {
				if old = stale.Size; old < known {
					t.Fatalf("the witness remembers size %d, it has cosigned %d", old, known)
				}
				if proof, err = translog.Consistency(old, old+1, translog.Stored(h)); err != nil {
					t.Fatal(err)
				}
			}
			_, err = c.AddCheckpoint(ctx, old, proof, h.checkpoint(t, old+1))
			switch {
			case err == nil:
				if chosen >= 0 && n%2 != chosen {
					t.Fatalf("both histories were cosigned, the other one at size %d", old+1)
				}
				chosen, known = n%2, old+1
				cosigned++
			case errors.Is(err, translog.ErrInconsistent), errors.As(err, &stale):
			case ctx.Err() == nil && cmd.ProcessState == nil:
				// the kill may come before the cancel
				time.Sleep(10 * time.Millisecond)
			}
		}
		cmd.Wait()
	}
	if cosigned < 6 {
		t.Errorf("only %d checkpoints were cosigned", cosigned)
	}
	m, err := sqlite.ReadMemory(filepath.Join(dir, "witness.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	logs, err := m.Watched(t.Context())
	if err != nil || len(logs) != 1 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	if n := logs[0].Last.Size; n < known {
		t.Errorf("the last size remembered is %d, %d was cosigned", n, known)
	}
	out, err := command("witness", "status", "--data", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "SPLIT VIEW") || !strings.Contains(string(out), key) {
		t.Errorf("the status does not prove the split view: %v\n%s", err, out)
	}
}

// What a witness must not do: go on without its memory or its key, or stop
// otherwise than in order.
func TestWitnessDirectory(t *testing.T) {
	_, vkey, err := commitment.NewKey("log.example/1", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd, _, _ := startWitness(t, dir, vkey)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		out, err := command(append([]string{"witness"}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	refused("at least one log", "--data", dir)
	refused("for ever", "--data", dir, "--log", vkey, "--name", "other")
	refused("two keys", "--data", dir, "--log", vkey, "--log", vkey)
	db := filepath.Join(dir, "witness.db")
	if err := os.Rename(db, db+".away"); err != nil {
		t.Fatal(err)
	}
	refused("must not be used again", "--data", dir, "--log", vkey)
	if err := os.Rename(db+".away", db); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "witness.key")); err != nil {
		t.Fatal(err)
	}
	refused("put the key back", "--data", dir, "--log", vkey)
}
