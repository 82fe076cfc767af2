// Package dealer is a whole house in miniature, for tests of what audits it: it
// commits, assigns, deals and plays games of random legal moves, keeps the log
// and the archive. Its hooks let it cheat in one place and sign everything
// again, which no edit of a finished file can do. Everything follows from one
// seed.
//
//	h := dealer.New(t, 7)
//	m := h.Open(dealer.Terms{Variant: "short", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: commitment.Lengths{4, 40, 40}})
//	m.Play()
//	m.Finish()
//	files := h.Archive()
package dealer

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"fairdice/commitment"
	"fairdice/translog"
)

// Origin is the name of the dealer's log.
const Origin = "example.org/fairdice/dealer"

// SingleGame are the options of a match of one game.
const SingleGame = "raise=mars stake=win series=single crawford=off"

// House deals matches into one log.
type House struct {
	Key        string   // verifier key of the log
	ReceiptKey string   // verifier key of the receipts, of matches still to come
	Texts      [][]byte // the statements so far
	Clock      time.Time
	Random     *rand.ChaCha8

	// Tamper changes statements before they are published.
	Tamper func(commitment.Statement) commitment.Statement
	// Choose picks from the stock, lowest number first; an honest house takes 0.
	Choose func(stock []*Sequence) int

	t       testing.TB
	pick    *rand.Rand
	signer  note.Signer
	stamp   note.Signer
	number  map[row]uint64
	stock   map[row][]*Sequence
	matches []*Match
	stored  []tlog.Hash
	thrown  map[commitment.Hash][]byte // archives of throws
}

type row struct {
	tenant string
	mode   commitment.Mode
	rolls  commitment.Lengths
}

// Sequence is a committed sequence, with all that the house knows of it.
type Sequence struct {
	ID      string
	Number  uint64
	Secret  commitment.Secret
	Archive *commitment.Archive
	Dealt   *commitment.Sequence
	terms   Terms
}

// New opens a house. Equal seeds give equal houses.
func New(t testing.TB, seed byte) *House {
	h := &House{
		t: t, Random: rand.NewChaCha8([32]byte{seed}), Clock: time.Date(2026, 11, 29, 21, 0, 0, 0, time.UTC),
		Tamper: func(s commitment.Statement) commitment.Statement { return s },
		Choose: func([]*Sequence) int { return 0 },
		number: map[row]uint64{}, stock: map[row][]*Sequence{},
		thrown: map[commitment.Hash][]byte{},
	}
	h.pick = rand.New(h.Random)
	h.signer, h.Key = h.newKey(Origin)
	h.NewReceiptKey()
	return h
}

// NewReceiptKey changes the key of the receipts for the next matches.
func (h *House) NewReceiptKey() { h.stamp, h.ReceiptKey = h.newKey(Origin + "/receipts") }

func (h *House) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *House) newKey(name string) (note.Signer, string) {
	skey, vkey, err := commitment.NewKey(name, h.Random)
	h.must(err)
	s, err := commitment.NewSigner(skey)
	h.must(err)
	return s, vkey
}

// ID returns a new id.
func (h *House) ID() string { return fmt.Sprintf("01970000-0000-7000-8000-%012x", h.pick.Uint64()>>16) }

// Now returns the time of the next statement, a second after the last.
func (h *House) Now() time.Time {
	h.Clock = h.Clock.Add(time.Second)
	return h.Clock
}

// Publish appends a statement to the log. A hook that returns nil leaves it
// out.
func (h *House) Publish(s commitment.Statement) {
	if s = h.Tamper(s); s != nil {
		h.Texts = append(h.Texts, s.Text())
	}
}

// Stock commits n sequences for matches of these terms.
func (h *House) Stock(how Terms, n int) {
	key := row{how.tenant(), how.Mode, how.Rolls}
	for range n {
		secret, err := commitment.NewSecret(h.Random)
		h.must(err)
		s := &Sequence{ID: h.ID(), Secret: secret, Number: h.number[row{key.tenant, key.mode, commitment.Lengths{}}], terms: how}
		var hash *commitment.Hash
		if how.Mode == commitment.Real {
			s.Archive = h.throws(how.Rolls.Total())
			sum := s.Archive.Hash()
			hash = &sum
		}
		sealed, err := commitment.Build(secret, s.ID, how.Mode, how.Rolls, commitment.NoCut, s.Archive)
		h.must(err)
		h.number[row{key.tenant, key.mode, commitment.Lengths{}}]++
		h.stock[key] = append(h.stock[key], s)
		h.Publish(commitment.Commit{
			Log: Origin, Tenant: key.tenant, Mode: how.Mode, Number: s.Number, Sequence: s.ID, Rolls: how.Rolls,
			SecretHash: secret.Hash(), Root: sealed.Root(), Archive: hash, Time: h.Now(),
		})
	}
}

// take takes a sequence from the stock.
func (h *House) take(how Terms) *Sequence {
	key := row{how.tenant(), how.Mode, how.Rolls}
	if len(h.stock[key]) == 0 {
		h.Stock(how, 1)
	}
	i := h.Choose(h.stock[key])
	s := h.stock[key][i]
	h.stock[key] = append(h.stock[key][:i:i], h.stock[key][i+1:]...)
	return s
}

// Retire withdraws the first sequence of the stock.
func (h *House) Retire(how Terms, reason string) *Sequence {
	s := h.take(how)
	h.Publish(commitment.Retire{Sequence: s.ID, Reason: reason, Secret: s.Secret, Time: h.Now()})
	return s
}

// throws records n throws, as an archive of physical dice would hold them.
func (h *House) throws(n int) *commitment.Archive {
	var salt [32]byte
	_, err := h.Random.Read(salt[:])
	h.must(err)
	text := fmt.Appendf(nil, "%x\n", salt)
	for range n {
		text = fmt.Appendf(text, "%d %d\n", 1+h.pick.IntN(6), 1+h.pick.IntN(6))
	}
	a, err := commitment.ParseArchive(text)
	h.must(err)
	h.thrown[a.Hash()] = text
	return a
}

// hashes returns the stored hashes of the log as it is now.
func (h *House) hashes() tlog.HashReader {
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			out[i] = h.stored[x]
		}
		return out, nil
	})
	h.stored = h.stored[:0]
	for i, text := range h.Texts {
		more, err := tlog.StoredHashes(int64(i), text, reader)
		h.must(err)
		h.stored = append(h.stored, more...)
	}
	return reader
}

// Checkpoint signs the state of the log after its first size statements.
func (h *House) Checkpoint(size int) string {
	root, err := translog.Root(int64(size), h.hashes())
	h.must(err)
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: Origin, Size: int64(size), Root: root}, h.signer)
	h.must(err)
	return signed
}

// Inclusion proves that statement i is in the log as it is now.
func (h *House) Inclusion(i int) []commitment.Hash {
	path, err := translog.Inclusion(int64(len(h.Texts)), int64(i), h.proofs())
	h.must(err)
	return path
}

// proofs rebuilds the stored hashes only when the log has grown.
func (h *House) proofs() tlog.HashReader {
	if want := tlog.StoredHashCount(int64(len(h.Texts))); int64(len(h.stored)) != want {
		return h.hashes()
	}
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			out[i] = h.stored[x]
		}
		return out, nil
	})
}
