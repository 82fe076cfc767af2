package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"fairdice/store"
)

// MaxGroup is how many updates share one transaction at most.
const MaxGroup = 128

// groupsAtOnce is how many such transactions are under way: one that the server
// works on, while the other waits for its disk.
const groupsAtOnce = 2

// groups commits updates that have only written, such as draws, several in one
// transaction: a transaction of its own costs the server more than what a draw
// writes, and its commit a flush of the disk.
//
// Such an update has seen nothing, so it does not matter at which moment its
// writes are carried out, one after the other with those of the others; each of
// them names the version that it replaces. What can become of a group:
//
//   - COMMIT is acknowledged: all of it is on the disk, all callers hear so;
//   - one write finds another row than it had to, or any other error of the
//     server: nothing of the group is there. Each update then runs in a
//     transaction of its own, so the others do not suffer by the one, and the
//     one learns what it was;
//   - the connection is lost after COMMIT was sent: all callers hear that
//     nobody knows (store.ErrUncertain);
//   - the server cannot be reached: each update tries by itself, as long as its
//     caller has patience.
type groups struct {
	mu      sync.Mutex
	waiting []*member
	running int
}

// member is an update that waits for its group.
type member struct {
	queue []call
	row   string // the first that it replaces
	done  chan outcome
}

type outcome struct {
	alone bool // no group has tried it, or one has and was rolled back
	again bool
	err   error
}

// together commits what the session has queued in a transaction with others.
// It may leave with its context before a group has taken it, not later: like a
// COMMIT that was sent, it has to be waited for.
func (db *database) together(s *session) outcome {
	g, m := &db.groups, &member{queue: s.queue, row: s.row, done: make(chan outcome, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, m)
	if g.running < groupsAtOnce {
		g.running++
		go db.runGroups()
	}
	g.mu.Unlock()
	select {
	case o := <-m.done:
		return o
	case <-s.ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting, m)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	g.mu.Unlock()
	if i >= 0 {
		return outcome{err: s.ctx.Err()}
	}
	return <-m.done
}

// runGroups commits one group after the other until nobody waits.
func (db *database) runGroups() {
	for {
		g := &db.groups
		g.mu.Lock()
		members := slices.Clone(g.waiting[:min(len(g.waiting), MaxGroup)])
		g.waiting = slices.Delete(g.waiting, 0, len(members))
		if len(members) == 0 {
			g.running--
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		o := db.runGroup(members)
		for _, m := range members {
			m.done <- o
		}
	}
}

func (db *database) runGroup(members []*member) outcome {
	// Two groups, of two instances perhaps, lock their rows in the same order,
	// so that neither waits for the other.
	slices.SortStableFunc(members, func(a, b *member) int { return cmp.Compare(a.row, b.row) })
	ctx, cancel := context.WithTimeout(context.Background(), ConnectPatience)
	defer cancel()
	s := db.session(ctx, beginUpdate)
	for _, m := range members {
		s.queue = append(s.queue, m.queue...)
	}
	again, err := s.commit()
	s.end() // before anybody tries again what it may still have locked
	switch {
	case err == nil, errors.Is(err, store.ErrUncertain):
		return outcome{err: err}
	case len(members) > 1 || ctx.Err() != nil:
		return outcome{alone: true}
	}
	return outcome{again: again, err: err}
}

// rowName names a row by its key, for the order of a group.
func rowName(key []any) string { return fmt.Sprint(key...) }
