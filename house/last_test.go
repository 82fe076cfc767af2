package house_test

import (
	"context"
	"testing"

	"fairdice/house"
	"fairdice/store"
	"fairdice/translog"
)

// TestEndLog: a log ends when nothing runs any more, with every secret
// published and a last checkpoint that the witnesses have cosigned.
func TestEndLog(t *testing.T) {
	w := newWorld(t)
	p := w.mustStart(w.dir, nil)
	w.grow(p, 3)
	w.bench.House, w.bench.config = p.House, w.config
	w.bench.config.Store = p.store
	m := w.bench.open("short", single, nil, nil)
	m.begin(1)
	_, err := p.EndLog(t.Context(), "new-key")
	code(t, err, house.NotDue)
	if _, err := p.AbortGame(t.Context(), everyScope, m.id, 1, "log-ends", 0); err != nil {
		t.Fatal(err)
	}
	_, err = p.EndLog(t.Context(), "not a token")
	code(t, err, house.Malformed)
	last, err := p.EndLog(t.Context(), "new-key")
	if err != nil {
		t.Fatal(err)
	}
	cp, err := translog.OpenCheckpoint(last, w.config.LogVerifier)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.config.Policy.Check(last, -1); err != nil {
		t.Error(err)
	}
	var head store.LogHead
	var free []store.Sequence
	if err := p.store.View(context.Background(), func(r store.Reader) (err error) {
		if head, err = r.LogHead(); err == nil {
			free, err = r.Unused(head.Time.AddDate(100, 0, 0), 0, 1)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if cp.Size != head.Size || len(free) != 0 {
		t.Errorf("the last checkpoint has %d of %d statements, %d sequences are free", cp.Size, head.Size, len(free))
	}
	if again, err := p.EndLog(t.Context(), "new-key"); err != nil || again != last {
		t.Errorf("ended again: %v, %q", err, again)
	}
	w.look(p)
	w.bench.House = nil
}
