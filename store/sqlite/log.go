package sqlite

import (
	"errors"
	"fmt"
	"math/bits"

	"fairdice/store"
)

const selectEntry = "SELECT number, time, text FROM entries "

func scanEntry(r *row) store.Entry {
	return store.Entry{Index: r.int64(0), Time: r.time(1), Text: r.blob(2)}
}

// LogHead is read off the last entry: a head kept beside the entries could
// only repeat it or be wrong.
func (r *reader) LogHead() (store.LogHead, error) {
	e, err := one(r, scanEntry, selectEntry+"ORDER BY number DESC LIMIT 1")
	if errors.Is(err, store.ErrNotFound) {
		return store.LogHead{}, nil
	}
	if err != nil {
		return store.LogHead{}, fmt.Errorf("read log head: %w", err)
	}
	return store.LogHead{Size: e.Index + 1, Time: e.Time}, nil
}

func (r *reader) Entry(index int64) (store.Entry, error) {
	e, err := one(r, scanEntry, selectEntry+"WHERE number = ?", index)
	return e, wrap(err, "read log entry %d", index)
}

func (r *reader) Entries(first, end int64) ([]store.Entry, error) {
	es, err := list(r, scanEntry, selectEntry+"WHERE number >= ? AND number < ? ORDER BY number", first, end)
	return es, wrap(err, "read log entries from %d", first)
}

func (r *reader) LogHashes(indexes []int64) ([][32]byte, error) {
	hashes := make([][32]byte, len(indexes))
	for i, index := range indexes {
		h, err := one(r, func(r *row) [32]byte { return r.hash(0) }, "SELECT hash FROM hashes WHERE place = ?", index)
		if err != nil {
			return nil, fmt.Errorf("read log hash %d: %w", index, err)
		}
		hashes[i] = h
	}
	return hashes, nil
}

// LockLog needs no lock: updates run one after the other.
func (t *tx) LockLog() (store.LogHead, error) { return t.LogHead() }

func (t *tx) AppendEntry(e store.Entry, hashes [][32]byte) error {
	head, err := t.LogHead()
	if err != nil {
		return err
	}
	place := firstHash(e.Index)
	switch n := firstHash(e.Index+1) - place; {
	case e.Index != head.Size:
		return fmt.Errorf("append log entry %d to %d entries: %w", e.Index, head.Size, store.ErrConflict)
	case int64(len(hashes)) != n:
		return fmt.Errorf("append log entry %d: it completes %d hashes, not %d", e.Index, n, len(hashes))
	}
	text := e.Text
	if text == nil {
		text = []byte{}
	}
	err = t.add("INSERT INTO entries (number, time, text) VALUES (?, ?, ?)", e.Index, e.Time, text)
	for i := 0; i < len(hashes) && err == nil; i++ {
		err = t.add("INSERT INTO hashes (place, hash) VALUES (?, ?)", place+int64(i), hashes[i])
	}
	return wrap(err, "append log entry %d", e.Index)
}

// firstHash is the storage index of the first hash that entry n completes: the
// number of complete subtrees over n entries, which is tlog.StoredHashCount.
func firstHash(n int64) int64 {
	return 2*n - int64(bits.OnesCount64(uint64(n)))
}

const selectCheckpoint = "SELECT size, note, cosigned FROM checkpoints "

func scanCheckpoint(r *row) store.Checkpoint {
	return store.Checkpoint{Size: r.int64(0), Note: r.text(1), Cosigned: r.text(2)}
}

func (r *reader) Checkpoint(size int64) (store.Checkpoint, error) {
	c, err := one(r, scanCheckpoint, selectCheckpoint+"WHERE size >= ? ORDER BY size LIMIT 1", size)
	return c, wrap(err, "find checkpoint of %d entries or more", size)
}

func (r *reader) LatestCheckpoint() (store.Checkpoint, error) {
	c, err := one(r, scanCheckpoint, selectCheckpoint+"ORDER BY size DESC LIMIT 1")
	return c, wrap(err, "find latest checkpoint")
}

func (t *tx) AddCheckpoint(c store.Checkpoint) error {
	err := t.add("INSERT INTO checkpoints (size, note, cosigned) VALUES (?, ?, ?)", c.Size, c.Note, c.Cosigned)
	return wrap(err, "add checkpoint of %d entries", c.Size)
}

func (r *reader) Cosigned(size int64) (store.Checkpoint, error) {
	c, err := one(r, scanCheckpoint, selectCheckpoint+"WHERE size >= ? AND cosigned <> '' ORDER BY size LIMIT 1", size)
	return c, wrap(err, "find cosigned checkpoint of %d entries or more", size)
}

func (r *reader) LatestCosigned() (store.Checkpoint, error) {
	c, err := one(r, scanCheckpoint, selectCheckpoint+"WHERE cosigned <> '' ORDER BY size DESC LIMIT 1")
	return c, wrap(err, "find latest cosigned checkpoint")
}

func (t *tx) SetCosigned(size int64, note string) error {
	old, err := one(&t.reader, scanCheckpoint, selectCheckpoint+"WHERE size = ?", size)
	if err == nil && old.Cosigned != "" {
		err = store.ErrExists
	}
	if err == nil {
		_, err = t.conn.exec("UPDATE checkpoints SET cosigned = ? WHERE size = ?", note, size)
	}
	return wrap(err, "cosign checkpoint of %d entries", size)
}

const selectArchive = "SELECT hash, sequence, sealed FROM archives "

func scanArchive(r *row) store.Archive {
	return store.Archive{Hash: r.hash(0), Sequence: r.text(1), Sealed: r.blob(2)}
}

func (r *reader) Archive(hash [32]byte) (store.Archive, error) {
	a, err := one(r, scanArchive, selectArchive+"WHERE hash = ?", hash)
	return a, wrap(err, "read archive %x", hash)
}

func (r *reader) ArchiveOf(sequence string) (store.Archive, error) {
	a, err := one(r, scanArchive, selectArchive+"WHERE sequence = ?", sequence)
	return a, wrap(err, "read archive of %s", sequence)
}

func (t *tx) AddArchive(a store.Archive) error {
	err := t.add("INSERT INTO archives (hash, sequence, sealed) VALUES (?, ?, ?)", a.Hash, a.Sequence, a.Sealed)
	return wrap(err, "add archive %x", a.Hash)
}
