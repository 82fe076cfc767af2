package witness

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"fairdice/commitment"
	"fairdice/translog"
)

const (
	// maxProof is how many hashes a proof has at most (C2SP tlog-witness).
	maxProof = 63
	// maxRequest bounds a request in bytes: the lines before the checkpoint, and a note.
	maxRequest = 32 + maxProof*45 + commitment.MaxNote
)

// ServeHTTP answers C2SP tlog-witness:
//
//	POST /add-checkpoint   cosigns a checkpoint
//	GET  /splits           the checkpoints that prove two histories of a log, as signed notes
//
// Nothing needs an account: whoever has a checkpoint that a watched log has
// signed may bring it, and the more do, the sooner a fork is found.
func (w *Witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.Header().Set("Cache-Control", "no-store")
	method := http.MethodPost
	switch r.URL.Path {
	case "/add-checkpoint":
	case "/splits":
		method = http.MethodGet
	default:
		http.Error(rw, "a witness answers POST /add-checkpoint and GET /splits", http.StatusNotFound)
		return
	}
	if r.Method != method {
		rw.Header().Set("Allow", method)
		http.Error(rw, "use "+method, http.StatusMethodNotAllowed)
		return
	}
	if method == http.MethodGet {
		w.splits(rw, r)
		return
	}
	w.addCheckpoint(rw, r)
}

func (w *Witness) addCheckpoint(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxRequest))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(rw, fmt.Sprintf("more than %d bytes", maxRequest), http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(rw, "the request is not complete", http.StatusBadRequest)
		return
	}
	old, proof, checkpoint, err := parseRequest(string(body))
	var line string
	if err == nil {
		line, err = w.AddCheckpoint(r.Context(), old, proof, checkpoint)
	}
	if err == nil {
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(rw, line)
		return
	}
	var conflict *ConflictError
	switch {
	case errors.As(err, &conflict):
		rw.Header().Set("Content-Type", "text/x.tlog.size")
		rw.WriteHeader(http.StatusConflict)
		fmt.Fprintf(rw, "%d\n", conflict.Size)
	case errors.Is(err, ErrUnknownLog):
		http.Error(rw, err.Error(), http.StatusNotFound)
	case errors.Is(err, translog.ErrSignature):
		http.Error(rw, err.Error(), http.StatusForbidden)
	case errors.Is(err, ErrInconsistent):
		http.Error(rw, err.Error(), http.StatusUnprocessableEntity)
	case errors.Is(err, ErrMalformed):
		http.Error(rw, err.Error(), http.StatusBadRequest)
	case r.Context().Err() != nil:
		http.Error(rw, "too late", http.StatusServiceUnavailable)
	default:
		w.log.ErrorContext(r.Context(), "request failed", "error", err)
		http.Error(rw, "internal error", http.StatusInternalServerError)
	}
}

// parseRequest reads the body of an add-checkpoint in its only form: the old
// size, the proof, an empty line, the checkpoint.
func parseRequest(body string) (old int64, proof []commitment.Hash, checkpoint string, err error) {
	bad := func(format string, args ...any) (int64, []commitment.Hash, string, error) {
		return 0, nil, "", fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
	head, checkpoint, ok := strings.Cut(body, "\n\n")
	if !ok {
		return bad("no empty line before the checkpoint")
	}
	lines := strings.Split(head, "\n")
	digits, ok := strings.CutPrefix(lines[0], "old ")
	if !ok {
		return bad("the first line is not \"old SIZE\"")
	}
	old, err = strconv.ParseInt(digits, 10, 64)
	if err != nil || old < 0 || strconv.FormatInt(old, 10) != digits {
		return bad("the old size is not a decimal number without leading zeros")
	}
	if len(lines)-1 > maxProof {
		return bad("%d lines of proof, at most %d", len(lines)-1, maxProof)
	}
	for i, l := range lines[1:] {
		raw, err := base64.StdEncoding.Strict().DecodeString(l)
		if err != nil || len(raw) != len(commitment.Hash{}) || base64.StdEncoding.EncodeToString(raw) != l {
			return bad("line %d of the proof is not the base64 of 32 bytes", i+1)
		}
		proof = append(proof, commitment.Hash(raw))
	}
	return old, proof, checkpoint, nil
}

func (w *Witness) splits(rw http.ResponseWriter, r *http.Request) {
	pairs, err := w.memory.Splits(r.Context())
	if err != nil {
		w.log.ErrorContext(r.Context(), "request failed", "error", err)
		http.Error(rw, "internal error", http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	rw.Header().Set("Access-Control-Allow-Origin", "*")
	fmt.Fprintf(rw, "split views: %d\n", len(pairs))
	for _, p := range pairs {
		fmt.Fprintf(rw, "\n== %s size %d\n\n%s\n%s", p[0].Origin, p[0].Size, p[0].Note, p[1].Note)
	}
}
