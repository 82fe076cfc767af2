package audit

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"fairdice/commitment"
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
		return nil, fmt.Errorf("read bundle: %d bytes are more than %d", len(data), MaxBundle)
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return nil, fmt.Errorf("read bundle: the file is empty")
	}
	d := newDecoder(data)
	b := d.bundle()
	d.end()
	if d.err != nil {
		return nil, fmt.Errorf("read bundle: %w", d.err)
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
	e := &encoder{enc: jsontext.NewEncoder(&buf)}
	e.object(func() {
		e.member("format", BundleFormat)
		e.name("log")
		e.object(func() {
			e.member("origin", b.Log.Origin)
			e.member("key", b.Log.Key)
			e.member("checkpoint", b.Log.Checkpoint)
			e.name("earlier")
			list(e, b.Log.Earlier, func(c BundleEarlier) {
				e.object(func() {
					e.member("checkpoint", c.Checkpoint)
					e.hashes("consistency", c.Consistency)
				})
			})
		})
		e.name("statements")
		list(e, b.Statements, func(s BundleStatement) {
			e.object(func() {
				e.count("index", s.Index)
				e.member("text", s.Text)
				e.hashes("path", s.Path)
			})
		})
		e.name("games")
		list(e, b.Games, e.game)
		if b.Archives != nil {
			e.name("archives")
			list(e, b.Archives, e.text)
		}
	})
	if e.err != nil {
		return nil, fmt.Errorf("write bundle: %w", e.err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

func (e *encoder) game(g BundleGame) {
	e.object(func() {
		e.count("game", uint64(g.Game))
		e.member("record", g.Record)
		e.name("receipts")
		list(e, g.Receipts, e.text)
		e.name("openings")
		list(e, g.Openings, func(o BundleOpening) {
			e.object(func() {
				e.count("segment", uint64(o.Segment))
				e.member("stream", o.Stream.String())
				e.count("index", uint64(o.Index))
				e.member("key", o.Key.String())
				e.hashes("path", o.Path)
			})
		})
	})
}
