package audit

import (
	"bytes"
	"fmt"

	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/internal/wire"
)

// BundleFormat is the value of a bundle's first member.
const BundleFormat = "fairdice/v1/bundle"

// Limits of a bundle. A Merkle path of a tree below 2^64 leaves has at most 64
// hashes; a consistency proof at most 65.
const (
	MaxBundle = 64 << 20
	maxPath   = 65
)

// Bundle is the file of PROTOCOL.md §8 with its texts still unread: statements,
// notes and records are the exact bytes that were hashed or signed. Archives
// is nil when the member is absent and empty when it is an empty list; the two
// differ (C12).
type Bundle struct {
	Log        BundleLog
	Statements []BundleStatement
	Games      []BundleGame
	Archives   []string
}

// BundleLog is the log as the bundle tells it. Key is never trusted by itself.
type BundleLog struct {
	Origin, Key string
	Checkpoint  string
	Earlier     []BundleEarlier
}

// BundleEarlier is an older checkpoint with its consistency proof to the
// bundle's own.
type BundleEarlier struct {
	Checkpoint  string
	Consistency []commitment.Hash
}

// BundleStatement is a log entry with its inclusion proof, leaf to root.
type BundleStatement struct {
	Index uint64
	Text  string
	Path  []commitment.Hash
}

// BundleGame is one game: its record, its receipts in the order of drawing,
// and the openings of its rolls in any order.
type BundleGame struct {
	Game     int
	Record   string
	Receipts []string
	Openings []BundleOpening
}

// BundleOpening discloses one element of a roll tree; its dice are in the
// receipt.
type BundleOpening struct {
	Segment int
	Stream  commitment.Stream
	Index   int
	Key     commitment.Hash
	Path    []commitment.Hash
}

// ParseBundle reads the JSON of a bundle strictly: every member exactly once,
// in its own letter case, nothing unknown, nothing null, nothing after the
// object, plain decimal numbers (PROTOCOL.md §8, C15). The texts inside are
// read by [Verify]. Errors say where in the file they occurred.
func ParseBundle(data []byte) (*Bundle, error) {
	if len(data) > MaxBundle {
		return nil, phrase.Errorf("read bundle: %d bytes are more than %d", len(data), MaxBundle)
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return nil, phrase.Errorf("read bundle: the file is empty")
	}
	d := newDecoder(data)
	b := d.bundle()
	d.end()
	if d.err != nil {
		return nil, phrase.Errorf("read bundle: %w", d.err)
	}
	return b, nil
}

func (d *decoder) bundle() *Bundle {
	b := &Bundle{}
	d.object([]string{"format", "log", "statements", "games", "archives?"}, func(name string) {
		switch name {
		case "format":
			if s := d.text(); d.err == nil && s != BundleFormat {
				d.fail("format %q is not %q", clip(s), BundleFormat)
			}
		case "log":
			b.Log = d.log()
		case "statements":
			d.array(func() { b.Statements = append(b.Statements, d.statement()) })
		case "games":
			d.array(func() { b.Games = append(b.Games, d.game()) })
		case "archives":
			b.Archives = []string{}
			d.array(func() { b.Archives = append(b.Archives, d.text()) })
		}
	})
	return b
}

func (d *decoder) log() (l BundleLog) {
	d.object([]string{"origin", "key", "checkpoint", "earlier"}, func(name string) {
		switch name {
		case "origin":
			l.Origin = d.text()
		case "key":
			l.Key = d.text()
		case "checkpoint":
			l.Checkpoint = d.text()
		case "earlier":
			d.array(func() {
				var e BundleEarlier
				d.object([]string{"checkpoint", "consistency"}, func(name string) {
					switch name {
					case "checkpoint":
						e.Checkpoint = d.text()
					case "consistency":
						e.Consistency = d.path()
					}
				})
				l.Earlier = append(l.Earlier, e)
			})
		}
	})
	return l
}

func (d *decoder) statement() (s BundleStatement) {
	d.object([]string{"index", "text", "path"}, func(name string) {
		switch name {
		case "index":
			s.Index = d.number()
		case "text":
			s.Text = d.text()
		case "path":
			s.Path = d.path()
		}
	})
	return s
}

func (d *decoder) game() (g BundleGame) {
	d.object([]string{"game", "record", "receipts", "openings"}, func(name string) {
		switch name {
		case "game":
			g.Game = d.small()
		case "record":
			g.Record = d.text()
		case "receipts":
			d.array(func() { g.Receipts = append(g.Receipts, d.text()) })
		case "openings":
			d.array(func() { g.Openings = append(g.Openings, d.opening()) })
		}
	})
	return g
}

func (d *decoder) opening() (o BundleOpening) {
	d.object([]string{"segment", "stream", "index", "key", "path"}, func(name string) {
		switch name {
		case "segment":
			o.Segment = d.small()
		case "stream":
			o.Stream = d.stream()
		case "index":
			o.Index = d.small()
		case "key":
			o.Key = d.hash()
		case "path":
			o.Path = d.path()
		}
	})
	return o
}

// Encode writes the bundle as JSON, members in the order of PROTOCOL.md §8.
// ParseBundle reads it back to an equal value.
func (b *Bundle) Encode() ([]byte, error) {
	var buf bytes.Buffer
	w := wire.New(&buf)
	w.Object("", func() {
		w.Text("format", BundleFormat)
		w.Object("log", func() {
			w.Text("origin", b.Log.Origin)
			w.Text("key", b.Log.Key)
			w.Text("checkpoint", b.Log.Checkpoint)
			members(w, "earlier", b.Log.Earlier, func(c BundleEarlier) {
				w.Text("checkpoint", c.Checkpoint)
				hashes(w, "consistency", c.Consistency)
			})
		})
		members(w, "statements", b.Statements, func(s BundleStatement) {
			w.Uint("index", s.Index)
			w.Text("text", s.Text)
			hashes(w, "path", s.Path)
		})
		members(w, "games", b.Games, func(g BundleGame) {
			w.Int("game", g.Game)
			w.Text("record", g.Record)
			texts(w, "receipts", g.Receipts)
			members(w, "openings", g.Openings, func(o BundleOpening) {
				w.Int("segment", o.Segment)
				w.Text("stream", o.Stream.String())
				w.Int("index", o.Index)
				w.Text("key", o.Key.String())
				hashes(w, "path", o.Path)
			})
		})
		if b.Archives != nil {
			texts(w, "archives", b.Archives)
		}
	})
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// members writes a list of objects. A list that is absent is an empty one: the
// format has no null.
func members[T any](w *wire.Writer, name string, items []T, item func(T)) {
	wire.List(w, name, present(items), func(i T) { w.Object("", func() { item(i) }) })
}

func hashes(w *wire.Writer, name string, hs []commitment.Hash) {
	wire.List(w, name, present(hs), func(h commitment.Hash) { w.Text("", h.String()) })
}

func texts(w *wire.Writer, name string, list []string) { w.Texts(name, present(list)) }

func present[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
