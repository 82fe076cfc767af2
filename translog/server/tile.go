package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"fairdice/store"
	"fairdice/translog"

	"golang.org/x/mod/sumdb/tlog"
)

// height of a tile: 2^8 hashes, the only one of C2SP tlog-tiles.
const height = 8

// tile names a tile or, over the same leaves as a tile of level 0, a bundle of
// entries.
type tile struct {
	entries bool
	level   int
	number  int64
	width   int // 1 to 256; below 256 it is partial
}

// parseTile reads "/tile/<L>/<N>[.p/<W>]" or "/tile/entries/<N>[.p/<W>]" in
// their only spelling; L is 0 to 63, N three digits a path element, all but
// the last after an x, without needless ones.
func parseTile(path string) (tile, bool) {
	rest, ok := strings.CutPrefix(path, "/tile/")
	if !ok {
		return tile{}, false
	}
	level, number, _ := strings.Cut(rest, "/")
	switch level {
	case "entries":
		level = "data"
	case "data":
		return tile{}, false
	}
	// The Go checksum database has the same paths with the height in front
	// and another word for the bundles; its parser accepts only what it prints.
	p, err := tlog.ParseTilePath(fmt.Sprintf("tile/%d/%s/%s", height, level, number))
	if err != nil || p.L > 63 {
		return tile{}, false
	}
	return tile{entries: p.L < 0, level: max(p.L, 0), number: p.N, width: p.W}, true
}

// within says whether the log of size entries has the whole tile.
func (t tile) within(size int64) bool {
	hashes := size
	for range t.level {
		hashes >>= height // of full subtrees only
	}
	full, rest := hashes>>height, int(hashes%(1<<height))
	return t.number < full || t.number == full && t.width <= rest
}

func (t tile) readHashes(r store.Reader) ([]byte, error) {
	data, err := tlog.ReadTileData(tlog.Tile{H: height, L: t.level, N: t.number, W: t.width}, translog.Stored(r))
	if err != nil {
		return nil, unexpected(fmt.Errorf("read tile %d of level %d: %w", t.number, t.level, err))
	}
	return data, nil
}

func (t tile) readEntries(r store.Reader) ([]byte, error) {
	first := t.number << height
	entries, err := r.Entries(first, first+int64(t.width))
	if err != nil {
		return nil, unexpected(fmt.Errorf("read bundle %d: %w", t.number, err))
	}
	if len(entries) != t.width {
		return nil, fmt.Errorf("read bundle %d: %d of %d signed entries are stored", t.number, len(entries), t.width)
	}
	var data []byte
	for i, e := range entries {
		if e.Index != first+int64(i) || len(e.Text) > math.MaxUint16 {
			return nil, fmt.Errorf("read bundle %d: at entry %d is number %d of %d bytes", t.number, first+int64(i), e.Index, len(e.Text))
		}
		data = binary.BigEndian.AppendUint16(data, uint16(len(e.Text)))
		data = append(data, e.Text...)
	}
	return data, nil
}

// unexpected hides a "not found": below the signed size nothing may be missing,
// and a damaged database must not look like a path that never was.
func unexpected(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errors.New(err.Error())
	}
	return err
}
