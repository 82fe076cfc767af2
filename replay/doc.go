// Package replay holds the record of a game and the one state machine that every record runs through.
//
// A record is a text: a header, then one event per line (PROTOCOL.md §5). [ParseRecord] reads it strictly, [ParseEvent] and
// [Event.String] are its grammar, [Header.Head] and [Head.Next] its running hash. [Apply] is the only transition of a game: it
// adds seats, the opening draw, the cube, options and results (RULES.md §7) to the turn machine of package rules. It is pure; a
// service that accepts events and a verifier that checks them afterwards fold the same function, so they cannot disagree.
// [Match] adds games up to a series.
//
//	v, _ := rules.Lookup("short")
//	o, _ := replay.ParseOptions("raise=cube stake=win series=points:5 crawford=on")
//	m, _ := replay.NewMatch(v, o)
//	st, _ := replay.Start(m.Next())
//	for _, line := range []string{"opening 3 1", "move A 8/5 6/5", "double B", "drop A", "end B 1"} {
//		e, err := replay.ParseEvent(line)
//		if err == nil {
//			st, err = replay.Apply(st, e)
//		}
//		if err != nil {
//			log.Fatal(err) // a *Refusal names the rule, and lists what would have been accepted
//		}
//	}
//	m, _ = m.Add(st.Result())
//
// Contract: nothing here reads a clock, a file or randomness; equal inputs give equal outputs; every state is a comparable value.
package replay
