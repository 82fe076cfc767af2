package translog

import (
	"errors"
	"testing"
)

func FuzzOpenCheckpoint(f *testing.F) {
	var v checkpointVectors
	readVectors(f, "checkpoint.json", &v)
	genuine := map[Checkpoint]bool{}
	for _, c := range v.Checkpoints {
		f.Add(c.Note)
		genuine[Checkpoint{v.Origin, c.Size, c.Root}] = true
	}
	for _, c := range v.NotesInvalid {
		f.Add(c.Note)
	}
	log := v.log(f)
	f.Fuzz(func(t *testing.T, signed string) {
		c, err := OpenCheckpoint(signed, log)
		if err == nil && !genuine[c] {
			t.Fatalf("a forged checkpoint verifies: %q", signed)
		}
		if err != nil && !errors.Is(err, ErrSignature) {
			return
		}
		if back, err := ParseCheckpoint(c.Text()); err != nil || back != c {
			t.Fatalf("checkpoint %v prints as %q: %v", c, c.Text(), err)
		}
		if signed[:len(c.Text())] != c.Text() {
			t.Fatalf("parsed %q, printed %q", signed, c.Text())
		}
	})
}

func FuzzParseCheckpoint(f *testing.F) {
	f.Add("example.org/fairdice/test\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n")
	f.Add("example.org/fairdice/test\n07\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCheckpoint(text); err == nil && c.Text() != text {
			t.Fatalf("parsed %q, printed %q", text, c.Text())
		}
	})
}

func FuzzParseProof(f *testing.F) {
	var v checkpointVectors
	readVectors(f, "checkpoint.json", &v)
	for _, c := range v.TlogProofs {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ParseProof(text); err == nil && p.Text() != text {
			t.Fatalf("parsed %q, printed %q", text, p.Text())
		}
	})
}

// Policies have comments and free spacing, so the law is: what is printed is accepted and prints the same again, and nobody
// at all meets a quorum only if it is none.
func FuzzParsePolicy(f *testing.F) {
	var v witnessVectors
	readVectors(f, "witness.json", &v)
	for _, c := range v.Policies {
		f.Add(c.Text)
	}
	for _, c := range v.PoliciesInvalid {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePolicy(text)
		if err != nil {
			return
		}
		printed := p.Text()
		again, err := ParsePolicy(printed)
		if err != nil {
			t.Fatalf("parsed %q, printed %q: %v", text, printed, err)
		}
		if again.Text() != printed {
			t.Fatalf("printed %q, then %q", printed, again.Text())
		}
		if p.Satisfied(nil) != (p.quorum == quorumNone) {
			t.Fatalf("nobody meets the quorum of %q", text)
		}
		all := map[string]bool{}
		for name := range p.Witnesses() {
			all[name] = true
		}
		if !p.Satisfied(all) {
			t.Fatalf("all witnesses do not meet the quorum of %q", text)
		}
	})
}
