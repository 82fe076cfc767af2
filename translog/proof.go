package translog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
)

// A Proof is a C2SP tlog-proof: one file that proves, offline, that a statement is in the log.
type Proof struct {
	Extra      []byte // opaque, not authenticated; nil for none
	Index      int64
	Path       []Hash
	Checkpoint string // signed note, cosignatures included
}

const proofHeader = "c2sp.org/tlog-proof@v1"

// maxPath bounds an audit path: a tree of 2^53 statements needs no more.
const maxPath = 64

// Text returns the file.
func (p Proof) Text() string {
	var b strings.Builder
	b.WriteString(proofHeader + "\n")
	if p.Extra != nil {
		b.WriteString("extra " + base64.StdEncoding.EncodeToString(p.Extra) + "\n")
	}
	b.WriteString("index " + strconv.FormatInt(p.Index, 10) + "\n")
	for _, h := range p.Path {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	b.WriteString("\n" + p.Checkpoint)
	return b.String()
}

// ParseProof reads a proof file. Nothing in it is verified yet.
func ParseProof(text string) (Proof, error) {
	if len(text) > 2*commitment.MaxNote {
		return Proof{}, fmt.Errorf("parse proof: %d bytes, at most %d", len(text), 2*commitment.MaxNote)
	}
	head, checkpoint, ok := strings.Cut(text, "\n\n")
	if !ok {
		return Proof{}, errors.New("parse proof: no empty line before the checkpoint")
	}
	lines := strings.Split(head, "\n")
	if lines[0] != proofHeader {
		return Proof{}, fmt.Errorf("parse proof: the first line is not %s", proofHeader)
	}
	lines = lines[1:]
	p := Proof{Checkpoint: checkpoint}
	if len(lines) > 0 && strings.HasPrefix(lines[0], "extra ") {
		encoded := lines[0][len("extra "):]
		extra, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil || len(extra) == 0 || base64.StdEncoding.EncodeToString(extra) != encoded {
			return Proof{}, errors.New("parse proof: extra is not canonical base64")
		}
		p.Extra, lines = extra, lines[1:]
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "index ") {
		return Proof{}, errors.New("parse proof: the index line is missing")
	}
	index, err := commitment.ParseInteger(lines[0][len("index "):])
	if err != nil {
		return Proof{}, fmt.Errorf("parse proof: index: %w", err)
	}
	p.Index = int64(index)
	if len(lines)-1 > maxPath {
		return Proof{}, fmt.Errorf("parse proof: a path of %d hashes, at most %d", len(lines)-1, maxPath)
	}
	for i, line := range lines[1:] {
		h, err := parseBase64Hash(line)
		if err != nil {
			return Proof{}, fmt.Errorf("parse proof: hash %d of the path: %w", i, err)
		}
		p.Path = append(p.Path, h)
	}
	if _, err := ReadCheckpoint(checkpoint); err != nil {
		return Proof{}, fmt.Errorf("parse proof: %w", err)
	}
	return p, nil
}

// Verify checks the log's signature and that the statement with these bytes is number Index. Cosignatures are the
// policy's business: see Policy.Check.
func (p Proof) Verify(statement []byte, log note.Verifier) (Checkpoint, error) {
	c, err := OpenCheckpoint(p.Checkpoint, log)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("verify proof: %w", err)
	}
	if err := VerifyInclusion(LeafHash(statement), p.Index, c.Size, p.Path, c.Root); err != nil {
		return Checkpoint{}, fmt.Errorf("verify proof: %w", err)
	}
	return c, nil
}
