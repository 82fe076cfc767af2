package house

import (
	"context"
	"errors"
	"fmt"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
)

// OpenMatch opens a match under an id the caller has chosen.
func (h *House) OpenMatch(ctx context.Context, p Principal, req OpenRequest) (OpenAnswer, error) {
	if err := h.checkSince(ctx, req.Since); err != nil {
		return OpenAnswer{}, err
	}
	if err := p.need(ScopeMatch); err != nil {
		return OpenAnswer{}, err
	}
	open, err := h.check(p, req)
	if err != nil {
		return OpenAnswer{}, err
	}
	var index int64
	err = h.update(ctx, func(tx store.Tx) error {
		row, err := tx.Match(req.Match)
		switch {
		case err == nil:
			index = row.Open
			return sameOpen(tx, row, open)
		case !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("read match: %w", err)
		}
		w, err := h.lockLog(tx)
		if err != nil {
			return err
		}
		row = store.Match{ID: req.Match, Tenant: p.Tenant, Finish: -1}
		for i, a := range []*commitment.Anchor{open.AnchorA, open.AnchorB} {
			if a == nil {
				continue
			}
			row.Tip[i] = a.Hash
			// An anchor used before would let whoever saw the old match know the links of this one.
			if err := tx.Spend(a.Hash); errors.Is(err, store.ErrExists) {
				return refuse(Invalid, "anchor-%c was used before; make a new one for every match", 'a'+i)
			} else if err != nil {
				return fmt.Errorf("spend anchor: %w", err)
			}
		}
		open := open
		open.Time = w.at
		if index, err = h.tell(w, p.Tenant, open); err != nil {
			return err
		}
		row.Open = index
		return tx.AddMatch(row)
	})
	if err != nil {
		return OpenAnswer{}, err
	}
	pub, err := h.published(ctx, req.Since, index)
	return OpenAnswer{Match: req.Match, ViewToken: h.master.viewToken(req.Match), Published: pub}, err
}

// check translates a request into an open statement without a time, and says
// everything about it that cannot be.
func (h *House) check(p Principal, req OpenRequest) (commitment.Open, error) {
	var none commitment.Open
	if err := checkID("match", req.Match); err != nil {
		return none, err
	}
	v, err := rules.Lookup(req.Variant)
	if err != nil {
		return none, refuse(Invalid, "unknown variant %q", req.Variant)
	}
	o, err := replay.ParseOptions(req.Options)
	if err != nil {
		return none, refuse(Invalid, "%s", err)
	}
	if err := o.Validate(v); err != nil {
		return none, refuse(Invalid, "%s", err)
	}
	mode, err := parseMode(req.Mode)
	if err != nil {
		return none, err
	}
	profile, err := commitment.ParseProfile(req.Profile)
	if err != nil {
		return none, refuse(Invalid, "unknown profile %q; the profiles are %s and %s", req.Profile, commitment.Refereed, commitment.DiceOnly)
	}
	if req.Beacon && h.beacon == nil {
		return none, refuse(Invalid, "this service has no beacon relay, so it offers no matches with a beacon")
	}
	for i, name := range []string{req.A, req.B} {
		if !isToken(name) {
			return none, refuse(Invalid, "player %c: %q is not 1 to 64 of A-Z a-z 0-9 . _ -", 'a'+i, name)
		}
	}
	if req.A == req.B {
		return none, refuse(Invalid, "the two players are the same: %q", req.A)
	}
	if req.AnchorA != nil && req.AnchorB != nil && req.AnchorA.Hash == req.AnchorB.Hash {
		return none, refuse(Invalid, "the two anchors are the same")
	}
	if mode == commitment.Live && (req.AnchorA == nil || req.AnchorB == nil || profile != commitment.Refereed) {
		return none, refuse(Invalid, "mode %s needs an anchor of each player and the profile %s", mode, commitment.Refereed)
	}
	return commitment.Open{
		Log: h.origin, Match: req.Match, Tenant: p.Tenant, Variant: v.ID,
		RulesVersion: rules.Version, RulesHash: v.Hash(), Mode: mode, Profile: profile, Beacon: req.Beacon,
		Options: o.String(), A: req.A, B: req.B, AnchorA: req.AnchorA, AnchorB: req.AnchorB,
		ReceiptKey: h.receiptKey,
	}, nil
}

// sameOpen compares a request with the open it would repeat. What the house
// itself put there (time, receipt key, rules version) is no part of the request.
func sameOpen(r store.Reader, row store.Match, asked commitment.Open) error {
	old, err := readStatement[commitment.Open](r, row.Open)
	if err != nil {
		return err
	}
	asked.Time, asked.ReceiptKey = old.Time, old.ReceiptKey
	asked.RulesVersion, asked.RulesHash, asked.Log = old.RulesVersion, old.RulesHash, old.Log
	if string(asked.Text()) != string(old.Text()) {
		return refuse(OtherContent, "match %s was opened with other content", row.ID)
	}
	return nil
}

// NextGame assigns a sequence to the next game of a match; where no player
// takes part in the cut it is dealt at once.
func (h *House) NextGame(ctx context.Context, p Principal, match string, number int, since int64) (GameAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (GameAnswer, error) {
		return h.nextGameOnce(ctx, p, match, number, since)
	})
}

func (h *House) nextGameOnce(ctx context.Context, p Principal, match string, number int, since int64) (GameAnswer, error) {
	if err := h.checkSince(ctx, since); err != nil {
		return GameAnswer{}, err
	}
	if err := p.need(ScopeMatch); err != nil {
		return GameAnswer{}, err
	}
	t, err := h.table(ctx, match)
	if err != nil {
		return GameAnswer{}, err
	}
	defer t.unlock()
	if err := p.owns(t.row.Tenant, match); err != nil {
		return GameAnswer{}, err
	}
	if number < 1 || number > t.row.Games+1 {
		return GameAnswer{}, refuse(OutOfOrder, "the next game of the match is %d", t.row.Games+1)
	}
	if number == t.row.Games+1 {
		if err := t.startGame(ctx); err != nil {
			return GameAnswer{}, err
		}
	}
	g, err := t.at(ctx, number)
	if err != nil {
		return GameAnswer{}, err
	}
	return t.assignAnswer(ctx, g, 1, since)
}

// assignAnswer is what assigning a segment answered, then and now.
func (t *table) assignAnswer(ctx context.Context, g *game, n int, since int64) (GameAnswer, error) {
	s, err := g.segment(n)
	if err != nil {
		return GameAnswer{}, err
	}
	a := GameAnswer{Match: t.id, Game: g.row.Number, Segment: n}
	indexes := []int64{s.row.Assign}
	switch {
	case t.hasAnchor():
		a.State = "awaiting-links"
	case t.open.Beacon:
		a.State = "awaiting-beacon"
	default:
		a.State = "dealt"
		indexes = append(indexes, s.row.Deal)
	}
	a.Published, err = t.house.published(ctx, since, indexes...)
	return a, err
}

func (t *table) hasAnchor() bool { return t.open.AnchorA != nil || t.open.AnchorB != nil }

func (t *table) startGame(ctx context.Context) error {
	switch {
	case t.row.Finish >= 0:
		return refuse(MatchEnded, "the match is finished")
	case t.game != nil && t.game.row.End < 0:
		return refuse(NotDue, "game %d is not closed yet", t.game.row.Number)
	case t.series.Over():
		return refuse(MatchEnded, "the match is decided")
	}
	set := t.series.Next()
	row := store.Game{Match: t.id, Number: t.row.Games + 1, Score: set.Score, Crawford: set.Crawford, End: -1}
	g, err := t.newGame(row)
	if err != nil {
		return fmt.Errorf("start game %d: %w", row.Number, err)
	}
	g.row.Head = g.header.Head()
	match := t.row
	match.Games++
	var seg segment
	err = t.update(ctx, func(tx store.Tx) error {
		w, err := t.house.lockLog(tx)
		if err != nil {
			return err
		}
		row := g.row
		row.Segments = 1
		if seg, err = t.assign(tx, w, row.Number, 1); err != nil {
			return err
		}
		if err := tx.AddGame(row); err != nil {
			return fmt.Errorf("add game: %w", err)
		}
		if err := tx.AddSegment(seg.row); err != nil {
			return fmt.Errorf("add segment: %w", err)
		}
		return tx.ReplaceMatch(match)
	})
	if err != nil {
		return err
	}
	match.Version++
	g.row.Segments = 1
	g.segments = []segment{seg}
	t.row, t.game = match, g
	t.house.afterAssign(t.row.Tenant, seg.mode.String())
	return nil
}

// addSegment assigns a further sequence to a game that has used up a stream.
func (t *table) addSegment(ctx context.Context, g *game) error {
	row := g.row
	row.Segments++
	if row.Segments > commitment.MaxSegments {
		return refuse(NotDue, "the game has used all its %d segments", commitment.MaxSegments)
	}
	var seg segment
	err := t.update(ctx, func(tx store.Tx) error {
		w, err := t.house.lockLog(tx)
		if err != nil {
			return err
		}
		if seg, err = t.assign(tx, w, row.Number, row.Segments); err != nil {
			return err
		}
		if err := tx.AddSegment(seg.row); err != nil {
			return fmt.Errorf("add segment: %w", err)
		}
		return tx.ReplaceGame(row)
	})
	if err != nil {
		return err
	}
	row.Version++
	g.row = row
	g.segments = append(g.segments, seg)
	t.house.afterAssign(t.row.Tenant, seg.mode.String())
	return nil
}

// assign takes the lowest free sequence for a segment and deals it if there is
// nothing to wait for.
func (t *table) assign(tx store.Tx, w *writer, game, n int) (segment, error) {
	q, err := tx.LowestFree(t.row.Tenant, t.open.Mode.String())
	if errors.Is(err, store.ErrNotFound) {
		// Never a sequence of another mode, nor dice that were not sealed before:
		// whoever can dry up a pool could else choose how dice are made.
		t.house.refill(t.row.Tenant, t.open.Mode.String())
		soon := "more are being sealed"
		if sealable(t.open.Mode) != nil {
			soon = "more are there when recorded throws are imported"
		}
		return segment{}, &Error{Code: PoolEmpty, Message: "no sealed sequence of mode " + t.open.Mode.String() + " is left; " + soon, RetryAfter: retryPool}
	} else if err != nil {
		return segment{}, fmt.Errorf("find free sequence: %w", err)
	}
	row := store.Segment{Match: t.id, Game: game, Segment: n, Sequence: q.ID, Deal: -1}
	assign := commitment.Assign{Match: t.id, Game: game, Segment: n, Sequence: q.ID, Number: q.Number, Time: w.at}
	if t.open.Beacon {
		row.Round = roundFor(w.at)
		assign.Round = &row.Round
	}
	row.Assign, err = w.append(assign)
	if err != nil {
		return segment{}, err
	}
	q.State, q.Match, q.Game, q.Segment = store.Assigned, t.id, game, n
	if err := tx.ReplaceSequence(q, store.Free); err != nil {
		return segment{}, fmt.Errorf("assign sequence: %w", err)
	}
	seg, err := t.newSegment(tx, row, q)
	if err != nil || !t.complete(row) {
		return seg, err
	}
	return seg, t.deal(w, &seg)
}

// deal computes the dice under the cut and publishes their root; it changes
// only seg, the caller stores it.
func (t *table) deal(w *writer, seg *segment) error {
	a, b := linkOf(seg.row.Links[0]), linkOf(seg.row.Links[1])
	cut := commitment.NewCut(t.id, seg.row.Game, seg.row.Segment, a, b, seg.row.Signature)
	seq, err := t.build(seg, cut)
	if err != nil {
		return err
	}
	seg.sequence, seg.row.Cut, seg.row.Root = seq, string(cut), seq.Root()
	seg.row.Deal, err = t.house.tell(w, t.row.Tenant, commitment.Deal{
		Match: t.id, Game: seg.row.Game, Segment: seg.row.Segment, Sequence: seg.row.Sequence,
		LinkA: a, LinkB: b, Signature: seg.row.Signature, Cut: cut, Root: seq.Root(), Time: w.at,
	})
	return err
}

// build opens the sealed secret and rebuilds the dice.
func (t *table) build(seg *segment, cut commitment.Cut) (*commitment.Sequence, error) {
	secret, err := t.house.master.open(seg.sealed, seg.row.Sequence)
	if err != nil {
		return nil, err
	}
	seq, err := commitment.Build(secret, seg.row.Sequence, seg.mode, seg.lengths, cut, seg.archive)
	if err != nil {
		return nil, fmt.Errorf("build sequence %s: %w", seg.row.Sequence, err)
	}
	return seq, nil
}

func linkOf(b []byte) *commitment.Hash {
	if b == nil {
		return nil
	}
	h := commitment.Hash(b)
	return &h
}

// afterAssign looks after the pool without making the caller wait.
func (h *House) afterAssign(tenant, mode string) {
	h.signer.poke()
	if h.beacon != nil {
		h.pokeBeacon()
	}
	h.refillIfLow(tenant, mode)
}

// Abandon finishes a match that will not be played to its end.
func (h *House) Abandon(ctx context.Context, p Principal, match string, since int64) (FinishAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (FinishAnswer, error) {
		return h.abandonOnce(ctx, p, match, since)
	})
}

func (h *House) abandonOnce(ctx context.Context, p Principal, match string, since int64) (FinishAnswer, error) {
	if err := h.checkSince(ctx, since); err != nil {
		return FinishAnswer{}, err
	}
	if err := p.need(ScopeMatch); err != nil {
		return FinishAnswer{}, err
	}
	t, err := h.table(ctx, match)
	if err != nil {
		return FinishAnswer{}, err
	}
	defer t.unlock()
	if err := p.owns(t.row.Tenant, match); err != nil {
		return FinishAnswer{}, err
	}
	if t.row.Finish < 0 {
		if t.game != nil && t.game.row.End < 0 {
			return FinishAnswer{}, refuse(NotDue, "game %d is not closed yet; close or abort it first", t.game.row.Number)
		}
		row := t.row
		err := t.update(ctx, func(tx store.Tx) error {
			w, err := h.lockLog(tx)
			if err != nil {
				return err
			}
			score := t.series.Score()
			if row.Finish, err = h.tell(w, row.Tenant, commitment.Finish{Match: match, ScoreA: score[0], ScoreB: score[1], Reason: "abandoned", Time: w.at}); err != nil {
				return err
			}
			return tx.ReplaceMatch(row)
		})
		if err != nil {
			return FinishAnswer{}, err
		}
		row.Version++
		t.row = row
	}
	pub, err := h.published(ctx, since, t.row.Finish)
	if err != nil {
		return FinishAnswer{}, err
	}
	finish, err := commitment.Parse([]byte(pub.Statements[0].Text))
	if err != nil {
		return FinishAnswer{}, fmt.Errorf("read finish: %w", err)
	}
	f, ok := finish.(commitment.Finish)
	if !ok || f.Reason != "abandoned" {
		return FinishAnswer{}, refuse(MatchEnded, "the match is decided already")
	}
	return FinishAnswer{Match: match, Score: [2]int{f.ScoreA, f.ScoreB}, Reason: f.Reason, Published: pub}, nil
}
