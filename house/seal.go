package house

import (
	"context"
	"fmt"
	"time"

	"fairdice/commitment"
	"fairdice/store"
)

// SealBatch is how many sequences are sealed in one transaction.
const SealBatch = 64

// MaxSealAhead is how far beyond the last sealed number one request may reach.
const MaxSealAhead = 256

func parseMode(text string) (commitment.Mode, error) {
	m, err := commitment.ParseMode(text)
	if err != nil {
		return m, refuse(Invalid, "unknown mode %q", text)
	}
	return m, nil
}

// sealable refuses the mode whose sequences cannot be made out of nothing.
func sealable(m commitment.Mode) error {
	if m == commitment.Real {
		return refuse(Invalid, "sequences of mode %s are made of recorded throws: import some", m)
	}
	return nil
}

// Sealable are the ids of the modes whose sequences the house makes by itself: all but real.
func Sealable() []string {
	var ids []string
	for _, m := range commitment.Modes() {
		if sealable(m) == nil {
			ids = append(ids, m.String())
		}
	}
	return ids
}

// sealed is a sequence made but not yet committed.
type sealed struct {
	row     store.Sequence
	commit  commitment.Commit
	archive *store.Archive // mode real
}

// makeSequence draws a secret from the system and computes everything its
// commit says; the number is given in the transaction. archive is nil but for
// mode real.
func (h *House) makeSequence(tenant string, mode commitment.Mode, archive *commitment.Archive) (sealed, error) {
	id, err := h.newID()
	if err != nil {
		return sealed{}, err
	}
	secret, err := commitment.NewSecret(h.random)
	if err != nil {
		return sealed{}, fmt.Errorf("make secret: %w", err)
	}
	seq, err := commitment.Build(secret, id, mode, h.rolls, commitment.NoCut, archive)
	if err != nil {
		return sealed{}, fmt.Errorf("build sequence: %w", err)
	}
	blob, err := h.master.seal(secret, id)
	if err != nil {
		return sealed{}, err
	}
	hash, root := secret.Hash(), seq.Root()
	made := sealed{
		row: store.Sequence{ID: id, Tenant: tenant, Mode: mode.String(), Rolls: h.rolls, Sealed: blob,
			SecretHash: hash, Root: root, State: store.Free},
		commit: commitment.Commit{Log: h.origin, Tenant: tenant, Mode: mode, Sequence: id, Rolls: h.rolls,
			SecretHash: hash, Root: root},
	}
	if archive != nil {
		blob, err := h.master.encrypt(forArchive, archive.Text(), id)
		if err != nil {
			return sealed{}, err
		}
		name := archive.Hash()
		made.archive = &store.Archive{Hash: name, Sequence: id, Sealed: blob}
		made.commit.Archive = &name
	}
	return made, nil
}

func (h *House) makeSequences(tenant string, mode commitment.Mode, n int) ([]sealed, error) {
	made := make([]sealed, n)
	for i := range made {
		var err error
		if made[i], err = h.makeSequence(tenant, mode, nil); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// commit numbers sequences without a gap from the next free number and publishes them.
func (h *House) commit(tx store.Tx, made []sealed) error {
	w, err := h.lockLog(tx)
	if err != nil {
		return err
	}
	next := make(map[[2]string]uint64) // by tenant and mode: asked of the store once, for in it this is a count
	for _, s := range made {
		kind := [2]string{s.row.Tenant, s.row.Mode}
		if _, known := next[kind]; !known {
			pool, err := tx.Pool(s.row.Tenant, s.row.Mode)
			if err != nil {
				return fmt.Errorf("read pool: %w", err)
			}
			next[kind] = pool.Next
		}
		s.row.Number, s.commit.Number = next[kind], next[kind]
		next[kind]++
		s.row.Committed, s.commit.Time = w.at, w.at
		if s.row.Index, err = w.append(s.commit); err != nil {
			return err
		}
		if err := tx.AddSequence(s.row); err != nil {
			return fmt.Errorf("add sequence: %w", err)
		}
		if s.archive != nil {
			if err := tx.AddArchive(*s.archive); err != nil {
				return fmt.Errorf("add archive: %w", err)
			}
		}
	}
	return nil
}

// TopUp seals until the tenant has that many free sequences of the mode.
func (h *House) TopUp(ctx context.Context, tenant, mode string, free int) (err error) {
	m, err := parseMode(mode)
	if err == nil {
		err = sealable(m)
	}
	if err != nil {
		return err
	}
	defer func() {
		if ctx.Err() == nil {
			h.observer.ToppedUp(tenant, mode, err)
		}
	}()
	for {
		var pool store.Pool
		if err := h.store.View(ctx, func(r store.Reader) (err error) {
			pool, err = r.Pool(tenant, mode)
			return err
		}); err != nil {
			return fmt.Errorf("read pool: %w", err)
		}
		missing := free - pool.Free
		if missing <= 0 {
			break
		}
		made, err := h.makeSequences(tenant, m, min(missing, SealBatch))
		if err != nil {
			return err
		}
		if err := h.store.Update(ctx, func(tx store.Tx) error { return h.commit(tx, made) }); err != nil {
			return fmt.Errorf("seal sequences: %w", err)
		}
		h.signer.poke()
	}
	return nil
}

// PoolMarks steer the pool of free sequences of a tenant and mode: an assign
// that leaves fewer than Low starts a background top-up to Full.
type PoolMarks struct{ Low, Full int }

// DefaultPool lasts for many games, and is sealed in a fraction of a second.
var DefaultPool = PoolMarks{Low: 16, Full: 64}

// retryPool is when to ask again for a sequence.
const retryPool = time.Second

func (h *House) refillIfLow(tenant, mode string) {
	var pool store.Pool
	err := h.store.View(h.ctx, func(r store.Reader) (err error) {
		pool, err = r.Pool(tenant, mode)
		return err
	})
	if err == nil && pool.Free < h.pool.Low {
		h.warnLow(tenant, mode, pool)
		h.refill(tenant, mode)
	}
}

// refill tops up in the background, one run per tenant and mode, until the log ends.
func (h *House) refill(tenant, mode string) {
	if mode == commitment.Real.String() {
		return
	}
	key := tenant + "/" + mode
	if _, running := h.topping.LoadOrStore(key, struct{}{}); running {
		return
	}
	h.refills.Lock()
	defer h.refills.Unlock()
	if h.ended {
		h.topping.Delete(key)
		return
	}
	h.topUps.Add(1)
	go func() {
		defer h.topUps.Done()
		defer h.topping.Delete(key)
		if err := h.TopUp(h.ctx, tenant, mode, h.pool.Full); err != nil && h.ctx.Err() == nil {
			h.log.Error("sealing failed", "tenant", tenant, "mode", mode, "error", err)
		}
	}()
}

// Seal makes sure that the tenant's sequence with that number of the mode
// exists, and seals those before it that are missing.
func (h *House) Seal(ctx context.Context, p Principal, mode string, number uint64, since int64) (SealAnswer, error) {
	if err := h.checkSince(ctx, since); err != nil {
		return SealAnswer{}, err
	}
	if err := p.need(ScopeSeal); err != nil {
		return SealAnswer{}, err
	}
	m, err := parseMode(mode)
	if err == nil {
		err = sealable(m)
	}
	if err != nil {
		return SealAnswer{}, err
	}
	find := func() (row store.Sequence, next uint64, err error) {
		err = h.store.View(ctx, func(r store.Reader) error {
			pool, err := r.Pool(p.Tenant, mode)
			if err != nil {
				return fmt.Errorf("read pool: %w", err)
			}
			next = pool.Next
			rows, err := r.Sequences(p.Tenant, mode, number, 1)
			if err == nil && len(rows) == 1 && rows[0].Number == number {
				row = rows[0]
			}
			return err
		})
		return row, next, err
	}
	row, next, err := find()
	if err != nil {
		return SealAnswer{}, err
	}
	if row.ID == "" {
		if number >= next+MaxSealAhead {
			return SealAnswer{}, refuse(OutOfOrder, "the next number of mode %s is %d; one request seals at most %d", mode, next, MaxSealAhead)
		}
		made, err := h.makeSequences(p.Tenant, m, int(number-next)+1)
		if err != nil {
			return SealAnswer{}, err
		}
		err = h.update(ctx, func(tx store.Tx) error {
			// Before the pool is read: a lock that comes later than what
			// was read may be too late for it, and then all of this runs again.
			if _, err := h.lockLog(tx); err != nil {
				return err
			}
			pool, err := tx.Pool(p.Tenant, mode)
			if err != nil {
				return fmt.Errorf("read pool: %w", err)
			}
			if pool.Next > number { // somebody else has sealed meanwhile
				return nil
			}
			return h.commit(tx, made[:number-pool.Next+1])
		})
		if err != nil {
			return SealAnswer{}, fmt.Errorf("seal sequences: %w", err)
		}
		if row, _, err = find(); err != nil {
			return SealAnswer{}, err
		}
	}
	pub, err := h.published(ctx, since, row.Index)
	return SealAnswer{Sequence: row.ID, Mode: mode, Number: number, Published: pub}, err
}

// Retire publishes the secret of a free sequence, which can never be used then.
func (h *House) Retire(ctx context.Context, p Principal, sequence, reason string, since int64) (RetireAnswer, error) {
	if err := h.checkSince(ctx, since); err != nil {
		return RetireAnswer{}, err
	}
	if err := p.need(ScopeSeal); err != nil {
		return RetireAnswer{}, err
	}
	if err := checkID("sequence", sequence); err != nil {
		return RetireAnswer{}, err
	}
	if !isToken(reason) {
		return RetireAnswer{}, refuse(Malformed, "reason %q is not 1 to 64 of A-Z a-z 0-9 . _ -", reason)
	}
	index, err := h.retire(ctx, sequence, p.Tenant, reason)
	if err != nil {
		return RetireAnswer{}, err
	}
	pub, err := h.published(ctx, since, index)
	if err != nil {
		return RetireAnswer{}, err
	}
	s, err := commitment.Parse([]byte(pub.Statements[0].Text))
	if err != nil {
		return RetireAnswer{}, fmt.Errorf("read retire: %w", err)
	}
	if old, ok := s.(commitment.Retire); !ok || old.Reason != reason {
		return RetireAnswer{}, refuse(OtherContent, "sequence %s was retired for another reason", sequence)
	}
	return RetireAnswer{Sequence: sequence, Published: pub}, nil
}

// checkMaster stops a house with the wrong master key before it has dealt or
// sealed anything.
func (h *House) checkMaster(ctx context.Context) error {
	return h.store.View(ctx, h.master.Check)
}

// Check opens one sealed secret of the database, and fails if this is not the
// key it was sealed under. A database without sequences fits every key.
func (m MasterKey) Check(r store.Reader) error {
	head, err := r.LogHead()
	if err != nil {
		return fmt.Errorf("read log head: %w", err)
	}
	for first := int64(0); first < head.Size; first += SealBatch {
		entries, err := r.Entries(first, first+SealBatch)
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		for _, e := range entries {
			s, err := commitment.Parse(e.Text)
			if err != nil {
				return fmt.Errorf("read statement %d: %w", e.Index, err)
			}
			c, ok := s.(commitment.Commit)
			if !ok {
				continue
			}
			q, err := r.Sequence(c.Sequence)
			if err != nil {
				return fmt.Errorf("read sequence %s: %w", c.Sequence, err)
			}
			if _, err := m.open(q.Sealed, q.ID); err != nil {
				return fmt.Errorf("check master key: this is not the key the database was sealed under: %w", err)
			}
			return nil
		}
	}
	return nil
}
