package replay_test

import (
	"errors"
	"fmt"
	"log"

	"fairdice/replay"
	"fairdice/rules"
)

func Example() {
	v, _ := rules.Lookup("short")
	o, _ := replay.ParseOptions("raise=cube stake=win series=points:5 crawford=on")
	m, _ := replay.NewMatch(v, o)
	st, _ := replay.Start(m.Next())
	for _, line := range []string{"opening 3 1", "move A 8/5 6/5", "double B", "drop A", "end B 1"} {
		e, err := replay.ParseEvent(line)
		if err == nil {
			st, err = replay.Apply(st, e)
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(line, "→", st.Due())
	}
	m, _ = m.Add(st.Result())
	fmt.Println(st.Result(), m.Score())
	// Output:
	// opening 3 1 → stage A 3 1
	// move A 8/5 6/5 → roll B
	// double B → answer A
	// drop A → end
	// end B 1 → done
	// B 1 [0 1]
}

func ExampleRefusal() {
	v, _ := rules.Lookup("short")
	out := replay.Run(replay.Setting{Variant: v, Game: 1}, []string{"opening 6 5", "move A 24/18"})
	if r, ok := errors.AsType[*replay.Refusal](out.Fault); ok {
		fmt.Println(out.Fault.Line, r.Check, r.Code)
		fmt.Println(len(r.Alternatives(5)), "legal moves of five asked for")
	}
	// Output:
	// 2 rules.forced must-use-more
	// 5 legal moves of five asked for
}
