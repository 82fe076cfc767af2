package store

import (
	"context"
	"time"
)

// MaxRefused is how many refused checkpoints of one log are kept: enough for
// any proof, too few for a log to fill its witness's disk.
const MaxRefused = 1000

// Memory is what a witness remembers of the logs it watches (PROTOCOL.md §7):
// every checkpoint it has cosigned, and those it has refused although the log
// had signed them, because they may prove that the log has two histories. It
// is safe for concurrent use, and promises what a Store does about durability.
type Memory interface {
	// Last is the largest checkpoint of the log that was cosigned, else ErrNotFound.
	Last(ctx context.Context, origin string) (Witnessed, error)
	// Advance stores a larger checkpoint as the last one, if the last one still has
	// from statements, 0 for none, and reports whether it had. Comparing and
	// storing are one step: of two requests at once one is the next.
	Advance(ctx context.Context, from int64, next Witnessed) (bool, error)
	// Keep stores a checkpoint that was not cosigned, of one log at most
	// MaxRefused. One that is there already is not stored again.
	Keep(ctx context.Context, w Witnessed) error
	// OfSize are the checkpoints of the log with that size.
	OfSize(ctx context.Context, origin string, size int64) ([]Witnessed, error)
	// Refused are those that were not cosigned, by origin and size.
	Refused(ctx context.Context) ([]Witnessed, error)
	// Splits are pairs of checkpoints that the same log signed for the same size
	// with different roots: each is a proof.
	Splits(ctx context.Context) ([][2]Witnessed, error)
	// Watched sums up each log, by origin.
	Watched(ctx context.Context) ([]Watched, error)
	Close() error
}

// Witnessed is a checkpoint a witness was asked to cosign. The log's signature is good.
type Witnessed struct {
	Origin   string
	Size     int64
	Root     [32]byte
	Note     string // with the lines of the log
	Time     time.Time
	Cosigned bool
}

// Watched sums up what a witness knows of one log.
type Watched struct {
	Last     Witnessed // cosigned last; Size 0 if none was
	Cosigned int64     // checkpoints
	Refused  int64
}
