package rules_test

import (
	"errors"
	"fmt"

	"fairdice/rules"
)

// The first move of a short game.
func Example() {
	v, _ := rules.Lookup("short")
	g, _ := v.Rules.NewGame(rules.Terms{}).Begin(6, 4) // White threw the six and plays both dice
	var gen rules.Generator
	plays := gen.Plays(v.Rules, g.Position(), g.Stage())
	fmt.Println(plays.K, len(plays.Ends))
	// Output: 2 14
}

// An illegal move says which rule it breaks, where, and what is legal.
func ExampleIllegalError() {
	v, _ := rules.Lookup("long-classic")
	g, _ := v.Rules.NewGame(rules.Terms{}).Begin(6, 4)
	g, _ = g.Roll(rules.Dice{A: 5, B: 2})
	var gen rules.Generator
	_, err := g.Play(&gen, []rules.Step{{From: 0, To: 5}, {From: 0, To: 2}}) // both off the head
	var illegal *rules.IllegalError
	if errors.As(err, &illegal) {
		fmt.Println(illegal.Code, illegal.Step)
	}
	fmt.Println(err)
	// Output:
	// head-limit 1
	// illegal move 1/6 1/3 by white with dice 5 2: step 2, 1/3: no more checkers may leave the head (head-limit); legal: 1/6 6/8
}
