package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/rules"
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
