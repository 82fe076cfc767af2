package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"fairdice/audit"
	"fairdice/translog"
)

// tree rebuilds a log's Merkle tree leaf by leaf. It keeps the complete
// subtrees on the right edge, one for every bit of the size, and per level of
// tiles the one that is being filled.
type tree struct {
	size  int64
	edge  []tlog.Hash // from the largest subtree to the smallest
	tiles [][]tlog.Hash
}

// add appends a leaf. full is called for every tile that it completes.
func (t *tree) add(leaf tlog.Hash, full func(level int, number int64, tile []tlog.Hash)) {
	t.size++
	h := leaf
	for n := t.size; n&1 == 0; n >>= 1 {
		last := len(t.edge) - 1
		h = tlog.NodeHash(t.edge[last], h)
		t.edge = t.edge[:last]
	}
	t.edge = append(t.edge, h)
	h = leaf
	for level, number := 0, t.size; ; level++ {
		if level == len(t.tiles) {
			t.tiles = append(t.tiles, make([]tlog.Hash, 0, tileWidth))
		}
		t.tiles[level] = append(t.tiles[level], h)
		number = (number - 1) / tileWidth
		if len(t.tiles[level]) < tileWidth {
			return
		}
		full(level, number, t.tiles[level])
		h = tileRoot(t.tiles[level])
		t.tiles[level] = t.tiles[level][:0]
		number++
	}
}

// root returns the root of what has been added.
func (t *tree) root() translog.Hash {
	if t.size == 0 {
		return translog.EmptyRoot
	}
	last := len(t.edge) - 1
	h := t.edge[last]
	for i := last - 1; i >= 0; i-- {
		h = tlog.NodeHash(t.edge[i], h)
	}
	return translog.Hash(h)
}

// tileRoot is the root of a full tile.
func tileRoot(tile []tlog.Hash) tlog.Hash {
	level := slices.Clone(tile)
	for len(level) > 1 {
		for i := 0; i+1 < len(level); i += 2 {
			level[i/2] = tlog.NodeHash(level[i], level[i+1])
		}
		level = level[:len(level)/2]
	}
	return level[0]
}

// readTile reads a tile or bundle. A log may take partial ones away once the
// full one is there, whose beginning says the same.
func (a *auditor) readTile(ctx context.Context, level int, number int64, width int, limit int64) ([]byte, error) {
	data, err := a.files.Read(ctx, TileName(level, number, width), limit)
	if errors.Is(err, ErrMissing) && width < tileWidth {
		if full, err := a.files.Read(ctx, TileName(level, number, tileWidth), limit); err == nil {
			return full, nil
		}
	}
	return data, err
}

// checkTile reads a stored tile and compares it with the rebuilt one.
func (a *auditor) checkTile(ctx context.Context, level int, number int64, tile []tlog.Hash) error {
	data, err := a.readTile(ctx, level, number, len(tile), maxTile)
	return a.compareTile(ctx, level, number, tile, data, err)
}

func (a *auditor) compareTile(ctx context.Context, level int, number int64, tile []tlog.Hash, data []byte, err error) error {
	want := make([]byte, 0, len(tile)*tlog.HashSize)
	for _, h := range tile {
		want = append(want, h[:]...)
	}
	name := TileName(level, number, len(tile))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		a.fault(audit.LogInclusion, audit.Dropped, "%v: %s", err, name)
	case len(data) < len(want):
		a.fault(audit.LogInclusion, audit.Altered, "the tile has %d bytes, not %d: %s", len(data), len(want), name)
	case !bytes.Equal(data[:len(want)], want):
		for i := range tile {
			if [tlog.HashSize]byte(data[i*tlog.HashSize:]) != tile[i] {
				a.fault(audit.LogInclusion, audit.Altered, "hash %d of the tile is not that of the statements: %s", i, name)
				break
			}
		}
	}
	a.gathered.Tiles++
	return nil
}

// split reads a bundle of entries: each after its length in two bytes.
func split(data []byte, width int) ([][]byte, error) {
	texts := make([][]byte, 0, width)
	for i := range width {
		if len(data) < 2 {
			return texts, fmt.Errorf("it ends before entry %d", i)
		}
		n := int(binary.BigEndian.Uint16(data))
		if data = data[2:]; len(data) < n {
			return texts, fmt.Errorf("it ends inside of entry %d", i)
		}
		texts = append(texts, data[:n:n])
		data = data[n:]
	}
	return texts, nil
}
