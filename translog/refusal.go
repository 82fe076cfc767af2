package translog

import (
	"errors"
	"fmt"
)

// ErrInconsistent is the answer of a witness to a checkpoint that is no
// continuation of the one he has cosigned, though the log has signed both: 422
// of C2SP tlog-witness. Whoever signs for the log has to stop.
var ErrInconsistent = errors.New("the checkpoint does not extend the last one")

// StaleError is the answer of a witness who has cosigned another size last than
// the caller assumed: 409 of C2SP tlog-witness.
type StaleError struct{ Size int64 }

func (e *StaleError) Error() string {
	return fmt.Sprintf("the witness has cosigned size %d last", e.Size)
}
