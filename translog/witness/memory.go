package witness

import (
	"context"
	"slices"
	"strings"
	"sync"

	"fairdice/store"
)

// InMemory is a memory for tests and demonstrations; it forgets when the
// process ends, and with it the witness's promise.
func InMemory() store.Memory { return &inMemory{} }

type inMemory struct {
	mu sync.Mutex
	ws []store.Witnessed // by origin, size, cosigned first
}

func (m *inMemory) last(origin string) (last store.Witnessed) {
	for _, w := range m.ws {
		if w.Origin == origin && w.Cosigned && w.Size > last.Size {
			last = w
		}
	}
	return last
}

func (m *inMemory) Last(_ context.Context, origin string) (store.Witnessed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.last(origin)
	if last.Size == 0 {
		return last, store.ErrNotFound
	}
	return last, nil
}

func (m *inMemory) Advance(_ context.Context, from int64, next store.Witnessed) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last(next.Origin).Size != from || next.Size <= from {
		return false, nil
	}
	m.ws = slices.DeleteFunc(m.ws, func(w store.Witnessed) bool { return same(w, next) })
	next.Cosigned = true
	m.put(next)
	return true, nil
}

func (m *inMemory) Keep(_ context.Context, w store.Witnessed) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	refused := 0
	for _, old := range m.ws {
		if same(old, w) {
			return nil
		}
		if old.Origin == w.Origin && !old.Cosigned {
			refused++
		}
	}
	if refused < store.MaxRefused {
		w.Cosigned = false
		m.put(w)
	}
	return nil
}

func same(a, b store.Witnessed) bool {
	return a.Origin == b.Origin && a.Size == b.Size && a.Root == b.Root
}

func (m *inMemory) put(w store.Witnessed) {
	m.ws = append(m.ws, w)
	slices.SortStableFunc(m.ws, func(a, b store.Witnessed) int {
		switch {
		case a.Origin != b.Origin:
			return strings.Compare(a.Origin, b.Origin)
		case a.Size != b.Size:
			return int(a.Size - b.Size)
		case a.Cosigned != b.Cosigned && a.Cosigned:
			return -1
		case a.Cosigned != b.Cosigned:
			return 1
		}
		return strings.Compare(string(a.Root[:]), string(b.Root[:]))
	})
}

func (m *inMemory) filter(keep func(store.Witnessed) bool) []store.Witnessed {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ws []store.Witnessed
	for _, w := range m.ws {
		if keep(w) {
			ws = append(ws, w)
		}
	}
	return ws
}

func (m *inMemory) OfSize(_ context.Context, origin string, size int64) ([]store.Witnessed, error) {
	return m.filter(func(w store.Witnessed) bool { return w.Origin == origin && w.Size == size }), nil
}

func (m *inMemory) Refused(context.Context) ([]store.Witnessed, error) {
	return m.filter(func(w store.Witnessed) bool { return !w.Cosigned }), nil
}

func (m *inMemory) Splits(context.Context) (pairs [][2]store.Witnessed, err error) {
	ws := m.filter(func(store.Witnessed) bool { return true })
	for i := 0; i < len(ws); {
		j := i + 1
		for ; j < len(ws) && ws[j].Origin == ws[i].Origin && ws[j].Size == ws[i].Size; j++ {
			pairs = append(pairs, [2]store.Witnessed{ws[i], ws[j]})
		}
		i = j
	}
	return pairs, nil
}

func (m *inMemory) Watched(context.Context) (logs []store.Watched, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.ws {
		if len(logs) == 0 || logs[len(logs)-1].Last.Origin != w.Origin {
			logs = append(logs, store.Watched{Last: store.Witnessed{Origin: w.Origin}})
		}
		l := &logs[len(logs)-1]
		if w.Cosigned {
			l.Cosigned, l.Last = l.Cosigned+1, w
		} else {
			l.Refused++
		}
	}
	return logs, nil
}

func (m *inMemory) Close() error { return nil }
