package server

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// path prints a tile, written down from the specification.
func path(t tile) string {
	level := fmt.Sprint(t.level)
	if t.entries {
		level = "entries"
	}
	number := fmt.Sprintf("%03d", t.number%1000)
	for n := t.number / 1000; n > 0; n /= 1000 {
		number = fmt.Sprintf("x%03d/%s", n%1000, number)
	}
	if t.width < 256 {
		number += fmt.Sprintf(".p/%d", t.width)
	}
	return "/tile/" + level + "/" + number
}

func TestParseTile(t *testing.T) {
	if got := path(tile{number: 1234067, width: 256}); got != "/tile/0/x001/x234/067" {
		t.Errorf("path of the example in the specification is %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := tile{
			entries: rapid.Bool().Draw(t, "entries"),
			level:   rapid.IntRange(0, 63).Draw(t, "level"),
			number:  rapid.Int64Range(0, math.MaxInt64).Draw(t, "number"),
			width:   rapid.IntRange(1, 256).Draw(t, "width"),
		}
		if want.entries {
			want.level = 0
		}
		if got, ok := parseTile(path(want)); !ok || got != want {
			t.Fatalf("parse %s: got %+v, %v; want %+v", path(want), got, ok, want)
		}
	})
}

// TestWithin counts, for every size, the hashes each level has.
func TestWithin(t *testing.T) {
	for _, size := range []int64{0, 1, 255, 256, 257, 511, 512, 65535, 65536, 65537, 70_000, math.MaxInt64} {
		hashes := size
		for level := range 64 {
			for _, number := range []int64{0, 1, 2, 255, 256, 273, math.MaxInt64 >> 8, math.MaxInt64} {
				for _, width := range []int{1, 17, 112, 255, 256} {
					got := tile{level: level, number: number, width: width}.within(size)
					want := number <= math.MaxInt64>>8 && number*256 <= math.MaxInt64-int64(width) && number*256+int64(width) <= hashes
					if got != want {
						t.Fatalf("tile %d, width %d, of level %d in %d entries: %v, want %v", number, width, level, size, got, want)
					}
				}
			}
			hashes /= 256
		}
	}
}

func FuzzParseTile(f *testing.F) {
	for _, s := range []string{"/tile/0/000", "/tile/63/x001/000.p/255", "/tile/entries/x999/999", "/tile/data/000", "/tile/0/x000/000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, ok := parseTile(s); ok && path(v) != s {
			t.Fatalf("%q is a second name of %s", s, path(v))
		}
	})
}
