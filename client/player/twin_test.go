package player_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
)

// twin is a player of whom there are two: whatever he is asked, web/player.js
// is asked with the same file and the same answers of the house, and must say
// the same and leave the same file.
type twin struct {
	*player.Player
	t    *testing.T
	file string
}

func loadTwin(t *testing.T, file string) *twin {
	t.Helper()
	p, err := player.Load(file)
	must(t, err)
	w := &twin{p, t, file}
	if a, ok := ask(t, question{State: w.state(), Act: "load"}); ok && a.Anchor != p.Anchor().String() {
		t.Errorf("web/player.js loads %s as %q, %q, %s", file, a.Anchor, a.Refusal, a.Reason)
	}
	return w
}

func (w *twin) state() string {
	w.t.Helper()
	text, err := os.ReadFile(w.file)
	must(w.t, err)
	return string(text)
}

// tape remembers what a house has answered.
type tape struct {
	player.Source
	statements map[string]client.Published
	match      *client.Match
}

func (p *tape) Statements(ctx context.Context, match string, seen int64) (client.Published, error) {
	answer, err := p.Source.Statements(ctx, match, seen)
	if err == nil {
		p.statements[strconv.FormatInt(seen, 10)] = answer
	}
	return answer, err
}

func (p *tape) Match(ctx context.Context, match string) (client.Match, error) {
	m, err := p.Source.Match(ctx, match)
	p.match = &m
	return m, err
}

func (w *twin) Join(terms player.Terms) error {
	before := w.state()
	err := w.Player.Join(terms)
	w.compare(question{State: before, Act: "join", Terms: &terms}, player.Link{}, err)
	return err
}

func (w *twin) Release(ctx context.Context, from player.Source, game, segment int) (player.Link, error) {
	before, p := w.state(), &tape{Source: from, statements: make(map[string]client.Published)}
	l, err := w.Player.Release(ctx, p, game, segment)
	w.compare(question{State: before, Act: "release", Game: game, Segment: segment, Statements: p.statements, Match: p.match}, l, err)
	return l, err
}

func (w *twin) ReleaseThrow(ctx context.Context, from player.Source, game, segment, throw int) (player.Link, error) {
	before, p := w.state(), &tape{Source: from, statements: make(map[string]client.Published)}
	l, err := w.Player.ReleaseThrow(ctx, p, game, segment, throw)
	if p.match == nil { // the other one must not be kept from asking by the lack of an answer
		if _, err := p.Match(ctx, w.Match()); err != nil {
			w.t.Fatal(err)
		}
	}
	w.compare(question{State: before, Act: "throw", Game: game, Segment: segment, Throw: throw, Statements: p.statements, Match: p.match}, l, err)
	return l, err
}

func (w *twin) CheckRoll(r client.Roll) error {
	before := w.state()
	err := w.Player.CheckRoll(r)
	w.compare(question{State: before, Act: "roll", Roll: &r}, player.Link{}, err)
	return err
}

// compare asks the other one and demands the same link or refusal, and the
// same file at the moment his answer is there.
func (w *twin) compare(q question, l player.Link, err error) {
	w.t.Helper()
	a, ok := ask(w.t, q)
	if !ok {
		return
	}
	want := answer{Refusal: kindOf(err)}
	if l != (player.Link{}) {
		want.Seat, want.Link = string(l.Seat), l.Link.String()
	}
	if got := (answer{Refusal: a.Refusal, Seat: a.Seat, Link: a.Link}); got != want {
		w.t.Errorf("%s: web/player.js says %+v (%s), here it is %+v (%v)", q.Act, got, a.Reason, want, err)
	}
	if d := cmp.Diff(fields(w.t, w.state()), fields(w.t, a.State)); d != "" {
		w.t.Errorf("%s: the files differ (-here +web/player.js):\n%s", q.Act, d)
	}
}

func fields(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	must(t, json.Unmarshal([]byte(text), &v))
	return v
}

func kindOf(err error) string {
	var distrust *player.Distrust
	var outdated *player.Outdated
	switch {
	case err == nil:
		return ""
	case errors.As(err, &distrust):
		return distrust.Check
	case errors.As(err, &outdated):
		return "outdated"
	case errors.Is(err, player.ErrNotDue):
		return "not due"
	case errors.Is(err, commitment.ErrSpent):
		return "spent"
	}
	return "error"
}

// question and answer are what testdata/twin.mjs reads and writes.
type question struct {
	State      string                      `json:"state"`
	Act        string                      `json:"act"`
	Terms      *player.Terms               `json:"terms,omitempty"`
	Game       int                         `json:"game"`
	Segment    int                         `json:"segment"`
	Throw      int                         `json:"throw"`
	Statements map[string]client.Published `json:"statements,omitempty"`
	Match      *client.Match               `json:"match,omitempty"`
	Roll       *client.Roll                `json:"roll,omitempty"`
}

type answer struct {
	Anchor  string `json:"anchor"`
	Seat    string `json:"seat"`
	Link    string `json:"link"`
	Refusal string `json:"refusal"` // of PROTOCOL.md §9, or what kindOf says
	Reason  string `json:"reason"`
	State   string `json:"state"`
}

// node is the one process that web/player.js runs in.
var node = sync.OnceValues(func() (*process, error) {
	cmd := exec.Command("node", "testdata/twin.mjs")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{in: in, out: bufio.NewReader(out)}, cmd.Start() // ends with this process, its input being closed
})

type process struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// ask is false where there is no Node.js, and a failure of the test where CI
// says that everything is installed.
func ask(t *testing.T, q question) (a answer, ok bool) {
	t.Helper()
	p, err := node()
	if errors.Is(err, exec.ErrNotFound) {
		if os.Getenv("CI") == "true" {
			t.Fatal("web/player.js is not tested: no node in PATH, although CI=true")
		}
		return a, false
	}
	must(t, err)
	line, err := json.Marshal(q)
	must(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = p.in.Write(append(line, '\n'))
	must(t, err)
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("web/player.js has ended: %v", err)
	}
	must(t, json.Unmarshal(text, &a))
	return a, true
}
