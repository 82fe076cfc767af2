package audit

import (
	"bytes"
	"fmt"
	"slices"

	"fairdice/commitment"
	"fairdice/internal/wire"
	"fairdice/translog"
)

// Cosigned says who has signed a checkpoint besides its log.
type Cosigned struct {
	Quorum Status // unchecked: nobody is trusted as a witness, or nobody is asked for and nobody has signed
	Lines  []Cosigner
	Absent []Cosigner // who is trusted and has no line, in no order
}

// Cosigner is a signature line, or a witness without one.
type Cosigner struct {
	Name, Hash string // of the key, the hash in 8 hex digits
	Status     Status // unchecked: of nobody who is trusted, or absent
	Time       int64  // seconds since 1970, if the status is pass
}

// ReadCosigned checks the signature lines of a checkpoint, log.witness line by
// line: of the witnesses in the reader's policy and of those he has named. The
// trust has the log's key; its policy, if it lists logs, must list that one.
// The error says what is wrong with the trust, or that the checkpoint is none
// of the log.
func ReadCosigned(signed string, t Trust) (Cosigned, error) {
	var out Cosigned
	log, err := commitment.ParseVerifier(t.Key)
	if err != nil {
		return out, fmt.Errorf("read cosignatures: %w", err)
	}
	if t.Policy != nil {
		if logs := t.Policy.Logs(); len(logs) > 0 && !slices.Contains(logs, t.Key) {
			return out, fmt.Errorf("read cosignatures: the policy trusts other logs than this one, whose key is %s", t.Key)
		}
	}
	if _, err := translog.OpenCheckpoint(signed, log); err != nil {
		return out, err
	}
	policies, err := t.policies(t.Key)
	if err != nil {
		return out, err
	}
	var witnesses []translog.Witness
	out.Quorum = Unchecked
	for _, p := range policies {
		for _, w := range p.Witnesses() {
			if !slices.Contains(witnesses, w) {
				witnesses = append(witnesses, w)
			}
		}
		times, _ := p.Cosigned(signed) // what is wrong, Check says
		switch err := p.Check(signed, -1); {
		case err != nil:
			out.Quorum = Fail
		case out.Quorum == Unchecked && len(times) > 0:
			out.Quorum = Pass
		}
	}
	lines, err := translog.Lines(signed, log, witnesses)
	if err != nil {
		return out, err
	}
	for _, l := range lines {
		c := Cosigner{Name: l.Name, Hash: l.Hash, Status: Unchecked}
		switch {
		case l.Err != nil:
			c.Status = Fail
		case l.Known:
			c.Status, c.Time = Pass, l.Seconds
		}
		out.Lines = append(out.Lines, c)
	}
	for _, w := range witnesses {
		if !slices.ContainsFunc(lines, func(l translog.Line) bool { return l.Name == w.Name() && l.Hash == w.Hash() }) {
			out.Absent = append(out.Absent, Cosigner{Name: w.Name(), Hash: w.Hash(), Status: Unchecked})
		}
	}
	return out, nil
}

// JSON is a line of JSON for the page:
// {"quorum":"pass","lines":[{"name","hash","status","time"}],"absent":[{"name","hash","status"}]}.
func (c Cosigned) JSON() ([]byte, error) {
	var out bytes.Buffer
	w := wire.NewReport(&out)
	write := func(c Cosigner) {
		w.Object("", func() {
			w.Text("name", c.Name)
			w.Text("hash", c.Hash)
			w.Text("status", string(c.Status))
			if c.Status == Pass {
				w.Int("time", int(c.Time))
			}
		})
	}
	w.Object("", func() {
		w.Text("quorum", string(c.Quorum))
		wire.List(w, "lines", present(c.Lines), write)
		wire.List(w, "absent", present(c.Absent), write)
	})
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("encode cosignatures: %w", err)
	}
	return out.Bytes(), nil
}
