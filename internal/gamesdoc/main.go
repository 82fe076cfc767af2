// Command gamesdoc writes docs/games.md, the rules of the games in the words of players: what stands in a template, what the
// variants are as data (package rules), how each value is explained (package internal/messages), how a board looks
// (internal/board), and where each part was found (sources.txt). Nothing about a variant is written here twice, so the page
// cannot disagree with the code.
//
//	go generate ./internal/gamesdoc
//
// RULES.md is the specification; this page is what a player reads.
package main

import (
	"fmt"
	"os"
)

//go:generate go run . ../../docs/games.md

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gamesdoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the file to write: got %d arguments", len(args))
	}
	text, err := render()
	if err != nil {
		return err
	}
	if err := os.WriteFile(args[0], text, 0o644); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
