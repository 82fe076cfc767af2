package audit

import (
	"bytes"
	"fmt"

	"fairdice/internal/wire"
)

// MatchFormat is the value of a match file's first member.
const MatchFormat = "fairdice/v1/match"

// MaxMatchFile bounds a match file in bytes.
const MaxMatchFile = MaxBundle

// MatchFile is the file of one match in an archive: what the log does not
// hold. Openings of its games are left out; the published secrets rebuild them.
type MatchFile struct {
	Match string
	Games []BundleGame
}

// ParseMatchFile reads a match file as strictly as [ParseBundle] reads a
// bundle.
func ParseMatchFile(data []byte) (*MatchFile, error) {
	if len(data) > MaxMatchFile {
		return nil, fmt.Errorf("read match file: %d bytes are more than %d", len(data), MaxMatchFile)
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return nil, fmt.Errorf("read match file: the file is empty")
	}
	d := newDecoder(data)
	m := &MatchFile{}
	d.object([]string{"format", "match", "games"}, func(name string) {
		switch name {
		case "format":
			if s := d.text(); d.err == nil && s != MatchFormat {
				d.fail("format %q is not %q", clip(s), MatchFormat)
			}
		case "match":
			m.Match = d.text()
		case "games":
			d.array(func() { m.Games = append(m.Games, d.matchGame()) })
		}
	})
	d.end()
	if d.err != nil {
		return nil, fmt.Errorf("read match file: %w", d.err)
	}
	return m, nil
}

func (d *decoder) matchGame() (g BundleGame) {
	d.object([]string{"game", "record", "receipts"}, func(name string) {
		switch name {
		case "game":
			g.Game = d.small()
		case "record":
			g.Record = d.text()
		case "receipts":
			d.array(func() { g.Receipts = append(g.Receipts, d.text()) })
		}
	})
	return g
}

// Encode writes the match file, members in order. ParseMatchFile reads it back
// to an equal value, openings left out.
func (m *MatchFile) Encode() ([]byte, error) {
	var buf bytes.Buffer
	w := wire.New(&buf)
	w.Object("", func() {
		w.Text("format", MatchFormat)
		w.Text("match", m.Match)
		members(w, "games", m.Games, func(g BundleGame) {
			w.Int("game", g.Game)
			w.Text("record", g.Record)
			texts(w, "receipts", g.Receipts)
		})
	})
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("write match file: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
