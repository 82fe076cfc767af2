//go:build !js

package main

import (
	"fmt"
	"html/template"

	"fairdice/internal/board"
	"fairdice/replay"
)

// drawState draws a game as text, seen by the player on turn, or nothing before
// the opening draw has put colours to the seats.
func drawState(st replay.State) string {
	if _, begun := st.White(); !begun {
		return ""
	}
	return board.Text(st.Position(), viewOf(st)) + " " + seats(st) + "\n"
}

// pictureState draws the same as a picture for a page. It is markup made from
// numbers alone, so that no text of a bundle can get into the page unescaped.
func pictureState(st replay.State) template.HTML {
	if _, begun := st.White(); !begun {
		return ""
	}
	return template.HTML(board.SVG(st.Position(), viewOf(st)))
}

func viewOf(st replay.State) board.Options {
	return board.Options{Rules: st.Setting().Variant.Rules, View: st.Game().OnTurn()}
}

// seats says who plays which colour, and what the cube shows once it has been
// turned.
func seats(st replay.State) string {
	if _, begun := st.White(); !begun {
		return ""
	}
	text := fmt.Sprintf("A plays %s, B plays %s", st.Color(replay.A), st.Color(replay.B))
	switch cube := st.Cube(); {
	case cube.Owned:
		text += fmt.Sprintf(", the cube is at %d with %s", cube.Value, cube.Owner)
	case cube.Value > 1:
		text += fmt.Sprintf(", the cube is at %d in the middle", cube.Value)
	}
	return text
}
