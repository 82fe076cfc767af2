package translog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairdice/commitment"

	"github.com/google/go-cmp/cmp"
)

type witnessVectors struct {
	LogKey       string `json:"log_key"`
	WitnessKey   string `json:"witness_key"`
	Text         string
	Time         int64
	SignedText   string `json:"signed_text"`
	Cosignatures []struct {
		What, Note string
		Time       *int64
	}
	CosignaturesInvalid []struct{ What, Note string } `json:"cosignatures_invalid"`
	Policies            []struct {
		What, Text string
		Logs       []string
		Witnesses  map[string]string
		Met        []struct {
			CosignedBy []string `json:"cosigned_by"`
			OK         bool
		}
	}
	PoliciesInvalid []struct{ What, Text string } `json:"policies_invalid"`
}

func TestCosignatureVectors(t *testing.T) {
	var v witnessVectors
	readVectors(t, "witness.json", &v)
	if len(v.Cosignatures) == 0 || len(v.CosignaturesInvalid) == 0 {
		t.Fatal("a list is empty")
	}
	w, err := ParseWitness(v.WitnessKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseWitness(v.LogKey); err == nil {
		t.Error("the log's key was taken for a witness's")
	}
	if got := string(cosigned(uint64(v.Time), v.Text)); got != v.SignedText {
		t.Errorf("signed text %q, want %q", got, v.SignedText)
	}
	log, err := commitment.ParseVerifier(v.LogKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Cosignatures {
		at, ok, err := w.Cosigned(c.Note)
		if err != nil || ok != (c.Time != nil) || ok && at != *c.Time {
			t.Errorf("%s: time %d, %t, %v", c.What, at, ok, err)
		}
		if _, err := OpenCheckpoint(c.Note, log); err != nil {
			t.Errorf("%s: %v", c.What, err)
		}
	}
	for _, c := range v.CosignaturesInvalid {
		if at, ok, err := w.Cosigned(c.Note); !errors.Is(err, ErrSignature) || ok {
			t.Errorf("%s: time %d, %t, %v", c.What, at, ok, err)
		}
	}
	// The same key makes the line of the vectors.
	skey, vkey, err := NewWitnessKey(w.Name(), bytes.NewReader(bytes.Repeat([]byte{0x0b}, 32)))
	if err != nil || vkey != v.WitnessKey {
		t.Fatalf("witness key %s, %v", vkey, err)
	}
	cosigner, err := NewCosigner(skey, func() time.Time { return time.Unix(v.Time, 999) })
	if err != nil {
		t.Fatal(err)
	}
	plain := v.Cosignatures[6]
	if plain.What != "no cosignature" {
		t.Fatalf("vector 6 is %q", plain.What)
	}
	got, err := cosigner.Cosign(plain.Note)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(v.Cosignatures[0].Note, got); d != "" {
		t.Errorf("cosigned: -want +got\n%s", d)
	}
	if again, err := cosigner.Cosign(got); err != nil || again != got {
		t.Errorf("cosigned twice in one second: %q %v", again, err)
	}
	if s := fmt.Sprintf("%v %+v %#v %x %d", cosigner, cosigner, *cosigner, *cosigner, *cosigner); strings.Contains(s, "PRIVATE") || strings.Contains(s, "0b0b") || strings.Contains(s, "11 11") {
		t.Errorf("a cosigner prints its key: %s", s)
	}
}

func TestEarliestCosignatureCounts(t *testing.T) {
	var v witnessVectors
	readVectors(t, "witness.json", &v)
	skey, vkey, err := NewWitnessKey("witness.example.org/w1", bytes.NewReader(bytes.Repeat([]byte{0x0b}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	w, err := ParseWitness(vkey)
	if err != nil {
		t.Fatal(err)
	}
	signed := v.Cosignatures[0].Note
	for _, at := range []int64{v.Time + 60, v.Time - 60, v.Time + 5} {
		c, err := NewCosigner(skey, func() time.Time { return time.Unix(at, 0) })
		if err != nil {
			t.Fatal(err)
		}
		if signed, err = c.Cosign(signed); err != nil {
			t.Fatal(err)
		}
	}
	if at, ok, err := w.Cosigned(signed); at != v.Time-60 || !ok || err != nil {
		t.Errorf("time %d, %t, %v, want %d", at, ok, err, v.Time-60)
	}
	// One bad line of a known key spoils the good ones.
	bad, err := AddLines(signed, "— witness.example.org/w1 VL5lRgAAAABnDVEIOV/2WoiG1VZvF7ZAOfPq2Nug+O7CBfUnCQfl7T60sGBjKcRu2YwzSBXOR5sSQe7wKMehTYfPU2FYG0ZHjb1JDQ==\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Cosigned(bad); !errors.Is(err, ErrSignature) {
		t.Errorf("a bad line among good ones: %v", err)
	}
	if _, err := AddLines(signed, "hello\n"); err == nil {
		t.Error("a line that is no signature was added")
	}
	if _, err := AddLines(signed, "example.org/other\n9\n\n— x y\n"); err == nil {
		t.Error("another note was added")
	}
}

func TestPolicyVectors(t *testing.T) {
	var v witnessVectors
	readVectors(t, "witness.json", &v)
	if len(v.Policies) == 0 || len(v.PoliciesInvalid) == 0 {
		t.Fatal("a list is empty")
	}
	for _, c := range v.Policies {
		t.Run(c.What, func(t *testing.T) {
			p, err := ParsePolicy(c.Text)
			if err != nil {
				t.Fatal(err)
			}
			again, err := ParsePolicy(p.Text())
			if err != nil {
				t.Fatalf("printed as\n%s%v", p.Text(), err)
			}
			for _, p := range []*Policy{p, again} {
				if d := cmp.Diff(c.Logs, append([]string{}, p.Logs()...)); d != "" {
					t.Errorf("logs: -want +got\n%s", d)
				}
				names := map[string]string{}
				for name, w := range p.Witnesses() {
					names[name] = w.String()
				}
				if d := cmp.Diff(c.Witnesses, names); d != "" {
					t.Errorf("witnesses: -want +got\n%s", d)
				}
				for _, m := range c.Met {
					set := map[string]bool{}
					for _, name := range m.CosignedBy {
						set[name] = true
					}
					if p.Satisfied(set) != m.OK {
						t.Errorf("cosigned by %v: met is not %t", m.CosignedBy, m.OK)
					}
				}
			}
		})
	}
	for _, c := range v.PoliciesInvalid {
		if _, err := ParsePolicy(c.Text); err == nil {
			t.Errorf("accepted: %s", c.What)
		}
	}
}

func TestPolicyCheck(t *testing.T) {
	var v witnessVectors
	readVectors(t, "witness.json", &v)
	p, err := NewPolicy(v.LogKey, []string{v.WitnessKey})
	if err != nil {
		t.Fatal(err)
	}
	good, none := v.Cosignatures[0].Note, v.Cosignatures[6].Note
	for _, c := range []struct {
		what   string
		signed string
		by     int64
		want   error
	}{
		{"cosigned", good, -1, nil},
		{"in time", good, v.Time, nil},
		{"a second late", good, v.Time - 1, ErrQuorum},
		{"not cosigned", none, -1, ErrQuorum},
		{"a bad line", v.CosignaturesInvalid[0].Note, -1, ErrSignature},
	} {
		if err := p.Check(c.signed, c.by); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	if log, err := p.Log(good); err != nil || log.Name() != "example.org/fairdice/test" {
		t.Errorf("log of the policy: %v", err)
	}
	open, err := NewPolicy(v.LogKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := open.Check(none, -1); err != nil {
		t.Errorf("quorum none: %v", err)
	}
	stranger, err := ParsePolicy("quorum none\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Log(good); !errors.Is(err, ErrSignature) {
		t.Errorf("a policy without logs knows one: %v", err)
	}
}
