package audit

import (
	"bytes"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// RollFormat is the value of a roll's first member.
const RollFormat = "fairdice/v1/roll"

// MaxRoll is the largest roll file read, in bytes; a genuine one has about ten
// thousand.
const MaxRoll = 1 << 20

// Roll is what a draw answers: one roll with everything that proves it while
// the game is still played. Commit is nil when the member is absent; dice,
// line and head, which repeat what the receipt says, are nil or 0 then.
type Roll struct {
	Receipt            string
	Opening            BundleOpening
	Commit             *BundleStatement
	Open, Assign, Deal BundleStatement
	Checkpoint         string
	Dice               []int
	Line               int
	Head               *commitment.Hash
}

// ParseRoll reads a roll file as strictly as [ParseBundle] reads a bundle.
func ParseRoll(data []byte) (*Roll, error) {
	if len(data) > MaxRoll {
		return nil, phrase.Errorf("read roll: %d bytes are more than %d", len(data), MaxRoll)
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return nil, phrase.Errorf("read roll: the file is empty")
	}
	d := newDecoder(data)
	r := d.roll()
	d.end()
	if d.err != nil {
		return nil, phrase.Errorf("read roll: %w", d.err)
	}
	return r, nil
}

func (d *decoder) roll() *Roll {
	r := &Roll{}
	members := []string{"format", "receipt", "opening", "commit?", "open", "assign", "deal", "checkpoint", "dice?", "line?", "head?", "due?"}
	d.object(members, func(name string) {
		switch name {
		case "format":
			if s := d.text(); d.err == nil && s != RollFormat {
				d.fail("format %q is not %q", clip(s), RollFormat)
			}
		case "receipt":
			r.Receipt = d.text()
		case "opening":
			r.Opening = d.opening()
		case "commit":
			s := d.statement()
			r.Commit = &s
		case "open":
			r.Open = d.statement()
		case "assign":
			r.Assign = d.statement()
		case "deal":
			r.Deal = d.statement()
		case "checkpoint":
			r.Checkpoint = d.text()
		case "dice":
			r.Dice = []int{}
			d.array(func() {
				if len(r.Dice) == 2 {
					d.fail("more than two dice")
					return
				}
				r.Dice = append(r.Dice, d.small())
			})
			if d.err == nil && len(r.Dice) != 2 {
				d.fail("%d dice, want two", len(r.Dice))
			}
		case "line":
			r.Line = d.small()
		case "head":
			h := d.hash()
			r.Head = &h
		case "due":
			d.text() // what may follow says nothing about this roll
		}
	})
	return r
}
