// Package beacon verifies rounds of drand's quicknet offline. A round's signature is a value that nobody, the drand
// members included, can know or choose before its time: it cuts the dice of a match whose players give no links.
//
// The public key is built in. There is no network here: whoever needs a signature fetches it somewhere else, and
// believes it only after Verify.
//
//	round := beacon.RoundFor(assignTime)       // named in the `assign`
//	err := beacon.Verify(round, signature)     // as found in the `deal`
//
// Scheme bls-unchained-g1-rfc9380: signatures in G1, key in G2, message H(round as 8 bytes big-endian). PROTOCOL.md §4.
package beacon

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"fairdice/internal/phrase"
)

// The quicknet chain.
const (
	Scheme    = "bls-unchained-g1-rfc9380"
	ChainHash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
	PublicKey = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451" +
		"0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
	Genesis       = 1692803367 // time of round 1, seconds since 1970
	Period        = 3          // seconds from round to round
	SignatureSize = bls.SizeOfG1AffineCompressed
)

// Lead is how long before its round an `assign` must be dated: nobody may know the round's signature yet, not even with a
// clock that is a few seconds off.
const Lead = 15 * time.Second

const domain = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"

// Time returns the time from which a round's signature is public: Genesis + Period·(round − 1).
func Time(round uint64) time.Time {
	return time.Unix(Genesis+Period*(int64(round)-1), 0).UTC()
}

// RoundFor returns the earliest round an `assign` of that time may name: the first one with Time ≥ assigned + Lead.
func RoundFor(assigned time.Time) uint64 {
	due := assigned.Add(Lead)
	seconds := due.Unix() - Genesis
	if due.Nanosecond() > 0 {
		seconds++
	}
	if seconds <= 0 {
		return 1
	}
	return uint64((seconds+Period-1)/Period) + 1
}

// CheckAssign refuses an `assign` that names a round too early for its own time.
func CheckAssign(round uint64, assigned time.Time) error {
	if round < 1 {
		return errors.New("check round: rounds count from 1")
	}
	if latest := Time(round).Add(-Lead); assigned.After(latest) {
		return phrase.Errorf("check round: round %d is public at %s; an assign that names it must be dated %s at the latest, not %s",
			round, Time(round).Format(time.RFC3339), latest.Format(time.RFC3339), assigned.UTC().Format(time.RFC3339))
	}
	return nil
}

// ErrSignature says that a signature is none of the chain for its round.
var ErrSignature = errors.New("not the beacon's signature of the round")

// Verify checks the signature of a round, in canonical compressed form: 48 bytes that decode to a point of the right
// subgroup and encode to themselves again. Anything else would be a second spelling of the same signature, and so a
// second cut to choose from.
func Verify(round uint64, signature []byte) error {
	if round < 1 {
		return errors.New("verify beacon: rounds count from 1")
	}
	if len(signature) != SignatureSize {
		return phrase.Errorf("verify beacon: signature of %d bytes, want %d", len(signature), SignatureSize)
	}
	var point bls.G1Affine
	if _, err := point.SetBytes(signature); err != nil {
		return phrase.Errorf("verify beacon: decode signature: %w", err)
	}
	if point.IsInfinity() || point.Bytes() != [SignatureSize]byte(signature) {
		return errors.New("verify beacon: signature is not in canonical compressed form")
	}
	m := Message(round)
	hashed, err := bls.HashToG1(m[:], []byte(domain))
	if err != nil {
		return phrase.Errorf("verify beacon: hash round: %w", err)
	}
	k := key()
	ok, err := bls.PairingCheckFixedQ([]bls.G1Affine{point, hashed}, k[:]) // e(sig, −g2)·e(H(m), key) = 1
	if err != nil {
		return phrase.Errorf("verify beacon: pair: %w", err)
	}
	if !ok {
		return phrase.Errorf("verify beacon: round %d: %w", round, ErrSignature)
	}
	return nil
}

// Message returns what the beacon signs: H(round as 8 bytes big-endian).
func Message(round uint64) [sha256.Size]byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], round)
	return sha256.Sum256(b[:])
}

// key holds the precomputed lines of −g2 and of the built-in public key.
var key = sync.OnceValue(func() [2]lines {
	raw, err := hex.DecodeString(PublicKey)
	if err != nil {
		panic("beacon: built-in key: " + err.Error())
	}
	var public, generator bls.G2Affine
	if _, err := public.SetBytes(raw); err != nil {
		panic("beacon: built-in key: " + err.Error())
	}
	_, _, _, generator = bls.Generators()
	generator.Neg(&generator)
	return [2]lines{bls.PrecomputeLines(generator), bls.PrecomputeLines(public)}
})

type lines = [2][len(bls.LoopCounter) - 1]bls.LineEvaluationAff
