package audit

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/translog"
)

// evidence is a match whose texts have been read: what `format` promises. It
// comes from a bundle or from an archive; the checks are the same. Everything
// after it may rely on well-formed values, and on nothing else: whether they
// are signed, included or consistent is what the checks decide.
type evidence struct {
	bundle     *Bundle // nil: the match is one of an archive
	checkpoint checkpoint
	earlier    []checkpoint
	origin     string // of the log
	signatures bool   // receipts are verified one by one
	lenient    bool   // throws of mode real that are not at hand are no fault
	book       *Book
	ledger     *ledger
	open       *commitment.Open // nil: the statement is missing
	receiptKey note.Verifier    // of the open
	games      []*game
	archives   map[commitment.Hash]*commitment.Archive
	series     *replay.Match // after the last game; nil: the options cannot be played
	witnessed  bool          // every deal has a checkpoint cosigned before its round (C8)
}

// checkpoint is a signed checkpoint that has been read but not verified.
type checkpoint struct {
	translog.Checkpoint
	raw string
}

// receipt is a receipt whose signature has not been verified.
type receipt struct {
	commitment.Receipt
	hash commitment.Hash // of its text
	note *note.Note
}

// element names one roll of a game: an element of a stream of a segment.
type element struct {
	segment int
	stream  commitment.Stream
	index   int
}

// String prints the element as people count streams in the texts, from 0.
func (e element) String() string {
	format, values := e.Phrase()
	return fmt.Sprintf(format, values...)
}

// Phrase says it in other languages.
func (e element) Phrase() (string, []any) {
	return "element %d of stream %s, segment %d", []any{e.index, e.stream, e.segment}
}

func (r receipt) element() element { return element{r.Segment, r.Stream, r.Index} }

// game is one game of the bundle: its file part and, found through the
// ledger, its statements.
type game struct {
	number   int
	record   replay.Record
	heads    []replay.Head // head_0 … head_n
	events   []replay.Event
	receipts []receipt
	openings map[element]BundleOpening
	log      *gameLog // never nil; empty if the log says nothing of the game
	inFile   *BundleGame
	absent   bool                         // only the log knows of it: no record, no receipts
	last     replay.State                 // as far as the record can be followed
	rebuilt  map[int]*commitment.Sequence // by segment, with the cut
}

// maxNote bounds a receipt or checkpoint: a text of at most 4 KiB and at most
// a hundred signature lines.
const maxNote = 64 << 10

// readEvidence reads every text of the bundle. An error means that `format`
// fails.
func readEvidence(b *Bundle) (*evidence, error) {
	if len(b.Statements) == 0 {
		return nil, errors.New("statements: there are none")
	}
	if len(b.Games) == 0 {
		return nil, errors.New("games: there are none")
	}
	e := &evidence{bundle: b, origin: b.Log.Origin, signatures: true}
	if _, err := commitment.ParseVerifier(b.Log.Key); err != nil {
		return nil, phrase.Errorf("log.key: %w", err)
	}
	var err error
	if e.checkpoint, err = readCheckpoint(b.Log.Checkpoint); err != nil {
		return nil, phrase.Errorf("log.checkpoint: %w", err)
	}
	for i, c := range b.Log.Earlier {
		old, err := readCheckpoint(c.Checkpoint)
		if err != nil {
			return nil, phrase.Errorf("log.earlier[%d]: %w", i, err)
		}
		e.earlier = append(e.earlier, old)
	}
	if err := e.readStatements(); err != nil {
		return nil, err
	}
	for i := range b.Games {
		g, err := e.readGame(&b.Games[i], i+1)
		if err != nil {
			return nil, phrase.Errorf("games[%d]: %w", i, err)
		}
		e.games = append(e.games, g)
	}
	return e, e.readArchives()
}

func readCheckpoint(raw string) (checkpoint, error) {
	text, err := noteText(raw)
	if err != nil {
		return checkpoint{}, err
	}
	c, err := translog.ParseCheckpoint(text)
	return checkpoint{c, raw}, err
}

// noteText returns the text of a well-formed signed note, verified or not.
func noteText(raw string) (string, error) {
	if len(raw) > maxNote {
		return "", phrase.Errorf("note of %d bytes, more than %d", len(raw), maxNote)
	}
	n, err := commitment.ParseNote(raw)
	if err != nil {
		return "", err
	}
	return n.Text, nil
}

func (e *evidence) readStatements() error {
	entries := make([]entry, len(e.bundle.Statements))
	opens := 0
	for i, s := range e.bundle.Statements {
		st, err := commitment.Parse([]byte(s.Text))
		if err != nil {
			return phrase.Errorf("statements[%d]: %w", i, err)
		}
		entries[i] = entry{index: s.Index, place: i, statement: st}
		if o, ok := st.(commitment.Open); ok {
			opens++
			e.open = &o
		}
	}
	if opens > 1 {
		return errors.New("statements: more than one open") // C16
	}
	e.ledger = newLedger(entries)
	return e.readReceiptKey()
}

func (e *evidence) readReceiptKey() error {
	if e.open == nil {
		return nil
	}
	key, err := commitment.ParseVerifier(e.open.ReceiptKey)
	if err != nil {
		return phrase.Errorf("statements: receipt-key: %w", err)
	}
	e.receiptKey = key
	return nil
}

func (e *evidence) readGame(b *BundleGame, want int) (*game, error) {
	if b.Game != want {
		return nil, phrase.Errorf("game %d stands where game %d belongs", b.Game, want) // C16
	}
	g := &game{number: b.Game, inFile: b, openings: make(map[element]BundleOpening, len(b.Openings)), log: &gameLog{number: b.Game}}
	var err error
	if g.record, err = replay.ParseRecord([]byte(b.Record)); err != nil {
		return nil, phrase.Errorf("record: %w", err)
	}
	if g.record.Header == nil {
		return nil, errors.New("record: the header is missing")
	}
	header, _, _ := strings.Cut(b.Record, "\n\n")
	head := replay.Head(commitment.Sum([]byte(header + "\n\n")))
	g.heads = append(g.heads, head)
	for _, line := range g.record.Lines {
		head = head.Next(line)
		g.heads = append(g.heads, head)
		ev, err := replay.ParseEvent(line)
		if err != nil {
			return nil, phrase.Errorf("record: %w", err)
		}
		g.events = append(g.events, ev)
	}
	g.receipts = make([]receipt, len(b.Receipts))
	for i, raw := range b.Receipts {
		if g.receipts[i], err = readReceipt(raw); err != nil {
			return nil, phrase.Errorf("receipts[%d]: %w", i, err)
		}
	}
	for i, o := range b.Openings {
		at := element{o.Segment, o.Stream, o.Index}
		if _, twice := g.openings[at]; twice {
			return nil, phrase.Errorf("openings[%d]: %s is opened twice", i, at)
		}
		g.openings[at] = o
	}
	return g, nil
}

func readReceipt(raw string) (receipt, error) {
	n, err := commitment.ParseNote(raw)
	if err != nil {
		return receipt{}, err
	}
	text := []byte(n.Text)
	r := receipt{hash: commitment.Sum(text), note: n}
	r.Receipt, err = commitment.ParseReceipt(text)
	return r, err
}

// forEach calls do for 0 … n-1 on all processors. Two thirds of the time of a
// verification are signatures, which do not depend on one another.
func forEach(n int, do func(int)) {
	const batch = 16
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+batch-1)/batch) {
		workers.Go(func() {
			for {
				from := int(next.Add(batch)) - batch
				if from >= n {
					return
				}
				for i := from; i < min(from+batch, n); i++ {
					do(i)
				}
			}
		})
	}
	workers.Wait()
}

// readArchives parses the archives that can be parsed: a malformed one is as
// good as a missing one, which fails sequence.root, not format (C12).
func (e *evidence) readArchives() error {
	if e.open == nil {
		return nil
	}
	isReal := e.open.Mode == commitment.Real
	switch {
	case isReal && e.bundle.Archives == nil:
		return errors.New("archives: mode real needs them")
	case !isReal && e.bundle.Archives != nil:
		return phrase.Errorf("archives: mode %s has none", e.open.Mode)
	}
	e.archives = map[commitment.Hash]*commitment.Archive{}
	for _, text := range e.bundle.Archives {
		if a, err := commitment.ParseArchive([]byte(text)); err == nil {
			e.archives[a.Hash()] = a
		}
	}
	return nil
}

// game returns game n of the match, if it is at hand.
func (e *evidence) game(n int) (*game, bool) {
	if i, ok := slices.BinarySearchFunc(e.games, n, func(g *game, n int) int { return g.number - n }); ok {
		return e.games[i], true
	}
	return nil, false
}

// present yields the games of which there is more than the log says.
func (e *evidence) present() iter.Seq[*game] {
	return func(yield func(*game) bool) {
		for _, g := range e.games {
			if !g.absent && !yield(g) {
				return
			}
		}
	}
}

// segment returns segment k of the game if it was committed, assigned and
// dealt; only then its rolls can be checked against anything.
func (g *game) segment(k int) (*segmentLog, bool) {
	if k < 1 || k > len(g.log.segments) {
		return nil, false
	}
	s := g.log.segments[k-1]
	return s, s.commit != nil && s.deal != nil
}

// lastEvent returns the n-th event from the end, 0 the last one.
func (g *game) lastEvent(n int) (replay.Event, bool) {
	if n >= len(g.events) {
		return replay.Event{}, false
	}
	return g.events[len(g.events)-1-n], true
}

// ended reports whether the record has its end line.
func (g *game) ended() bool {
	return slices.ContainsFunc(g.events, func(e replay.Event) bool { return e.Kind == replay.End })
}
