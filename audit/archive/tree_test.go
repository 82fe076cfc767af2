package archive

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"fairdice/translog"
)

// TestTree rebuilds logs leaf by leaf and compares roots at every size, and
// every tile, with package tlog.
func TestTree(t *testing.T) {
	const size = 70_000 // two levels of full tiles
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			out[i] = stored[x]
		}
		return out, nil
	})
	var tr tree
	tiles := map[string][]tlog.Hash{}
	keep := func(level int, number int64, tile []tlog.Hash) {
		tiles[TileName(level, number, len(tile))] = append([]tlog.Hash{}, tile...)
	}
	for i := range int64(size) {
		leaf := tlog.RecordHash(fmt.Append(nil, i))
		more, err := tlog.StoredHashesForRecordHash(i, leaf, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		if i < 600 || i > size-5 || i%997 == 0 {
			want, err := translog.Root(i, reader)
			if err != nil {
				t.Fatal(err)
			}
			if got := tr.root(); got != want {
				t.Fatalf("root of size %d: %s, want %s", i, got, want)
			}
		}
		tr.add(leaf, keep)
	}
	for level, tile := range tr.tiles {
		if len(tile) > 0 {
			keep(level, (tr.size>>(8*level))/tileWidth, tile)
		}
	}
	all := tlog.NewTiles(8, 0, size)
	for _, want := range all {
		data, err := tlog.ReadTileData(want, reader)
		if err != nil {
			t.Fatal(err)
		}
		got := tiles[TileName(want.L, want.N, want.W)]
		if len(got) != want.W {
			t.Fatalf("tile %s has %d hashes", want.Path(), len(got))
		}
		for i, h := range got {
			if [32]byte(data[32*i:]) != h {
				t.Fatalf("tile %s, hash %d", want.Path(), i)
			}
		}
	}
	if len(tiles) != len(all) {
		t.Errorf("%d tiles, want %d", len(tiles), len(all))
	}
}

// TestTileName compares names with those of package tlog, which has the height
// in front.
func TestTileName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := tlog.Tile{H: 8, L: rapid.IntRange(0, 6).Draw(t, "level"), N: rapid.Int64Range(0, 1<<40).Draw(t, "number"), W: rapid.IntRange(1, 256).Draw(t, "width")}
		if got, want := "tile/8/"+TileName(tile.L, tile.N, tile.W)[len("tile/"):], tile.Path(); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("\x00\x02ab\x00\x00\x00\x01c"), 3)
	f.Add([]byte("\x00"), 1)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		width = min(max(width, 0), tileWidth)
		texts, err := split(data, width)
		total := 0
		for _, text := range texts {
			total += 2 + len(text)
		}
		if total > len(data) || err == nil && len(texts) != width {
			t.Fatalf("%d texts of %d bytes from %d bytes, %v", len(texts), total, len(data), err)
		}
	})
}

// TestInOrder breaks off at every place and loses nothing before it.
func TestInOrder(t *testing.T) {
	broken := errors.New("broken")
	for stop := range int64(40) {
		next := int64(0)
		err := inOrder(context.Background(), 30, 3, func(n int64) int64 { return n }, func(n int64) error {
			if n != next {
				t.Fatalf("%d where %d is due", n, next)
			}
			if next++; n == stop {
				return broken
			}
			return nil
		})
		if want := min(stop+1, 30); next != want || (err != nil) != (stop < 30) {
			t.Fatalf("stopped at %d: %d taken, %v", stop, next, err)
		}
	}
}
