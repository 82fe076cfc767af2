package export

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"fairdice/store"
	"fairdice/translog"

	"golang.org/x/mod/sumdb/tlog"
)

const height = 8 // of tiles: 2^8 hashes (C2SP tlog-tiles)

// tileName is the name of a tile, or of a bundle of entries at level -1.
func tileName(level int, number int64, width int) string {
	// The Go checksum database has the same paths with the height in front and
	// another word for the bundles.
	p := tlog.Tile{H: height, L: level, N: number, W: width}.Path()
	p = strings.Replace(p, fmt.Sprintf("tile/%d/", height), "tile/", 1)
	return strings.Replace(p, "tile/data/", "tile/entries/", 1)
}

// levels of a log with that many statements which have at least one hash.
func levels(size int64) (n int) {
	for ; size > 0; size >>= height {
		n++
	}
	return n
}

// fullTiles writes the tiles that became full with the statements from first to end.
func (x *exporter) fullTiles(r store.Reader, first, end int64) error {
	for level := range levels(end) {
		shift := uint(height * (level + 1))
		for n := first >> shift; n < end>>shift; n++ {
			if err := x.tile(r, level, n, bundle); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exporter) tile(r store.Reader, level int, number int64, width int) error {
	data, err := tlog.ReadTileData(tlog.Tile{H: height, L: level, N: number, W: width}, translog.Stored(r))
	if err != nil {
		return fmt.Errorf("read tile %d of level %d: %w", number, level, err)
	}
	return x.out.put(tileName(level, number, width), data)
}

// eachPartial calls visit for the last tile of each level that is not full.
func eachPartial(size int64, visit func(level int, number int64, width int)) {
	for level := range levels(size) {
		hashes := size >> uint(height*level)
		if width := int(hashes % bundle); width > 0 {
			visit(level, hashes/bundle, width)
		}
	}
}

// partials are the names of the partial tiles and the partial bundle of a log of that size.
func partials(size int64) (names []string) {
	eachPartial(size, func(level int, number int64, width int) {
		names = append(names, tileName(level, number, width))
		if level == 0 {
			names = append(names, tileName(-1, number, width))
		}
	})
	return names
}

// partialTiles writes the ends of the levels; the partial bundle is written
// with its chunk, or, if nothing is new, was there.
func (x *exporter) partialTiles(ctx context.Context) error {
	return x.Store.View(ctx, func(r store.Reader) (err error) {
		eachPartial(x.target.Size, func(level int, number int64, width int) {
			if err == nil {
				err = x.tile(r, level, number, width)
			}
			if err == nil && level == 0 {
				var texts []store.Entry
				if texts, err = r.Entries(number*bundle, number*bundle+int64(width)); err == nil {
					err = x.bundle(number, texts, width)
				}
			}
		})
		return err
	})
}

// bundle writes a bundle of entries: each text after its length in two bytes.
func (x *exporter) bundle(number int64, entries []store.Entry, width int) error {
	if len(entries) != width {
		return fmt.Errorf("read bundle %d: %d of %d signed statements are stored", number, len(entries), width)
	}
	var data []byte
	for i, e := range entries {
		if e.Index != number*bundle+int64(i) || len(e.Text) > math.MaxUint16 {
			return fmt.Errorf("read bundle %d: statement %d is stored as %d with %d bytes", number, number*bundle+int64(i), e.Index, len(e.Text))
		}
		data = binary.BigEndian.AppendUint16(data, uint16(len(e.Text)))
		data = append(data, e.Text...)
	}
	return x.out.put(tileName(-1, number, width), data)
}
