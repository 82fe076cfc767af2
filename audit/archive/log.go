package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/translog"
)

// point is a checkpoint of known size whose root is compared when the rebuilt
// tree has reached that size.
type point struct {
	audit.Seen
	name string
}

// openLog reads the archive's own checkpoint, and every other one that is at
// hand: those stored beside it and those that the reader kept.
func (a *auditor) openLog(ctx context.Context) error {
	key, err := a.files.Read(ctx, KeyFile, maxKey)
	switch {
	case err == nil:
		a.exported = true
	case errors.Is(err, ErrMissing) && a.Trust.Key != "":
		key = []byte(a.Trust.Key) // a log that is served alone has no file for its key
	case errors.Is(err, ErrMissing) && a.Trust.Policy != nil && len(a.Trust.Policy.Logs()) == 1:
		key = []byte(a.Trust.Policy.Logs()[0])
	case errors.Is(err, ErrMissing) && a.Trust.Policy != nil:
		return fmt.Errorf("read log key: there is no %s, and the policy does not name exactly one log: give --key, or a policy of this log", KeyFile)
	case errors.Is(err, ErrMissing):
		return fmt.Errorf("read log key: there is no %s: give --key or --policy", KeyFile)
	default:
		return fmt.Errorf("read log key: %w", err)
	}
	raw, err := a.files.Read(ctx, CheckpointFile, maxCheckpoint)
	if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	a.inside = strings.TrimSuffix(string(key), "\n")
	if a.checkpoints, err = a.Trust.Checkpoints(a.inside); err != nil {
		a.fault(audit.LogSignature, audit.Altered, "%v", err)
		if a.checkpoints, err = (audit.Trust{}).Checkpoints(a.inside); err != nil {
			return fmt.Errorf("read log key: %w", err)
		}
	}
	own, err := translog.ReadCheckpoint(string(raw))
	if err != nil {
		return err
	}
	a.own, a.raw = own, string(raw)
	seen, faults, good := a.checkpoints.Open("the checkpoint", string(raw))
	a.add(faults...)
	a.gathered.Signed = good && a.checkpoints.Pinned()
	a.points = append(a.points, point{seen, "the checkpoint"})
	if a.checkpoints.Witnessing() {
		a.gathered.Witnessed = seen.By > 0
		if seen.By == 0 {
			a.fault(audit.LogWitness, audit.Unproved, "the checkpoint has not met the policy's quorum of witnesses")
		}
	}
	if err := a.openStored(ctx); err != nil {
		return err
	}
	for i, raw := range a.Seen {
		a.openPoint(fmt.Sprintf("your checkpoint %d", i+1), raw)
	}
	slices.SortStableFunc(a.points, func(x, y point) int { return cmp.Compare(x.Size, y.Size) })
	for len(a.points) > 0 {
		last := a.points[len(a.points)-1]
		if last.Size <= own.Size {
			break
		}
		a.fault(audit.LogConsistency, audit.Forked, "%s is of size %d, the archive ends at %d: it is an old one, or another log", last.name, last.Size, own.Size)
		a.points = a.points[:len(a.points)-1]
	}
	return nil
}

// openStored reads the checkpoints that are stored in the archive.
func (a *auditor) openStored(ctx context.Context) error {
	names, err := a.files.List(ctx, CheckpointFolder)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		a.gathered.leftOut("older checkpoints cannot be listed over HTTP; give those you kept")
		return nil
	case errors.Is(err, ErrMissing):
		return nil
	case err != nil:
		return fmt.Errorf("list checkpoints: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.HasPrefix(name, ".") {
			continue // an exporter's own notes
		}
		full := CheckpointFolder + "/" + name
		raw, err := a.files.Read(ctx, full, maxCheckpoint)
		if err != nil {
			a.fault(audit.LogConsistency, audit.Dropped, "%v: %s", err, full)
			continue
		}
		if p, ok := a.openPoint(full, string(raw)); ok && fmt.Sprint(p.Size) != name {
			a.fault(audit.LogConsistency, audit.Altered, "the checkpoint is of size %d: %s", p.Size, full)
		}
	}
	return nil
}

// openPoint reads one more checkpoint of the log.
func (a *auditor) openPoint(name, raw string) (audit.Seen, bool) {
	seen, faults, good := a.checkpoints.Open(name, raw)
	a.add(faults...)
	if good {
		a.points = append(a.points, point{seen, name})
	}
	return seen, good
}

// part is a bundle of entries that has been read.
type part struct {
	number int64
	width  int
	texts  [][]byte
	leaves []tlog.Hash
	parsed []commitment.Statement
	errs   []error
	err    error

	tile    []byte // the tile of their leaf hashes
	tileErr error
}

// errBroken ends the first pass: what comes after a gap in the log cannot be
// placed. What is wrong has been reported.
var errBroken = errors.New("the log cannot be read to its end")

// readLog is the first pass: it reads the bundles in order, a few ahead of
// time, rebuilds the tree, and fills the book and the scratch.
func (a *auditor) readLog(ctx context.Context) error {
	size := a.own.Size
	a.book = audit.NewBook(a.checkpoints.Origin(), func(c audit.Check) { a.add(c) })
	a.offsets = make([]int64, 1, size+1)
	var t tree
	next := 0
	reach := func() {
		for ; next < len(a.points) && a.points[next].Size == t.size; next++ {
			a.comparePoint(a.points[next], t.root())
		}
	}
	reach()
	bundles := (size + tileWidth - 1) / tileWidth
	err := inOrder(ctx, bundles, a.workers(), func(n int64) part { return a.readPart(ctx, n) }, func(p part) error {
		if p.err != nil {
			kind := audit.Altered
			if errors.Is(p.err, ErrMissing) {
				kind = audit.Dropped
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			a.fault(audit.LogInclusion, kind, "%v", p.err)
			return errBroken
		}
		for i, text := range p.texts {
			index := uint64(t.size)
			var tileErr error
			t.add(p.leaves[i], func(level int, number int64, tile []tlog.Hash) {
				if level == 0 {
					tileErr = a.compareTile(ctx, level, number, tile, p.tile, p.tileErr)
				} else if tileErr == nil {
					tileErr = a.checkTile(ctx, level, number, tile)
				}
			})
			if tileErr != nil {
				return tileErr
			}
			reach()
			if err := a.store(text); err != nil {
				return err
			}
			if p.errs[i] != nil {
				a.fault(audit.Format, audit.Broken, "%v: log index %d", p.errs[i], index)
				a.book.Skip()
				continue
			}
			a.book.Add(index, p.parsed[i])
		}
		a.progress("log", t.size, size)
		return nil
	})
	if err != nil {
		return err
	}
	for level, tile := range t.tiles {
		if len(tile) > 0 {
			if err := a.checkTile(ctx, level, (t.size>>(8*level))/tileWidth, tile); err != nil {
				return err
			}
		}
	}
	return nil
}

// store appends a statement's text to the scratch.
func (a *auditor) store(text []byte) error {
	if _, err := a.scratch.Write(text); err != nil {
		return fmt.Errorf("write scratch: %w", err)
	}
	a.offsets = append(a.offsets, a.offsets[len(a.offsets)-1]+int64(len(text)))
	return nil
}

// text reads a statement back.
func (a *auditor) text(index uint64) ([]byte, error) {
	b := make([]byte, a.offsets[index+1]-a.offsets[index])
	if _, err := a.scratch.ReadAt(b, a.offsets[index]); err != nil {
		return nil, fmt.Errorf("read scratch: %w", err)
	}
	return b, nil
}

// readPart reads, hashes and parses a bundle of entries, and reads the tile that
// should hold the hashes.
func (a *auditor) readPart(ctx context.Context, number int64) (p part) {
	p.number = number
	p.width = int(min(a.own.Size-number*tileWidth, tileWidth))
	name := TileName(-1, number, p.width)
	data, err := a.readTile(ctx, -1, number, p.width, maxEntries)
	if err != nil {
		p.err = fmt.Errorf("%w: %s", err, name)
		return p
	}
	if p.width == tileWidth {
		p.tile, p.tileErr = a.readTile(ctx, 0, number, p.width, maxTile)
	}
	if p.texts, err = split(data, p.width); err != nil {
		p.err = fmt.Errorf("%w: %s", err, name)
		return p
	}
	for _, text := range p.texts {
		st, err := commitment.Parse(text)
		p.leaves = append(p.leaves, tlog.RecordHash(text))
		p.parsed, p.errs = append(p.parsed, st), append(p.errs, err)
	}
	return p
}

// comparePoint compares the root of a checkpoint with the rebuilt one.
func (a *auditor) comparePoint(p point, root translog.Hash) {
	switch {
	case p.Root == root:
		a.gathered.Checkpoints++
		a.checkpoints.Believe(p.Seen)
	case p.Size == a.own.Size && p.Root == a.own.Root:
		a.fault(audit.LogInclusion, audit.Altered, "the statements do not give the root of %s of size %d", p.name, p.Size)
	default:
		a.fault(audit.LogConsistency, audit.Forked, "%s of size %d has another root than this log had then: two people were shown two logs", p.name, p.Size)
	}
}
