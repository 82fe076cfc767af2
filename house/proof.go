package house

import (
	"context"

	"fairdice/store"
	"fairdice/translog"
)

// Proof is the C2SP tlog-proof of a statement: one text that proves offline
// that the statement with that log index is in the log. Its checkpoint is the
// smallest one with the statement that the witnesses have cosigned, or, before
// they have, that the log has signed. A statement that no checkpoint contains
// yet is NotFound.
func (h *House) Proof(ctx context.Context, index int64) (string, error) {
	if signed, err := h.signer.covers(ctx, index); err != nil {
		return "", err
	} else if index < 0 || !signed {
		return "", refuse(NotFound, "no statement %d in the signed log", index)
	}
	var text string
	err := h.store.View(ctx, func(r store.Reader) error {
		c, err := bestCheckpoint(r, index+1)
		if err != nil {
			return err
		}
		s, err := prove(r, c.Size, index)
		if err != nil {
			return err
		}
		text = translog.Proof{Index: index, Path: s.Path, Checkpoint: noteOf(c)}.Text()
		return nil
	})
	return text, err
}

// Ready is nil while the house can do its work. Otherwise the error says why
// nothing is signed, or that the database does not answer.
func (h *House) Ready(ctx context.Context) error {
	if err := h.signer.refused(); err != nil {
		return err
	}
	return h.store.View(ctx, func(r store.Reader) error {
		_, err := r.LogHead()
		return err
	})
}
