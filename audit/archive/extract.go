package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/translog"
)

// Extract makes the bundle of one match of an archive: the statements with
// their inclusion proofs, records and receipts, and the openings, which are
// rebuilt from the published secrets. The log is read and checked on the way.
func Extract(ctx context.Context, files Files, match string, o Options) (*audit.Bundle, error) {
	if err := commitment.CheckID(match); err != nil {
		return nil, err
	}
	a := newAuditor(files, o, true)
	if err := a.openLog(ctx); err != nil {
		return nil, err
	}
	if err := a.readLog(ctx); err != nil {
		return nil, err
	}
	if len(a.gathered.Findings) > 0 {
		return nil, fmt.Errorf("the log does not hold what it claims: %s", a.gathered.Findings[0].Detail)
	}
	n, ok := a.book.Match(match)
	if !ok {
		return nil, fmt.Errorf("the log has no match %s", match)
	}
	entries, err := a.book.Collect(n, a.text)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(x, y audit.Entry) int { return int(int64(x.Index) - int64(y.Index)) })
	data, err := a.files.Read(ctx, MatchName(match), audit.MaxMatchFile)
	if err != nil {
		return nil, fmt.Errorf("read match: %w: %s", err, MatchName(match))
	}
	file, err := audit.ParseMatchFile(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, MatchName(match))
	}
	x := &extractor{auditor: a, entries: entries, proofs: tlog.TileHashReader(tlog.Tree{N: a.own.Size, Hash: tlog.Hash(a.own.Root)}, tileReader{ctx, a})}
	return x.bundle(ctx, file)
}

// extractor puts one bundle together.
type extractor struct {
	*auditor
	entries []audit.Entry
	proofs  tlog.HashReader
	opened  map[segment]*commitment.Sequence
}

// segment names a segment of a game.
type segment struct{ game, number int }

func (x *extractor) bundle(ctx context.Context, file *audit.MatchFile) (*audit.Bundle, error) {
	b := &audit.Bundle{Log: audit.BundleLog{Origin: x.own.Origin, Key: x.Trust.LogKey(x.inside), Checkpoint: x.raw}, Games: file.Games}
	for _, e := range x.entries {
		path, err := translog.Inclusion(x.own.Size, int64(e.Index), x.proofs)
		if err != nil {
			return nil, err
		}
		b.Statements = append(b.Statements, audit.BundleStatement{Index: e.Index, Text: string(e.Text), Path: path})
	}
	if err := x.rebuild(ctx, b); err != nil {
		return nil, err
	}
	for i := range b.Games {
		if err := x.open(&b.Games[i]); err != nil {
			return nil, err
		}
	}
	return b, x.earlier(ctx, b)
}

// rebuild rebuilds every dealt sequence of the match.
func (x *extractor) rebuild(ctx context.Context, b *audit.Bundle) error {
	texts := make([][]byte, len(x.entries))
	for i, e := range x.entries {
		texts[i] = e.Text
	}
	throws := x.throws(ctx, texts)
	commits := map[string]commitment.Commit{}
	secrets := map[string]commitment.Secret{}
	var deals []commitment.Deal
	have := map[int]bool{}
	for _, g := range b.Games {
		have[g.Game] = true
	}
	for _, text := range texts {
		st, err := commitment.Parse(text)
		if err != nil {
			return err
		}
		switch s := st.(type) {
		case commitment.Commit:
			commits[s.Sequence] = s
			if s.Archive == nil {
				break
			}
			data, err := x.files.Read(ctx, ThrowsName(*s.Archive), maxThrows)
			if err != nil {
				return fmt.Errorf("read throws: %w: %s", err, ThrowsName(*s.Archive))
			}
			b.Archives = append(b.Archives, string(data))
		case commitment.Assign:
			if !have[s.Game] {
				return fmt.Errorf("game %d is not in the archive; if it is still in progress, its match has no whole bundle yet", s.Game)
			}
		case commitment.Deal:
			deals = append(deals, s)
		case commitment.Close:
			for _, r := range s.Secrets {
				secrets[r.Sequence] = r.Secret
			}
		case commitment.Abort:
			for _, r := range s.Secrets {
				secrets[r.Sequence] = r.Secret
			}
		}
	}
	x.opened = map[segment]*commitment.Sequence{}
	for _, d := range deals {
		c, committed := commits[d.Sequence]
		secret, published := secrets[d.Sequence]
		if !committed || !published {
			continue
		}
		var archive *commitment.Archive
		if c.Archive != nil {
			archive = throws[*c.Archive]
		}
		q, err := commitment.Build(secret, c.Sequence, c.Mode, c.Rolls, d.Cut, archive)
		if err != nil {
			return err
		}
		x.opened[segment{d.Game, d.Segment}] = q
	}
	return nil
}

// open rebuilds the openings of a game's rolls.
func (x *extractor) open(g *audit.BundleGame) error {
	for i, raw := range g.Receipts {
		n, err := commitment.ParseNote(raw)
		if err != nil {
			return fmt.Errorf("game %d, receipt %d: %w", g.Game, i+1, err)
		}
		r, err := commitment.ParseReceipt([]byte(n.Text))
		if err != nil {
			return fmt.Errorf("game %d, receipt %d: %w", g.Game, i+1, err)
		}
		q := x.opened[segment{g.Game, r.Segment}]
		if q == nil || r.Index >= q.Lengths()[r.Stream] {
			return fmt.Errorf("game %d, receipt %d: nothing was dealt for it", g.Game, i+1)
		}
		o := q.Open(r.Stream, r.Index)
		g.Openings = append(g.Openings, audit.BundleOpening{Segment: r.Segment, Stream: r.Stream, Index: r.Index, Key: o.Key, Path: o.Path})
	}
	return nil
}

// earlier adds, for every assign, the first stored checkpoint that contains
// it: with its cosignatures it shows when the assign was public.
func (x *extractor) earlier(ctx context.Context, b *audit.Bundle) error {
	added := map[int64]bool{x.own.Size: true}
	for _, e := range x.entries {
		if st, err := commitment.Parse(e.Text); err != nil || st.Type() != (commitment.Assign{}).Type() {
			continue
		}
		at := slices.IndexFunc(x.points, func(p point) bool { return p.Size > int64(e.Index) })
		if at < 0 || added[x.points[at].Size] {
			continue
		}
		p := x.points[at]
		raw, err := x.files.Read(ctx, p.name, maxCheckpoint)
		if errors.Is(err, ErrMissing) {
			continue // one that the reader kept himself
		}
		if err != nil {
			return err
		}
		proof, err := translog.Consistency(p.Size, x.own.Size, x.proofs)
		if err != nil {
			return err
		}
		added[p.Size] = true
		b.Log.Earlier = append(b.Log.Earlier, audit.BundleEarlier{Checkpoint: string(raw), Consistency: proof})
	}
	return nil
}

// tileReader reads tiles for proofs, which authenticate what they read.
type tileReader struct {
	ctx context.Context
	*auditor
}

// Height implements tlog.TileReader.
func (tileReader) Height() int { return 8 }

// ReadTiles implements tlog.TileReader.
func (r tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	out := make([][]byte, len(tiles))
	for i, t := range tiles {
		data, err := r.readTile(r.ctx, t.L, t.N, t.W, maxTile)
		if err != nil {
			return nil, fmt.Errorf("read tile: %w: %s", err, TileName(t.L, t.N, t.W))
		}
		if want := t.W * tlog.HashSize; len(data) > want {
			data = data[:want]
		}
		out[i] = data
	}
	return out, nil
}

// SaveTiles implements tlog.TileReader.
func (tileReader) SaveTiles([]tlog.Tile, [][]byte) {}
