package commitment_test

import (
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"fairdice/commitment"
)

// The life of one game, as house, players and a stranger see it. The randomness is fixed here so that the output is; a
// service passes crypto/rand.Reader.
func Example() {
	const (
		sequence = "01970000-0000-7000-8000-000000000001"
		match    = "01970000-0000-7000-8000-000000000101"
	)
	n := commitment.DefaultLengths()

	// The house seals a sequence and publishes two hashes.
	secret, err := commitment.NewSecret(strings.NewReader("thirty-two bytes of randomness!!"))
	if err != nil {
		log.Fatal(err)
	}
	sealed, err := commitment.Build(secret, sequence, commitment.Balanced, n, commitment.NoCut, nil)
	if err != nil {
		log.Fatal(err)
	}
	commit := commitment.Commit{
		Log: "example.org/dice", Tenant: "club", Mode: commitment.Balanced, Sequence: sequence, Rolls: n,
		SecretHash: secret.Hash(), Root: sealed.Root(), Time: time.Date(2026, 11, 29, 21, 52, 6, 0, time.UTC),
	}

	// The players, who published their anchors before, each release a link.
	alice, err := commitment.NewChain(strings.NewReader("alice's thirty-two random bytes."), 100)
	if err != nil {
		log.Fatal(err)
	}
	bob, err := commitment.NewChain(strings.NewReader("bob's own thirty-two random byte"), 100)
	if err != nil {
		log.Fatal(err)
	}
	linkA, _ := alice.Link(1)
	linkB, _ := bob.Link(1)
	cut := commitment.NewCut(match, 1, 1, &linkA, &linkB, nil)

	// The house deals: the cut dice are fixed by their root before the first roll.
	dealt, err := commitment.Build(secret, sequence, commitment.Balanced, n, cut, nil)
	if err != nil {
		log.Fatal(err)
	}
	root := dealt.Root()

	// It opens one roll, and the player checks it with nothing but the root.
	roll := dealt.Open(commitment.StreamA, 0)
	fmt.Println("roll", roll.Dice, "with", len(roll.Path), "hashes:", roll.Verify(root, n))
	roll.Dice.D1 = roll.Dice.D1%6 + 1
	fmt.Println("changed:", errors.Is(roll.Verify(root, n), commitment.ErrRoot))

	// Afterwards a stranger holds the secret against the commit.
	again, err := commitment.Build(secret, sequence, commitment.Balanced, n, commitment.NoCut, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sealed:", commit.SecretHash == secret.Hash() && commit.Root == again.Root())
	// Output:
	// roll 2 3 with 10 hashes: <nil>
	// changed: true
	// sealed: true
}

// A statement has one text, and a text one statement.
func ExampleParse() {
	text := "fairdice/v1/finish\n" +
		"match 01970000-0000-7000-8000-000000000101\n" +
		"score 2 6\n" +
		"reason abandoned\n" +
		"time 2026-11-29T21:52:06Z\n"
	s, err := commitment.Parse([]byte(text))
	fmt.Println(s.(commitment.Finish).ScoreB, err, string(s.Text()) == text)

	_, err = commitment.Parse([]byte(strings.Replace(text, "score 2", "score 02", 1)))
	fmt.Println(err)
	// Output:
	// 6 <nil> true
	// parse statement: line 3: score: parse integer: "02" is not a canonical number up to 2^53 - 1
}

// Links of one player through two games of a match: a link left out is found.
func ExampleFollow() {
	chain, err := commitment.NewChain(strings.NewReader("thirty-two bytes of randomness!!"), 100)
	if err != nil {
		log.Fatal(err)
	}
	var links [4]commitment.Hash
	for t := 1; t < len(links); t++ {
		links[t], _ = chain.Link(t)
	}
	_, err = commitment.Follow(chain.Anchor(), []commitment.GameLinks{
		{Deals: links[1:2]},
		{Deals: links[2:3]},
	})
	fmt.Println(err)
	_, err = commitment.Follow(chain.Anchor(), []commitment.GameLinks{
		{Deals: links[1:2]},
		{Deals: links[3:4]}, // where is the second?
	})
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}

// A receipt is signed for each roll. A verifier tells a forged one from one that is no receipt at all.
func ExampleOpenReceipt() {
	skey, vkey, err := commitment.NewKey("example.org/dice/receipts", strings.NewReader("thirty-two bytes of randomness!!"))
	if err != nil {
		log.Fatal(err)
	}
	signer, err := commitment.NewSigner(skey)
	if err != nil {
		log.Fatal(err)
	}
	receipt := commitment.Receipt{
		Match: "01970000-0000-7000-8000-000000000101", Game: 1, Segment: 1,
		Sequence: "01970000-0000-7000-8000-000000000001", Stream: commitment.StreamA, Index: 7,
		Dice: commitment.Dice{D1: 6, D2: 1}, Time: time.Date(2026, 11, 29, 21, 52, 6, 0, time.UTC),
	}
	signed, err := receipt.Sign(signer)
	if err != nil {
		log.Fatal(err)
	}
	back, err := commitment.OpenReceipt(signed, vkey)
	fmt.Println(back.Stream, back.Index, back.Dice, err)

	_, err = commitment.OpenReceipt(strings.Replace(signed, "dice 6 1", "dice 6 6", 1), vkey)
	fmt.Println(errors.Is(err, commitment.ErrSignature))
	// Output:
	// a 7 6 1 <nil>
	// true
}

func ExampleLiveDice() {
	key, linkA, linkB := commitment.Sum([]byte("K")), commitment.Sum([]byte("A")), commitment.Sum([]byte("B"))
	fmt.Println(commitment.LiveDice(key, linkA, linkB))
	// Output: 3 1
}
