package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/internal/beacon"
	"fairdice/rules"
	"fairdice/translog"
)

// A demo of every variant leaves a bundle that is verified at its level under
// the log key it wrote, and under each player's anchor.
func TestDemos(t *testing.T) {
	for i, v := range rules.Variants() {
		mode := []string{"random", "balanced"}[i%2]
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			d := &demo{variant: v.ID, mode: mode, level: "L2", profile: "refereed", options: demoOptions, games: 1, seed: 1, seeded: true, out: t.TempDir()}
			checkDemo(t, d)
		})
	}
	for _, m := range commitment.Modes() {
		t.Run("mode-"+m.String(), func(t *testing.T) {
			t.Parallel()
			level := "L2"
			if m == commitment.Live {
				level = "L3"
			}
			checkDemo(t, &demo{variant: "hyper", mode: m.String(), level: level, profile: "refereed", options: demoOptions, games: 1, out: t.TempDir()})
		})
	}
	for _, level := range []string{"L0", "L2"} {
		t.Run("dice-only-"+level, func(t *testing.T) {
			t.Parallel()
			checkDemo(t, &demo{variant: "tavla", mode: "equal", level: level, profile: "dice-only", options: demoOptions, games: 1, out: t.TempDir()})
		})
	}
	t.Run("series", func(t *testing.T) {
		t.Parallel()
		d := &demo{variant: "short", mode: "random", level: "L0", profile: "refereed", options: "raise=cube stake=win series=points:3 crawford=on", games: 3, out: t.TempDir()}
		checkDemo(t, d)
	})
}

// At level L1 the demo waits for its round and no longer; its clock here
// stands until the demo says that it waits.
func TestDemoL1(t *testing.T) {
	const round = 12040883 // recorded
	rounds := recordedRounds(t)
	var passed atomic.Bool
	d := &demo{variant: "hyper", mode: "balanced", level: "L1", profile: "refereed", options: demoOptions, games: 1, out: t.TempDir(), probe: 42,
		now: func() time.Time {
			if passed.Load() {
				return beacon.Time(round).Add(time.Second)
			}
			return beacon.Time(round).Add(-31 * time.Second)
		}}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := strconv.ParseUint(path.Base(r.URL.Path), 10, 64)
		if sig := rounds[asked]; err == nil && sig != "" && !d.now().Before(beacon.Time(asked)) {
			fmt.Fprintf(w, `{"round":%d,"signature":%q}`, asked, sig)
			return
		}
		http.NotFound(w, r)
	}))
	defer relay.Close()
	d.relays = relay.URL
	out := &spoken{}
	err := d.run(t.Context(), io.MultiWriter(out, writerFunc(func(p []byte) {
		if bytes.Contains(p, []byte("waits for round 12040883 of the beacon, public at 2024-10-14T17:13:33Z")) {
			// Half a minute passes: time for the witness, who is asked meanwhile.
			time.AfterFunc(2*time.Second, func() { passed.Store(true) })
		}
	})))
	must(t, err)
	if !bytes.Contains(out.copy(), []byte("--policy "+filepath.Join(d.out, "policy"))) {
		t.Errorf("the demo does not say how to verify:\n%s", out.copy())
	}
	text, err := os.ReadFile(filepath.Join(d.out, "policy"))
	must(t, err)
	policy, err := translog.ParsePolicy(string(text))
	must(t, err)
	bundle, err := os.ReadFile(filepath.Join(d.out, "bundle.json"))
	must(t, err)
	if r := audit.Verify(bundle, audit.Trust{Policy: policy}); r.Verdict != audit.Verified || r.Level != "L1" || r.LevelNote != "" {
		t.Errorf("%s at %s, %s: %v", r.Verdict, r.Level, r.LevelNote, r.Failed())
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// recordedRounds are signatures that the beacon has made.
func recordedRounds(t *testing.T) map[uint64]string {
	t.Helper()
	data, err := os.ReadFile("../../internal/beacon/testdata/drand.json")
	must(t, err)
	var file struct {
		Rounds []struct {
			Round     uint64
			Signature string
		}
	}
	must(t, json.Unmarshal(data, &file))
	rounds := map[uint64]string{}
	for _, r := range file.Rounds {
		rounds[r.Round] = r.Signature
	}
	return rounds
}

// secondVerifier runs the verifier in plain JavaScript, which shares nothing
// with this one, on the bundle of a demo.
func secondVerifier(t *testing.T, d *demo, key string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Errorf("node is needed: %v", err)
		}
		return
	}
	out, err := exec.CommandContext(t.Context(), node, "../../docs/examples/verify.mjs", filepath.Join(d.out, "bundle.json"), "--key", key).CombinedOutput()
	if err != nil {
		t.Errorf("the second verifier: %v\n%s", err, out)
	}
}

func checkDemo(t *testing.T, d *demo) {
	t.Helper()
	if err := d.run(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(d.out, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(data))
	}
	trust := audit.Trust{Key: read("log.key")}
	secondVerifier(t, d, trust.Key)
	anchors := []*commitment.Hash{nil}
	if d.anchored() {
		anchors = nil
		for _, name := range []string{"anchor-a", "anchor-b"} {
			hash, err := commitment.ParseHash(read(name))
			if err != nil {
				t.Fatal(err)
			}
			anchors = append(anchors, &hash)
		}
	}
	for _, anchor := range anchors {
		trust.MyAnchor = anchor
		report := audit.Verify([]byte(read("bundle.json")), trust)
		if report.Verdict != audit.Verified || report.Level != d.level {
			t.Errorf("the bundle is %s at %s, want verified at %s", report.Verdict, report.Level, d.level)
			for _, c := range report.Checks {
				if c.Status != audit.Pass {
					t.Logf("%+v", c)
				}
			}
		}
		if len(report.Games) == 0 || !strings.Contains(read("game-1.record"), "variant "+d.variant+"\n") {
			t.Errorf("%d games, record:\n%s", len(report.Games), read("game-1.record"))
		}
	}
}
