package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"fairdice/store"

	driverlib "modernc.org/sqlite"
)

//go:embed memory/*.sql
var memoryFiles embed.FS

// memoryID marks a witness's file ("fdiw"): it must not be opened as a service's.
const memoryID = 0x66646977

// memory has one connection: a witness is asked a few times a second.
type memory struct {
	lock *os.File // nil if it was opened to be read
	mu   sync.Mutex
	conn *conn // nil when closed
}

// OpenMemory opens a witness's database file, or creates it for this user
// alone. It fails with ErrLocked if another process has it open.
func OpenMemory(path string) (store.Memory, error) {
	lock, err := lock(path)
	if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	c, err := openMemory(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open memory %s: %w", path, err), lock.Close())
	}
	return &memory{lock: lock, conn: c}, nil
}

func openMemory(path string) (*conn, error) {
	if err := create(path); err != nil {
		return nil, err
	}
	driverlib.Fdatasync(true)
	c, err := connect(path, readWrite, "busy_timeout = 5000", "journal_mode = WAL", "synchronous = FULL")
	if err != nil {
		return nil, err
	}
	scripts, err := scriptsIn(memoryFiles, "memory")
	if err == nil {
		err = migrate(c, memoryID, scripts, time.Now())
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// ReadMemory opens a witness's database to look at it, also beside the process that uses it.
func ReadMemory(path string) (store.Memory, error) {
	c, err := connect(path, readOnly, "busy_timeout = 5000")
	if err != nil {
		return nil, fmt.Errorf("read memory: %w", err)
	}
	if version, err := schemaVersion(c, memoryID); err != nil || version == 0 {
		return nil, errors.Join(fmt.Errorf("read memory %s: it is not a witness's database", path), err, c.close())
	}
	return &memory{conn: c}, nil
}

// use serialises the connection. Statements of one call are one transaction.
func (m *memory) use(ctx context.Context, begin string, fn func(*tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil {
		return fmt.Errorf("use memory: %w", os.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c := m.conn
	_, err := c.exec(begin)
	if err == nil {
		if err = fn(&tx{reader{conn: c}}); err == nil {
			_, err = c.exec("COMMIT")
		}
	}
	if err != nil {
		c.fatal = nil
		c.exec("ROLLBACK") // fails if SQLite has done so already
		c.fatal = nil
	}
	return err
}

const selectWitnessed = "SELECT origin, size, root, note, time, cosigned FROM witnessed "

func scanWitnessed(r *row) store.Witnessed {
	return store.Witnessed{
		Origin: r.text(0), Size: r.int64(1), Root: r.hash(2), Note: r.text(3), Time: r.time(4), Cosigned: r.bool(5),
	}
}

func lastWitnessed(t *tx, origin string) (store.Witnessed, error) {
	return one(&t.reader, scanWitnessed, selectWitnessed+"WHERE origin = ? AND cosigned = 1 ORDER BY size DESC LIMIT 1", origin)
}

func (m *memory) Last(ctx context.Context, origin string) (w store.Witnessed, err error) {
	err = m.use(ctx, "BEGIN", func(t *tx) error {
		w, err = lastWitnessed(t, origin)
		return err
	})
	return w, wrap(err, "read last checkpoint of %s", origin)
}

func (m *memory) Advance(ctx context.Context, from int64, next store.Witnessed) (advanced bool, err error) {
	err = m.use(ctx, "BEGIN IMMEDIATE", func(t *tx) error {
		last, err := lastWitnessed(t, next.Origin)
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		if advanced = err == nil && last.Size == from && next.Size > from; !advanced {
			return err
		}
		// A checkpoint that was refused once, for its proof, may be right now.
		_, err = t.conn.exec(`INSERT INTO witnessed (origin, size, root, note, time, cosigned) VALUES (?, ?, ?, ?, ?, 1)
			ON CONFLICT (origin, size, root) DO UPDATE SET cosigned = 1, time = excluded.time`,
			next.Origin, next.Size, next.Root, next.Note, next.Time)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("remember checkpoint of %s: %w", next.Origin, err)
	}
	return advanced, nil
}

func (m *memory) Keep(ctx context.Context, w store.Witnessed) error {
	err := m.use(ctx, "BEGIN IMMEDIATE", func(t *tx) error {
		_, err := t.conn.exec(`INSERT INTO witnessed (origin, size, root, note, time, cosigned) SELECT ?1, ?2, ?3, ?4, ?5, 0
			WHERE (SELECT count(*) FROM witnessed WHERE origin = ?1 AND cosigned = 0) < ?6
			ON CONFLICT (origin, size, root) DO NOTHING`, w.Origin, w.Size, w.Root, w.Note, w.Time, store.MaxRefused)
		return err
	})
	return wrap(err, "keep refused checkpoint of %s", w.Origin)
}

func (m *memory) list(ctx context.Context, where string, args ...any) (ws []store.Witnessed, err error) {
	err = m.use(ctx, "BEGIN", func(t *tx) error {
		ws, err = list(&t.reader, scanWitnessed, selectWitnessed+where, args...)
		return err
	})
	return ws, wrap(err, "list checkpoints")
}

func (m *memory) OfSize(ctx context.Context, origin string, size int64) ([]store.Witnessed, error) {
	return m.list(ctx, "WHERE origin = ? AND size = ? ORDER BY root", origin, size)
}

func (m *memory) Refused(ctx context.Context) ([]store.Witnessed, error) {
	return m.list(ctx, "WHERE cosigned = 0 ORDER BY origin, size, root")
}

func (m *memory) Splits(ctx context.Context) (pairs [][2]store.Witnessed, err error) {
	// At least one of the two was refused, so the index of those finds all.
	ws, err := m.list(ctx, `w WHERE EXISTS (SELECT 1 FROM witnessed x WHERE x.cosigned = 0 AND x.origin = w.origin AND x.size = w.size)
		ORDER BY origin, size, cosigned DESC, root`)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(ws); {
		j := i + 1
		for ; j < len(ws) && ws[j].Origin == ws[i].Origin && ws[j].Size == ws[i].Size; j++ {
			pairs = append(pairs, [2]store.Witnessed{ws[i], ws[j]})
		}
		i = j
	}
	return pairs, nil
}

func (m *memory) Watched(ctx context.Context) (logs []store.Watched, err error) {
	err = m.use(ctx, "BEGIN", func(t *tx) error {
		logs, err = list(&t.reader, func(r *row) store.Watched {
			return store.Watched{Last: store.Witnessed{Origin: r.text(0)}, Cosigned: r.int64(1), Refused: r.int64(2)}
		}, "SELECT origin, sum(cosigned), sum(1 - cosigned) FROM witnessed GROUP BY origin ORDER BY origin")
		for i := 0; err == nil && i < len(logs); i++ {
			last, e := lastWitnessed(t, logs[i].Last.Origin)
			if e == nil {
				logs[i].Last = last
			} else if !errors.Is(e, store.ErrNotFound) {
				err = e
			}
		}
		return err
	})
	return logs, wrap(err, "sum up logs")
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn == nil {
		return nil
	}
	err := m.conn.close()
	m.conn = nil
	if m.lock != nil {
		err = errors.Join(err, m.lock.Close())
	}
	return err
}
