// Package export writes the archive of a house: static files from which an
// auditor who has never heard of the service rebuilds and checks everything
// (docs/design.md, "The archive"). It holds the tiles of the log up to one
// signed checkpoint, and of every game that has ended its record and receipts;
// openings are not in it, for the published secrets rebuild them.
//
//	sum, err := export.Directory(ctx, export.Source{Store: s, Key: vkey}, "archive")
//
// The log leads: whatever has ended is found by the close, abort or retire that
// says so. So an export reads only what is new in the log since the last one,
// and needs no list of what it has done beside one number. The crash story:
//
//  1. statements are worked off in order, their tiles, bundles and matches
//     written under temporary names and renamed. A crash leaves some files more
//     than the number says; they are written again, to the same bytes.
//  2. now and then all that was written is synced, and then the number. A crash
//     before costs that stretch of work, not more.
//  3. the new checkpoint comes last. Until then the archive is the old one,
//     whole, with files that its checkpoint does not reach yet; what would
//     contradict it, matches that have gone on and later checkpoints, waits
//     aside. A crash between that and the end is settled by the next export.
//
// The database may be in use. A part of the log that is signed never changes,
// nor does a game that has ended, so many short reads give one moment.
package export

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"

	"golang.org/x/mod/sumdb/note"
)

// Source is what is exported.
type Source struct {
	// Store is read only; many Views run at once.
	Store interface {
		View(ctx context.Context, fn func(store.Reader) error) error
	}
	Key    string // verifier key of the log
	Policy string // C2SP tlog-policy, which the archive's checkpoint then meets; "" for none
	// Throws opens the file of recorded throws of a published sequence. It is
	// needed only for a log with mode real.
	Throws func(r store.Reader, sequence string) (commitment.Hash, []byte, error)
	// Workers read and write matches at once; 0: DefaultWorkers.
	Workers int
	// Progress is told now and then how far the export has come; it may be nil.
	Progress func(Progress)
}

// DefaultWorkers keep two processors busy while files wait for the disk.
const DefaultWorkers = 4

// Progress is how far an export has come.
type Progress struct {
	First, Done, Size int64 // statements: where it began, where it is, where it will end
	Games             int64 // written by this export
}

// Summary is what an export has done.
type Summary struct {
	Size    int64 // statements of the archive
	New     int64 // of them since the last export
	Matches int64 // files written
	Games   int64 // in them
}

// ErrOther says that what lies at the destination is not an earlier state of this archive.
var ErrOther = errors.New("not an archive of this log")

// bundle is how many statements a bundle of entries, and a tile of hashes, has.
const bundle = 256

// exporter is one export.
type exporter struct {
	Source
	out     sink
	ordered bool // files go out in the order of the log
	log     note.Verifier
	policy  *translog.Policy
	target  translog.Checkpoint
	note    string    // the target as it was signed
	last    time.Time // of the last statement
	done    int64     // statements worked off
	earlier []int64   // sizes that the archive, or an export to it that broke off, had before
	begun   int64
	sum     Summary
}

// newExporter chooses the checkpoint that the archive will belong to.
func newExporter(ctx context.Context, s Source) (*exporter, error) {
	x := &exporter{Source: s}
	if x.Workers <= 0 {
		x.Workers = DefaultWorkers
	}
	var err error
	if x.log, err = commitment.ParseVerifier(s.Key); err != nil {
		return nil, fmt.Errorf("export archive: log key: %w", err)
	}
	if s.Policy != "" {
		if x.policy, err = translog.ParsePolicy(s.Policy); err != nil {
			return nil, fmt.Errorf("export archive: %w", err)
		}
	}
	err = s.Store.View(ctx, func(r store.Reader) error {
		c, err := r.LatestCheckpoint()
		x.note = c.Note
		if s.Policy != "" {
			c, err = r.LatestCosigned()
			x.note = c.Cosigned
		}
		if errors.Is(err, store.ErrNotFound) {
			return errors.New("no checkpoint of the log is signed yet, or none by the witnesses of the policy")
		} else if err != nil {
			return err
		}
		if x.target, err = translog.OpenCheckpoint(x.note, x.log); err != nil {
			return err
		}
		if x.policy != nil {
			if err := x.policy.Check(x.note, -1); err != nil {
				return err
			}
		}
		root, err := translog.Root(x.target.Size, translog.Stored(r))
		if err != nil {
			return err
		}
		if root != x.target.Root {
			return fmt.Errorf("the database hashes to %s at size %d, signed is %s: it is damaged, or not the log of this key", root, x.target.Size, x.target.Root)
		}
		if x.target.Size == 0 {
			return nil
		}
		e, err := r.Entry(x.target.Size - 1)
		x.last = e.Time
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("export archive: %w", err)
	}
	return x, nil
}

// extends demands that the target goes on from a checkpoint that was exported before.
func (x *exporter) extends(ctx context.Context, signed string) error {
	old, err := translog.OpenCheckpoint(signed, x.log)
	if err != nil {
		return fmt.Errorf("%w: its checkpoint: %w", ErrOther, err)
	}
	if old.Size > x.target.Size {
		return fmt.Errorf("%w: it ends at statement %d, the database at %d: the database is older than the archive", ErrOther, old.Size, x.target.Size)
	}
	err = x.Store.View(ctx, func(r store.Reader) error {
		root, err := translog.Root(old.Size, translog.Stored(r))
		if err == nil && root != old.Root {
			err = fmt.Errorf("%w: two histories are signed: the archive has root %s at size %d, the database %s. Keep both, they prove it", ErrOther, old.Root, old.Size, root)
		}
		return err
	})
	x.earlier = append(x.earlier, old.Size)
	return err
}

// run writes everything but the checkpoint at the top.
func (x *exporter) run(ctx context.Context) error {
	x.begun, x.sum.Size, x.sum.New = x.done, x.target.Size, x.target.Size-x.done
	for _, f := range []struct{ name, text string }{
		{"README.txt", readme(x.target, x.Policy != "")}, {"log.key", x.Key + "\n"}, {"policy", x.Policy},
		{fmt.Sprintf("checkpoints/%d", x.target.Size), x.note},
	} {
		if f.text != "" {
			if err := x.out.put(f.name, []byte(f.text)); err != nil {
				return err
			}
		}
	}
	marked := time.Now()
	for x.done < x.target.Size {
		// A chunk ends where a bundle does, so every bundle but the last is full.
		end := min(x.done/bundle*bundle+chunk, x.target.Size)
		err := x.chunk(ctx, x.done, end)
		if err == nil {
			x.done = end
		}
		if err != nil || time.Since(marked) > markEvery || x.done == x.target.Size {
			if err := errors.Join(err, x.out.mark(x.done, x.note)); err != nil {
				return err
			}
			marked = time.Now()
		}
		if x.Progress != nil {
			x.Progress(Progress{First: x.begun, Done: x.done, Size: x.target.Size, Games: x.sum.Games})
		}
	}
	return x.partialTiles(ctx)
}

const (
	// chunk statements are worked off together, a few hundred games.
	chunk = 4 * bundle
	// markEvery is how much work a crash costs.
	markEvery = 2 * time.Second
)

// Interrupted tells an export that was told to stop from one that failed.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func readme(c translog.Checkpoint, witnessed bool) string {
	trust := "--key \"$KEY\""
	if witnessed {
		trust = "--policy POLICY"
	}
	return strings.NewReplacer("ORIGIN", c.Origin, "TRUST", trust).Replace(readmeText)
}
