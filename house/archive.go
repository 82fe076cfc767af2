package house

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"fairdice/commitment"
	"fairdice/store"
)

// Import tells what became of recorded throws.
type Import struct {
	Archives []ImportedArchive
	Left     int // throws at the end that do not fill a sequence; they are unused
}

// ImportedArchive is one sequence made of recorded throws.
type ImportedArchive struct {
	Sequence    string
	Number      uint64
	Hash        commitment.Hash // of the archive file
	First, Last int             // throws it is made of, from 1
}

// ImportThrows cuts recorded throws, in the order they were made, into salted
// archives, one per sequence of mode real, and seals them for the tenant. A
// block of throws that was imported before is refused with everything else of
// the call: no throw is ever used twice.
func (h *House) ImportThrows(ctx context.Context, tenant string, throws []commitment.Dice) (Import, error) {
	n := h.rolls.Total()
	imp := Import{Left: len(throws) % n}
	if len(throws) < n {
		return imp, refuse(Malformed, "%d throws are not enough for one sequence of %d", len(throws), n)
	}
	var made []sealed
	var marks [][32]byte
	for first := 0; first+n <= len(throws); first += n {
		var salt commitment.Hash
		if _, err := io.ReadFull(h.random, salt[:]); err != nil {
			return imp, fmt.Errorf("make salt: %w", err)
		}
		a, err := commitment.NewArchive(salt, throws[first:first+n])
		if err != nil {
			return imp, refuse(Malformed, "throws %d to %d: %s", first+1, first+n, err)
		}
		s, err := h.makeSequence(tenant, commitment.Real, a)
		if err != nil {
			return imp, err
		}
		made = append(made, s)
		// The salted file is new each time; the throws themselves are remembered
		// under a key, because a plain hash of them would say when they come up.
		mac := hmac.New(sha256.New, h.master.derive("fairdice/v1 throws"))
		for _, d := range throws[first : first+n] {
			mac.Write([]byte{d.D1, d.D2})
		}
		marks = append(marks, [32]byte(mac.Sum(nil)))
		imp.Archives = append(imp.Archives, ImportedArchive{Sequence: s.row.ID, Hash: a.Hash(), First: first + 1, Last: first + n})
	}
	err := h.store.Update(ctx, func(tx store.Tx) error {
		for i, m := range marks {
			if err := tx.Spend(m); errors.Is(err, store.ErrExists) {
				return refuse(OtherContent, "throws %d to %d were imported before; nothing was imported", imp.Archives[i].First, imp.Archives[i].Last)
			} else if err != nil {
				return fmt.Errorf("remember throws: %w", err)
			}
		}
		pool, err := tx.Pool(tenant, commitment.Real.String())
		if err != nil {
			return fmt.Errorf("read pool: %w", err)
		}
		for i := range imp.Archives {
			imp.Archives[i].Number = pool.Next + uint64(i)
		}
		return h.commit(tx, made)
	})
	if err != nil {
		return Import{}, err
	}
	h.signer.poke()
	return imp, nil
}

// Archive is the file with that hash, once the secret of its sequence is published.
func (h *House) Archive(ctx context.Context, hash commitment.Hash) ([]byte, error) {
	var text []byte
	err := h.store.View(ctx, func(r store.Reader) error {
		a, err := r.Archive(hash)
		if err != nil {
			return err
		}
		q, err := r.Sequence(a.Sequence)
		if err != nil {
			return err
		}
		if q.State != store.Published && q.State != store.Retired {
			return store.ErrNotFound
		}
		text, err = h.master.openArchive(a.Sealed, a.Sequence)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(NotFound, "no published archive %s", hash)
	}
	return text, err
}

// archiveOf opens the archive of a sequence of mode real.
func (h *House) archiveOf(r store.Reader, sequence string) (*commitment.Archive, error) {
	row, err := r.ArchiveOf(sequence)
	if err != nil {
		return nil, fmt.Errorf("read archive of %s: %w", sequence, err)
	}
	text, err := h.master.openArchive(row.Sealed, sequence)
	if err != nil {
		return nil, err
	}
	a, err := commitment.ParseArchive(text)
	if err != nil {
		return nil, fmt.Errorf("read archive of %s: %w", sequence, err)
	}
	return a, nil
}

// Throws opens the files of recorded throws, for who exports an archive: of a
// sequence whose secret is published, and of no other.
func Throws(m MasterKey) func(r store.Reader, sequence string) (commitment.Hash, []byte, error) {
	return func(r store.Reader, sequence string) (commitment.Hash, []byte, error) {
		var none commitment.Hash
		q, err := r.Sequence(sequence)
		if err != nil {
			return none, nil, fmt.Errorf("read sequence %s: %w", sequence, err)
		}
		if q.State != store.Published && q.State != store.Retired {
			return none, nil, fmt.Errorf("open throws: the secret of sequence %s is not published", sequence)
		}
		a, err := r.ArchiveOf(sequence)
		if err != nil {
			return none, nil, fmt.Errorf("read archive of %s: %w", sequence, err)
		}
		text, err := m.openArchive(a.Sealed, sequence)
		return a.Hash, text, err
	}
}
