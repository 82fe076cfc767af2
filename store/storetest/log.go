package storetest

import (
	"fmt"
	"math/bits"
	"testing"

	"fairdice/store"
)

// entry is the entry of that index with the hashes it completes: one for the
// leaf, and one more for each subtree that ends with it. Their values are
// made up, for the store does not compute any.
func entry(index int64) (store.Entry, [][32]byte) {
	e := store.Entry{Index: index, Text: fmt.Appendf(nil, "fairdice/v1/test\nindex %d\n", index), Time: instant(int(index))}
	hashes := make([][32]byte, 1+bits.TrailingZeros64(^uint64(index)))
	for level := range hashes {
		hashes[level] = hash("entry %d level %d", index, level)
	}
	return e, hashes
}

func appendEntry(tx store.Tx) (int64, error) {
	head, err := tx.LockLog()
	if err != nil {
		return 0, err
	}
	e, hashes := entry(head.Size)
	return e.Index, tx.AppendEntry(e, hashes)
}

func appendEntries(t *testing.T, s store.Store, n int) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		for range n {
			if _, err := appendEntry(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func testLog(t *testing.T, s store.Store) {
	appendEntries(t, s, 1)
	appendEntries(t, s, 11)
	same(t, get(t, s, store.Reader.LogHead), store.LogHead{Size: 12, Time: instant(11)})
	for _, i := range []int64{0, 7, 11} {
		want, _ := entry(i)
		same(t, get(t, s, func(r store.Reader) (store.Entry, error) { return r.Entry(i) }), want)
	}
	missing(t, s, func(r store.Reader) (store.Entry, error) { return r.Entry(12) })
	missing(t, s, func(r store.Reader) (store.Entry, error) { return r.Entry(-1) })
	for _, test := range []struct{ first, end, from, to int64 }{
		{0, 12, 0, 12}, {3, 5, 3, 5}, {9, 99, 9, 12}, {12, 20, 0, 0}, {5, 5, 0, 0}, {-4, 2, 0, 2}, {5, 3, 0, 0},
	} {
		var want []store.Entry
		for i := test.from; i < test.to; i++ {
			e, _ := entry(i)
			want = append(want, e)
		}
		same(t, get(t, s, func(r store.Reader) ([]store.Entry, error) { return r.Entries(test.first, test.end) }), want)
	}
}

func testLogOrder(t *testing.T, s store.Store) {
	appendEntries(t, s, 3)
	for _, index := range []int64{0, 2, 4} {
		refused(t, s, store.ErrConflict, func(tx store.Tx) error {
			if _, err := tx.LockLog(); err != nil {
				return err
			}
			e, hashes := entry(index)
			return tx.AppendEntry(e, hashes)
		})
	}
	// Entry 3 completes the trees of 1, 2 and 4 entries.
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if _, err := tx.LockLog(); err != nil {
			return err
		}
		e, hashes := entry(3)
		return tx.AppendEntry(e, hashes[:2])
	})
	if err == nil {
		t.Error("an entry without one of its hashes was accepted")
	}
	same(t, get(t, s, store.Reader.LogHead), store.LogHead{Size: 3, Time: instant(2)})
}

func testLogHashes(t *testing.T, s store.Store) {
	const entries = 37
	appendEntries(t, s, entries)
	var places []int64
	var want [][32]byte
	place := int64(0)
	for i := range int64(entries) {
		_, hashes := entry(i)
		for _, h := range hashes {
			places, want = append(places, place), append(want, h)
			place++
		}
	}
	read := func(places ...int64) func(store.Reader) ([][32]byte, error) {
		return func(r store.Reader) ([][32]byte, error) { return r.LogHashes(places) }
	}
	same(t, get(t, s, read(places...)), want)
	same(t, get(t, s, read(5, 3, 5, 0)), [][32]byte{want[5], want[3], want[5], want[0]})
	same(t, get(t, s, store.Reader.Counts), store.Counts{Entries: entries, Hashes: place})
	missing(t, s, read(0, place))
	missing(t, s, read(-1))
}

func testCheckpoints(t *testing.T, s store.Store) {
	at := func(size int64) store.Checkpoint {
		return store.Checkpoint{Size: size, Note: fmt.Sprint("note ", size)}
	}
	for _, size := range []int64{0, 4, 10} {
		update(t, s, func(tx store.Tx) error { return tx.AddCheckpoint(at(size)) })
	}
	refused(t, s, store.ErrExists, func(tx store.Tx) error {
		return tx.AddCheckpoint(store.Checkpoint{Size: 4, Note: "another root"})
	})
	read := func(size int64) func(store.Reader) (store.Checkpoint, error) {
		return func(r store.Reader) (store.Checkpoint, error) { return r.Checkpoint(size) }
	}
	for size, want := range map[int64]int64{0: 0, 1: 4, 4: 4, 5: 10, 10: 10} {
		same(t, get(t, s, read(size)), at(want))
	}
	missing(t, s, read(11))
	same(t, get(t, s, store.Reader.LatestCheckpoint), at(10))

	cosigned := func(size int64) func(store.Reader) (store.Checkpoint, error) {
		return func(r store.Reader) (store.Checkpoint, error) { return r.Cosigned(size) }
	}
	missing(t, s, cosigned(0))
	missing(t, s, store.Reader.LatestCosigned)
	want := store.Checkpoint{Size: 4, Note: "note 4", Cosigned: "note 4\n— witness"}
	update(t, s, func(tx store.Tx) error { return tx.SetCosigned(4, want.Cosigned) })
	same(t, get(t, s, read(1)), want)
	same(t, get(t, s, cosigned(0)), want)
	same(t, get(t, s, cosigned(4)), want)
	missing(t, s, cosigned(5))
	same(t, get(t, s, store.Reader.LatestCosigned), want)
	same(t, get(t, s, store.Reader.LatestCheckpoint), at(10))
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.SetCosigned(4, "other lines") })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.SetCosigned(5, "note 5") })
}

func testArchives(t *testing.T, s store.Store) {
	a := store.Archive{Hash: hash("archive"), Sequence: "q1", Sealed: []byte("sealed")}
	update(t, s, func(tx store.Tx) error { return tx.AddArchive(a) })
	same(t, get(t, s, func(r store.Reader) (store.Archive, error) { return r.Archive(a.Hash) }), a)
	same(t, get(t, s, func(r store.Reader) (store.Archive, error) { return r.ArchiveOf("q1") }), a)
	missing(t, s, func(r store.Reader) (store.Archive, error) { return r.Archive(hash("other")) })
	missing(t, s, func(r store.Reader) (store.Archive, error) { return r.ArchiveOf("q2") })
	refused(t, s, store.ErrExists, func(tx store.Tx) error {
		return tx.AddArchive(store.Archive{Hash: a.Hash, Sequence: "q2", Sealed: []byte("x")})
	})
	refused(t, s, store.ErrExists, func(tx store.Tx) error {
		return tx.AddArchive(store.Archive{Hash: hash("other"), Sequence: "q1", Sealed: []byte("x")})
	})
}
