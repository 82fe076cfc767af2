//go:build !js

package main

import "fairdice/replay"

// drawState draws the position of a game as text, or nothing before the
// opening draw has put colours to the seats.
func drawState(st replay.State) string {
	if _, begun := st.White(); !begun {
		return ""
	}
	return st.Position().String()
}
