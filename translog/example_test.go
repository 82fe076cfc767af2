package translog_test

import (
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"fairdice/commitment"
	"fairdice/translog"
)

// stored keeps the hashes of a log in memory.
type stored [][32]byte

func (s *stored) LogHashes(indexes []int64) ([][32]byte, error) {
	var list [][32]byte
	for _, i := range indexes {
		list = append(list, (*s)[i])
	}
	return list, nil
}

// A log of three statements, cosigned by a witness and checked by somebody who has nothing but a policy.
func Example() {
	randomness := func(s string) *strings.Reader { return strings.NewReader(s + strings.Repeat(".", 32)) }
	skey, vkey, err := commitment.NewKey("example.org/dice", randomness("log"))
	if err != nil {
		log.Fatal(err)
	}
	signer, err := commitment.NewSigner(skey)
	if err != nil {
		log.Fatal(err)
	}
	wkey, witness, err := translog.NewWitnessKey("witness.example.org", randomness("witness"))
	if err != nil {
		log.Fatal(err)
	}
	cosigner, err := translog.NewCosigner(wkey, func() time.Time { return time.Unix(1796000000, 0) })
	if err != nil {
		log.Fatal(err)
	}

	// The log stores hashes as statements come, and signs its state.
	var hashes stored
	statements := []string{"one\n", "two\n", "three\n"}
	for i, s := range statements {
		list, err := translog.NewHashes(&hashes, int64(i), []byte(s))
		if err != nil {
			log.Fatal(err)
		}
		hashes = append(hashes, list...)
	}
	root, err := translog.Root(3, translog.Stored(&hashes))
	if err != nil {
		log.Fatal(err)
	}
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: "example.org/dice", Size: 3, Root: root}, signer)
	if err != nil {
		log.Fatal(err)
	}
	if signed, err = cosigner.Cosign(signed); err != nil {
		log.Fatal(err)
	}
	path, err := translog.Inclusion(3, 1, translog.Stored(&hashes))
	if err != nil {
		log.Fatal(err)
	}
	proof := translog.Proof{Index: 1, Path: path, Checkpoint: signed}.Text()

	// A reader trusts one log key and one witness.
	policy, err := translog.ParsePolicy("log " + vkey + "\nwitness w " + witness + "\nquorum w\n")
	if err != nil {
		log.Fatal(err)
	}
	p, err := translog.ParseProof(proof)
	if err != nil {
		log.Fatal(err)
	}
	known, err := policy.Log(p.Checkpoint)
	if err != nil {
		log.Fatal(err)
	}
	c, err := p.Verify([]byte("two\n"), known)
	fmt.Println("statement 1 of", c.Size, err)
	fmt.Println("witnessed:", policy.Check(p.Checkpoint, -1))
	fmt.Println("a second earlier:", errors.Is(policy.Check(p.Checkpoint, 1796000000-1), translog.ErrQuorum))
	_, err = p.Verify([]byte("too\n"), known)
	fmt.Println("another statement:", err != nil)
	// Output:
	// statement 1 of 3 <nil>
	// witnessed: <nil>
	// a second earlier: true
	// another statement: true
}
