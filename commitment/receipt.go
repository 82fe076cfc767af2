package commitment

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"fairdice/internal/phrase"
)

// A Receipt is what the service signs for each roll it gives (PROTOCOL.md §5). Receipts of a game form a chain, and each
// names the state of the record before the roll: a player who keeps them can prove what he was shown and when.
type Receipt struct {
	Match       string
	Game        int
	Segment     int
	Sequence    string
	Stream      Stream
	Index       int // inside the segment, from 0
	Dice        Dice
	Links       *[2]Hash // A's and B's link, exactly in mode live
	Key         Hash     // K
	Previous    *Hash    // hash of the previous receipt of the game; nil for the first
	RecordLines int      // event lines before the roll's own; dice-only: 0
	RecordHead  Hash     // head after them; dice-only: head_0
	Time        time.Time
}

var receiptSchema = strings.Fields("match game segment sequence stream index dice links key previous record time")

// Text returns the receipt's text, which is what gets signed.
func (r Receipt) Text() []byte {
	w := newPrinter("roll")
	w.line("match", r.Match)
	w.integer("game", r.Game)
	w.integer("segment", r.Segment)
	w.line("sequence", r.Sequence)
	w.line("stream", r.Stream.String())
	w.integer("index", r.Index)
	w.line("dice", strconv.Itoa(int(r.Dice.D1)), strconv.Itoa(int(r.Dice.D2)))
	if r.Links != nil {
		w.line("links", r.Links[0].String(), r.Links[1].String())
	}
	w.hash("key", r.Key)
	w.hashOrDash("previous", r.Previous)
	w.record(r.RecordLines, r.RecordHead)
	w.time(r.Time)
	return w
}

// Hash returns H of the text, which the next receipt and the close name.
func (r Receipt) Hash() Hash { return Sum(r.Text()) }

// ParseReceipt reads a receipt's text without its signature, as strictly as Parse. The error is a *ParseError.
func ParseReceipt(text []byte) (Receipt, error) {
	p, perr := newParser("receipt", text)
	if perr != nil {
		return Receipt{}, perr
	}
	if p.lines[0] != typePrefix+"roll" {
		return Receipt{}, &ParseError{What: p.what, Line: 1, Code: "unknown-type", Why: phrase.Errorf("first line %q is not %sroll", clip(p.lines[0]), typePrefix)}
	}
	p.schema = receiptSchema
	r := Receipt{Match: p.id("match"), Game: p.game(), Segment: p.segment(), Sequence: p.id("sequence")}
	if s := p.text("stream"); p.err == nil {
		var err error
		r.Stream, err = ParseStream(s)
		p.check("stream", "value", err)
	}
	r.Index = int(p.integer("index", 0, MaxInteger))
	f := p.fields("dice", 2)
	r.Dice.D1 = uint8(p.integerOf("dice", field(f, 0), 1, 6))
	r.Dice.D2 = uint8(p.integerOf("dice", field(f, 1), 1, 6))
	if f, ok := p.optional("links", 2); ok {
		r.Links = &[2]Hash{p.hashOf("links", f[0]), p.hashOf("links", f[1])}
	}
	r.Key = p.hash("key")
	r.Previous = p.hashOrDash("previous")
	r.RecordLines, r.RecordHead = p.record()
	r.Time = p.time()
	p.end()
	if p.err != nil {
		return Receipt{}, p.err
	}
	return r, nil
}

// Sign returns the receipt as a signed note, after making sure that a strict parser accepts it.
func (r Receipt) Sign(s note.Signer) (string, error) {
	text := r.Text()
	if _, err := ParseReceipt(text); err != nil {
		return "", fmt.Errorf("sign receipt: %w", err)
	}
	signed, err := note.Sign(&note.Note{Text: string(text)}, s)
	if err != nil {
		return "", fmt.Errorf("sign receipt: %w", err)
	}
	return string(signed), nil
}

// OpenReceipt reads a signed receipt and verifies it under the `receipt-key` of the open. When only the signature is at
// fault the error wraps ErrSignature and the receipt is returned all the same; any other error means malformed input.
func OpenReceipt(signed, vkey string) (Receipt, error) {
	v, err := ParseVerifier(vkey)
	if err != nil {
		return Receipt{}, phrase.Errorf("open receipt: %w", err)
	}
	n, err := ParseNote(signed)
	if err != nil {
		return Receipt{}, phrase.Errorf("open receipt: %w", err)
	}
	r, err := ParseReceipt([]byte(n.Text))
	if err != nil {
		return Receipt{}, phrase.Errorf("open receipt: %w", err)
	}
	if err := VerifyNote(n, v); err != nil {
		return r, phrase.Errorf("open receipt: %w", err)
	}
	return r, nil
}
