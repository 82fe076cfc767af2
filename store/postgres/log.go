package postgres

import (
	"fmt"
	"math/bits"
	"time"

	"fairdice/store"
)

const selectEntry = "SELECT number, time, text FROM entries "

func scanEntry(r *row) store.Entry {
	return store.Entry{Index: r.int64(0), Time: r.time(1), Text: r.blob(2)}
}

func scanHead(r *row) store.LogHead { return store.LogHead{Size: r.int64(0), Time: r.time(1)} }

const selectHead = "SELECT size, time FROM log_head"

func (r *reader) LogHead() (store.LogHead, error) {
	h, err := one(r, scanHead, selectHead)
	return h, wrap(err, "read log head")
}

func (r *reader) Entry(index int64) (store.Entry, error) {
	e, err := one(r, scanEntry, selectEntry+"WHERE number = $1", index)
	return e, wrap(err, "read log entry %d", index)
}

func (r *reader) Entries(first, end int64) ([]store.Entry, error) {
	es, err := list(r, scanEntry, selectEntry+"WHERE number >= $1 AND number < $2 ORDER BY number", first, end)
	return es, wrap(err, "read log entries from %d", first)
}

func (r *reader) LogHashes(indexes []int64) ([][32]byte, error) {
	found := make(map[int64][32]byte, len(indexes))
	_, err := r.run(func(r *row) { found[r.int64(0)] = r.hash(1) },
		"SELECT place, hash FROM hashes WHERE place = ANY($1)", indexes)
	if err != nil {
		return nil, fmt.Errorf("read log hashes: %w", err)
	}
	hashes := make([][32]byte, len(indexes))
	for i, index := range indexes {
		h, ok := found[index]
		if !ok {
			return nil, fmt.Errorf("read log hash %d: %w", index, store.ErrNotFound)
		}
		hashes[i] = h
	}
	return hashes, nil
}

// lockLog keeps others from appending. LOCK TABLE alone of all statements takes
// no snapshot, so what a transaction that begins with it sees is what the
// last one has left; a lock on the row would find it changed. The table has
// that one row, and reading it needs no lock.
const lockLog = "LOCK TABLE log_head IN EXCLUSIVE MODE"

func (t *tx) LockLog() (store.LogHead, error) {
	if t.head != nil {
		return *t.head, nil
	}
	if err := t.usable(); err != nil {
		return store.LogHead{}, err
	}
	query := selectHead
	t.queue = append([]call{{sql: lockLog}}, t.queue...)
	if t.begun { // the lock comes late: the row must be as the snapshot has it
		query += " FOR UPDATE"
	}
	var head store.LogHead
	if _, err := t.run(func(r *row) { head = scanHead(r) }, query); err != nil {
		t.logMoved = true
		return head, fmt.Errorf("lock log: %w", err)
	}
	t.head = &head
	return head, nil
}

func (t *tx) LogHead() (store.LogHead, error) {
	if t.head != nil {
		return *t.head, nil
	}
	return t.reader.LogHead()
}

// LogHashes of entries that this transaction appends need no reading.
func (t *tx) LogHashes(indexes []int64) ([][32]byte, error) {
	hashes := make([][32]byte, len(indexes))
	var missing []int64
	for i, index := range indexes {
		h, ok := t.hashes[index]
		if !ok {
			missing = append(missing, index)
		}
		hashes[i] = h
	}
	if missing == nil {
		return hashes, nil
	}
	read, err := t.reader.LogHashes(missing)
	if err != nil {
		return nil, err
	}
	for i, index := range indexes {
		if _, ok := t.hashes[index]; !ok {
			hashes[i], read = read[0], read[1:]
		}
	}
	return hashes, nil
}

func (t *tx) AppendEntry(e store.Entry, hashes [][32]byte) error {
	head, err := t.LockLog()
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
	err = t.put(`WITH entry AS (INSERT INTO entries (number, time, text) VALUES ($1, $2, $3)),
		tree AS (INSERT INTO hashes (place, hash) SELECT $4 + n - 1, h FROM unnest($5::bytea[]) WITH ORDINALITY AS u (h, n)),
		head AS (UPDATE log_head SET size = $1 + 1, time = $2 WHERE size = $1 RETURNING 1) `+stopUnless("head"),
		e.Index, e.Time, text, place, hashes)
	if err != nil {
		return fmt.Errorf("append log entry %d: %w", e.Index, err)
	}
	t.head = &store.LogHead{Size: e.Index + 1, Time: e.Time.UTC().Truncate(time.Second)}
	if t.hashes == nil {
		t.hashes = make(map[int64][32]byte)
	}
	for i, h := range hashes {
		t.hashes[place+int64(i)] = h
	}
	return nil
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
	c, err := one(r, scanCheckpoint, selectCheckpoint+"WHERE size >= $1 ORDER BY size LIMIT 1", size)
	return c, wrap(err, "find checkpoint of %d entries or more", size)
}

func (r *reader) LatestCheckpoint() (store.Checkpoint, error) {
	c, err := one(r, scanCheckpoint, selectCheckpoint+"ORDER BY size DESC LIMIT 1")
	return c, wrap(err, "find latest checkpoint")
}

func (t *tx) AddCheckpoint(c store.Checkpoint) error {
	err := t.add("INSERT INTO checkpoints (size, note, cosigned) VALUES ($1, $2, $3)", c.Size, c.Note, c.Cosigned)
	return wrap(err, "add checkpoint of %d entries", c.Size)
}

func (r *reader) Cosigned(size int64) (store.Checkpoint, error) {
	c, err := one(r, scanCheckpoint, selectCheckpoint+"WHERE size >= $1 AND cosigned <> '' ORDER BY size LIMIT 1", size)
	return c, wrap(err, "find cosigned checkpoint of %d entries or more", size)
}

func (r *reader) LatestCosigned() (store.Checkpoint, error) {
	c, err := one(r, scanCheckpoint, selectCheckpoint+"WHERE cosigned <> '' ORDER BY size DESC LIMIT 1")
	return c, wrap(err, "find latest cosigned checkpoint")
}

func (t *tx) SetCosigned(size int64, note string) error {
	old, err := one(&t.reader, scanCheckpoint, selectCheckpoint+"WHERE size = $1", size)
	if err == nil && old.Cosigned != "" {
		err = store.ErrExists
	}
	if err == nil {
		_, err = t.write("UPDATE checkpoints SET cosigned = $1 WHERE size = $2", note, size)
	}
	return wrap(err, "cosign checkpoint of %d entries", size)
}

const selectArchive = "SELECT hash, sequence, sealed FROM archives "

func scanArchive(r *row) store.Archive {
	return store.Archive{Hash: r.hash(0), Sequence: r.text(1), Sealed: r.blob(2)}
}

func (r *reader) Archive(hash [32]byte) (store.Archive, error) {
	a, err := one(r, scanArchive, selectArchive+"WHERE hash = $1", hash)
	return a, wrap(err, "read archive %x", hash)
}

func (r *reader) ArchiveOf(sequence string) (store.Archive, error) {
	a, err := one(r, scanArchive, selectArchive+"WHERE sequence = $1", sequence)
	return a, wrap(err, "read archive of %s", sequence)
}

func (t *tx) AddArchive(a store.Archive) error {
	err := t.add("INSERT INTO archives (hash, sequence, sealed) VALUES ($1, $2, $3)", a.Hash, a.Sequence, a.Sealed)
	return wrap(err, "add archive %x", a.Hash)
}
