package translog

import (
	"fmt"
	"strings"
	"testing"
)

// Nobody can make a parser of this package work on more than its limit.
func TestLimits(t *testing.T) {
	var lines strings.Builder
	for i := range maxPolicyLines + 1 {
		fmt.Fprintf(&lines, "group g%d any w\n", i)
	}
	var v checkpointVectors
	readVectors(t, "checkpoint.json", &v)
	proof := v.TlogProofs[0].Text
	hash := "gnBBpyhIZq0jFpFUMvdhWXF2r3QZ4gsvSB13E63lEXk=\n"
	for what, err := range map[string]error{
		"a policy of 1 MiB":            second(ParsePolicy("#" + strings.Repeat("x", 1<<20) + "\nquorum none\n")),
		"a policy of too many lines":   second(ParsePolicy(lines.String() + "quorum none\n")),
		"a policy without final LF":    second(ParsePolicy("quorum none")),
		"a proof of 1 MiB":             second(ParseProof(proof + strings.Repeat("x", 1<<20))),
		"a path of 65 hashes":          second(ParseProof(strings.Replace(proof, hash, strings.Repeat(hash, 63), 1))),
		"a checkpoint of 1 MiB":        second(ReadCheckpoint(strings.Repeat("x", 1<<20))),
		"a checkpoint text of 1 MiB":   second(ParseCheckpoint(strings.Repeat("x", 1<<20) + "\n1\n" + hash + "x")),
		"a tree size above 2^53 - 1":   second(ParseCheckpoint("x\n9007199254740992\n" + hash)),
		"a root with spare bits set":   second(ParseCheckpoint("x\n1\ngnBBpyhIZq0jFpFUMvdhWXF2r3QZ4gsvSB13E63lEXl=\n")),
		"an origin with a space":       second(ParseCheckpoint("a b\n1\n" + hash)),
		"a witness key that is no key": second(ParseWitness("x")),
		"a cosigner with a log's key":  second(NewCosigner(v.Keys[0].SignerKey, nil)),
		"a cosigner with no key":       second(NewCosigner("", nil)),
	} {
		if err == nil {
			t.Errorf("accepted: %s", what)
		}
	}
}

func second[T any](_ T, err error) error { return err }
