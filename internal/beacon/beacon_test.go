package beacon

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
)

func read(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

type vectors struct {
	Scheme          string
	ChainHash       string `json:"chain_hash"`
	PublicKey       string `json:"public_key"`
	DST             string
	Genesis, Period int64
	Rounds          []struct {
		Round              uint64
		Message, Signature string
		Time               time.Time
	}
	Negative []struct {
		What      string
		Round     uint64
		Signature string
	}
}

func TestVectors(t *testing.T) {
	var v vectors
	read(t, "drand.json", &v)
	if v.Scheme != Scheme || v.ChainHash != ChainHash || v.PublicKey != PublicKey || v.DST != domain || v.Genesis != Genesis || v.Period != Period {
		t.Error("a parameter of the chain differs")
	}
	if len(v.Rounds) == 0 || len(v.Negative) == 0 {
		t.Fatal("a list is empty")
	}
	for _, c := range v.Rounds {
		if m := Message(c.Round); hex.EncodeToString(m[:]) != c.Message {
			t.Errorf("round %d: message %x, want %s", c.Round, m, c.Message)
		}
		sig := unhex(t, c.Signature)
		if err := Verify(c.Round, sig); err != nil {
			t.Errorf("round %d: %v", c.Round, err)
		}
		if !Time(c.Round).Equal(c.Time) {
			t.Errorf("round %d: time %s, want %s", c.Round, Time(c.Round), c.Time)
		}
		for i := range 8 * len(sig) {
			if i%7 != 0 { // a seventh of the bits is enough
				continue
			}
			sig[i/8] ^= 1 << (i % 8)
			if Verify(c.Round, sig) == nil {
				t.Errorf("round %d: verified with bit %d flipped", c.Round, i)
			}
			sig[i/8] ^= 1 << (i % 8)
		}
	}
	for _, c := range v.Negative {
		if err := Verify(c.Round, unhex(t, c.Signature)); err == nil {
			t.Errorf("round %d verified: %s", c.Round, c.What)
		}
	}
}

func TestTimes(t *testing.T) {
	var v struct {
		RoundTimes []struct {
			Round        uint64
			Time         time.Time
			LatestAssign time.Time `json:"latest_assign"`
		} `json:"round_times"`
	}
	read(t, "times.json", &v)
	for _, c := range v.RoundTimes {
		if !Time(c.Round).Equal(c.Time) {
			t.Errorf("round %d: time %s, want %s", c.Round, Time(c.Round), c.Time)
		}
		if err := CheckAssign(c.Round, c.LatestAssign); err != nil {
			t.Error(err)
		}
		if CheckAssign(c.Round, c.LatestAssign.Add(time.Second)) == nil {
			t.Errorf("round %d: an assign one second too late was accepted", c.Round)
		}
		if got := RoundFor(c.LatestAssign); got != c.Round {
			t.Errorf("earliest round for %s is %d, want %d", c.LatestAssign, got, c.Round)
		}
		if got := RoundFor(c.LatestAssign.Add(time.Nanosecond)); got != c.Round+1 {
			t.Errorf("earliest round just after %s is %d, want %d", c.LatestAssign, got, c.Round+1)
		}
	}
	if got := RoundFor(time.Unix(0, 0)); got != 1 {
		t.Errorf("earliest round in 1970 is %d, want 1", got)
	}
}

func TestRoundZero(t *testing.T) {
	if Verify(0, make([]byte, SignatureSize)) == nil || CheckAssign(0, time.Unix(0, 0)) == nil {
		t.Error("round 0 was accepted")
	}
}

// The same x with p added is a second spelling of a signature. Its encoding must not verify; neither may a point of the
// curve outside the subgroup.
func TestOtherSpellings(t *testing.T) {
	var v vectors
	read(t, "drand.json", &v)
	var x bls.G1Affine
	if _, err := x.SetBytes(unhex(t, v.Rounds[0].Signature)); err != nil {
		t.Fatal(err)
	}
	raw := x.X.Bytes()
	sum := make([]byte, SignatureSize)
	p := fp.Modulus().FillBytes(make([]byte, SignatureSize))
	carry := 0
	for i := SignatureSize - 1; i >= 0; i-- {
		s := int(raw[i]) + int(p[i]) + carry
		sum[i], carry = byte(s), s>>8
	}
	sum[0] |= unhex(t, v.Rounds[0].Signature)[0] & 0xe0
	if err := Verify(v.Rounds[0].Round, sum); err == nil {
		t.Error("x + p verified")
	}
	for i := byte(1); ; i++ {
		sig := make([]byte, SignatureSize)
		sig[0], sig[SignatureSize-1] = 0x80, i
		var q bls.G1Affine
		if q.X.SetBytes(sig[1:]); i > 200 {
			t.Fatal("no point found outside the subgroup")
		}
		var rhs, y fp.Element
		rhs.Square(&q.X)
		rhs.Mul(&rhs, &q.X)
		var four fp.Element
		four.SetUint64(4)
		rhs.Add(&rhs, &four)
		if y.Sqrt(&rhs) == nil {
			continue
		}
		q.Y = y
		if q.IsInSubGroup() {
			continue
		}
		if err := Verify(v.Rounds[0].Round, sig); err == nil {
			t.Error("a point outside the subgroup verified")
		}
		return
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func BenchmarkVerify(b *testing.B) {
	var v vectors
	read(b, "drand.json", &v)
	sig := unhex(b, v.Rounds[0].Signature)
	for b.Loop() {
		if err := Verify(v.Rounds[0].Round, sig); err != nil {
			b.Fatal(err)
		}
	}
}
