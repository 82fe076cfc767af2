package house_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/rules"

	"github.com/anishathalye/porcupine"
)

// The history of one game under several clients at once is linearizable if
// the answers of all of them are what one house would have answered that
// carried the same requests out one after the other, each at some moment
// between its beginning and its end. What such a house answers is seat: the
// whole life of a refereed game whose two players take part in the cut.

// seat is one request.
type seat struct {
	kind   string // link, draw, append, close, abort
	player int    // whose link
	link   commitment.Hash
	stream string
	index  int
	line   int
	text   string // of the line, or the reason
}

func (r seat) String() string {
	switch r.kind {
	case "link":
		return fmt.Sprintf("link %c %.4x", 'a'+r.player, r.link[:])
	case "draw":
		return fmt.Sprintf("draw %s %d", r.stream, r.index)
	case "append":
		return fmt.Sprintf("append %d %q", r.line, r.text)
	}
	return r.kind + " " + r.text
}

// said is its answer.
type said struct {
	code    house.Code // of a refusal, "" otherwise
	text    string     // of a draw: the record line it wrote
	line    int
	receipt string
	head    string // of the record after it
	dealt   bool   // by this link
}

// story is how the game stands; two that are equal are the same.
type story struct {
	links [2]commitment.Hash // released
	last  int                // 1 and 2: whose link completed the deal
	lines string             // of the record, each with its end
	rolls string             // every draw with its answer
	ended string             // "", closed, or aborted and the reason
}

func (s story) dealt() bool { return s.last > 0 }

// sequential is the house that does one thing after the other.
type sequential struct {
	header  replay.Header
	setting replay.Setting
	links   [2]commitment.Hash // those that continue the chains

	mu     sync.Mutex
	folded map[string]replay.State
}

func (m *sequential) fold(lines string) replay.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	st, ok := m.folded[lines]
	if ok {
		return st
	}
	st, err := replay.Start(m.setting)
	var gen rules.Generator
	for line := range strings.Lines(lines) {
		var e replay.Event
		if e, err = replay.ParseEvent(strings.TrimSuffix(line, "\n")); err == nil {
			st, err = st.Apply(&gen, e)
		}
		if err != nil {
			panic(fmt.Sprintf("the model has a record that cannot be: %q: %v", line, err))
		}
	}
	m.folded[lines] = st
	return st
}

// thrown is how many rolls of a stream the record has.
func thrown(st replay.State, stream string) int {
	return int(st.Throws()[map[string]int{"opening": 0, "a": 1, "b": 2}[stream]])
}

func (m *sequential) head(lines string) string {
	h := m.header.Head()
	for line := range strings.Lines(lines) {
		h = h.Next(strings.TrimSuffix(line, "\n"))
	}
	return h.String()
}

// step says what must be answered, and how the game stands afterwards. What
// only the house knows, the dice and the receipt of a new draw, is as it was answered.
func (m *sequential) step(s story, r seat, out said) (said, story) {
	no := func(c house.Code) (said, story) { return said{code: c}, s }
	st := m.fold(s.lines)
	lines := slices.Collect(strings.Lines(s.lines))
	switch r.kind {
	case "link":
		switch {
		case s.links[r.player] == r.link:
		case s.links[r.player] != commitment.Hash{}:
			return no(house.OtherContent)
		case s.ended != "" || st.Decided():
			return no(house.GameEnded)
		case r.link != m.links[r.player]:
			return no(house.WrongLink)
		default:
			if s.links[r.player] = r.link; s.links[1-r.player] != (commitment.Hash{}) {
				s.last = r.player + 1
			}
		}
		return said{dealt: s.last == r.player+1}, s
	case "draw":
		roll := fmt.Sprintf("%s %d ", r.stream, r.index)
		for old := range strings.Lines(s.rolls) {
			if rest, ok := strings.CutPrefix(old, roll); ok { // drawn before: the same answer for ever
				var was said
				fmt.Sscanf(rest, "%d %s %s %q", &was.line, &was.receipt, &was.head, &was.text)
				return was, s
			}
		}
		due, ok := st.NextDraw()
		switch {
		case s.ended != "":
			return no(house.GameEnded)
		case !ok || due != r.stream:
			return no(house.NotDue)
		case r.index != thrown(st, r.stream):
			return no(house.OutOfOrder)
		case !s.dealt():
			return no(house.AwaitingLink)
		case out.code != "":
			return said{text: "a roll"}, s
		}
		s.lines += out.text + "\n"
		now := said{text: out.text, line: len(lines) + 1, receipt: out.receipt, head: m.head(s.lines)}
		s.rolls += fmt.Sprintf("%s%d %s %s %q\n", roll, now.line, now.receipt, now.head, now.text)
		return now, s
	case "append":
		switch {
		case r.line > len(lines)+1:
			return no(house.OutOfOrder)
		case r.line <= len(lines) && lines[r.line-1] != r.text+"\n":
			return no(house.OtherContent)
		case r.line <= len(lines):
		case s.ended != "":
			return no(house.GameEnded)
		default:
			e, err := replay.ParseEvent(r.text)
			if err != nil {
				panic(err)
			}
			switch throws := st.Throws(); {
			case e.Kind == replay.Timeout && !s.dealt() && s.links[e.Seat] != (commitment.Hash{}),
				e.Kind == replay.Timeout && s.dealt() && throws[0]+throws[1]+throws[2] == 0:
				return no(house.NotDue)
			case !s.dealt() && e.Kind != replay.Timeout && e.Kind != replay.End:
				return no(house.AwaitingLink)
			}
			var gen rules.Generator
			if _, err := st.Apply(&gen, e); err != nil {
				return no(house.Illegal)
			}
			s.lines += r.text + "\n"
		}
		return said{head: m.head(strings.Join(slices.Collect(strings.Lines(s.lines))[:r.line], ""))}, s
	case "close":
		switch {
		case strings.HasPrefix(s.ended, "aborted"):
			return no(house.GameEnded)
		case s.ended == "" && !st.Over():
			return no(house.NotDue)
		}
		s.ended = "closed"
		return said{}, s
	}
	switch {
	case s.ended == "closed":
		return no(house.GameEnded)
	case s.ended != "" && s.ended != "aborted "+r.text:
		return no(house.OtherContent)
	case s.ended == "" && (st.Over() || st.Decided()):
		return no(house.NotDue)
	}
	s.ended = "aborted " + r.text
	return said{}, s
}

func (m *sequential) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return story{} },
		Step: func(state, in, out any) (bool, any) {
			want, next := m.step(state.(story), in.(seat), out.(said))
			return want == out.(said), next
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v: %+v", in, out) },
	}
}
