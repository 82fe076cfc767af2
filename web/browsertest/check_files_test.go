package browsertest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairdice/internal/browser"
)

// sample is a good file of one kind.
type sample struct {
	name string
	data []byte
}

// samples are good files of the four kinds.
func samples(t *testing.T, tb *table) []sample {
	t.Helper()
	all := []sample{{"match.json", tb.bundle}}
	for _, name := range []string{"game.record", "game.mat", "game.sgf"} {
		all = append(all, sample{name, sampleFile(t, name)})
	}
	return all
}

func sampleFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	return data
}

// spoilt changes one thing in a file.
func spoilt(t *testing.T, data []byte, from, to string) []byte {
	t.Helper()
	if bytes.Count(data, []byte(from)) != 1 {
		t.Fatalf("the file has %q %d times, want once", from, bytes.Count(data, []byte(from)))
	}
	return bytes.Replace(data, []byte(from), []byte(to), 1)
}

// openCheck opens the page on which files are checked.
func openCheck(t *testing.T, url string) *browser.Page {
	t.Helper()
	built(t)
	p := browser.Open(t, browser.Look{})
	p.Go(url + "/")
	p.Shown("#files")
	return p
}

// Files of all kinds come by either way, and the verdict stands on the page in words.
func TestFourKinds(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	p := openCheck(t, tb.url)
	for _, s := range samples(t, tb) {
		for way, give := range map[string]func(){
			"dropped": func() { p.Drop("main", s.name, s.data) },
			"chosen":  func() { p.Choose("#files", s.name, s.data) },
		} {
			give()
			if got := verdict(p); got != "verified" {
				t.Errorf("%s %s: %s: %s", s.name, way, got, p.Text(".report"))
			}
			if name, words := p.Text(".report .file"), p.Text(".report .verdict"); name != s.name || !strings.HasPrefix(words, "Verified") {
				t.Errorf("%s %s: the report on %q says %q", s.name, way, name, words)
			}
			if n := browser.Eval[int](p, `document.querySelectorAll('.report .fault').length`); n != 0 {
				t.Errorf("%s %s: %d faults", s.name, way, n)
			}
		}
	}
	p.Quiet()
}

// faultOf is the first fault on the page: where it is, the check that has found it, its words, and what the board says of itself.
type faultOf struct {
	Place, Check, Words, Board, Described string
	Legal                                 []string
}

const firstFault = `((f) => f && {
	place: f.querySelector('h3').textContent,
	check: f.querySelector('.words code').textContent,
	words: f.querySelector('.words').textContent,
	board: f.querySelector('svg')?.getAttribute('role') ?? '',
	described: f.querySelector('svg desc')?.textContent ?? '',
	legal: [...f.querySelectorAll('.legal li')].map((e) => e.textContent),
})(document.querySelector('.report .fault'))`

// A file that was changed in one place is refused there: the check is named and told in plain words, the board is drawn, what would have been
// legal is listed, and the replay opens at that line.
func TestSpoiltFiles(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	p := openCheck(t, tb.url)
	_, rolled, _ := bytes.Cut(tb.bundle, []byte(`\nroll `)) // "A 6 5\n…"
	dice := string(rolled[:5])
	other := dice[:2] + string('1'+('6'-dice[2])) + dice[3:]
	if other == dice {
		t.Fatalf("the roll %s has no other die", dice)
	}
	for _, c := range []struct {
		sample
		check, place string
		first        string // of a bundle's checks, by the order of PROTOCOL.md
		legal        bool
	}{
		{sample{"die.json", bytes.Replace(tb.bundle, []byte(`\nroll `+dice), []byte(`\nroll `+other), 1)}, "record.rolls", "Game 1, line ", "record.head", false},
		{sample{"move.record", spoilt(t, sampleFile(t, "game.record"), "13/7 8/3", "13/7 8/2")}, "rules.moves", "Game 1, line 12", "", true},
		{sample{"short.record", spoilt(t, sampleFile(t, "game.record"), "13/7 8/3", "13/7")}, "rules.forced", "Game 1, line 12", "", true},
		{sample{"result.record", spoilt(t, sampleFile(t, "game.record"), "end A 1", "end A 2")}, "result", "Game 1, line 14", "", true},
		{sample{"move.mat", spoilt(t, sampleFile(t, "game.mat"), "8/4 6/4", "8/4 6/3")}, "rules.moves", "Game 1, line 4", "", true},
		{sample{"result.mat", spoilt(t, sampleFile(t, "game.mat"), "Wins 1 point", "Wins 4 points")}, "result", "Game 1, line 5", "", false},
		{sample{"move.sgf", spoilt(t, sampleFile(t, "game.sgf"), "62agln", "62aglm")}, "rules.moves", "Game 1, line 2", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.Drop("main", c.name, c.data)
			if got := verdict(p); got != "failed" {
				t.Fatalf("it is %s: %s", got, p.Text(".report"))
			}
			f := browser.Eval[*faultOf](p, firstFault)
			switch {
			case f == nil:
				t.Fatalf("no fault is shown: %s", p.Text(".report"))
			case f.Check != c.check || !strings.HasPrefix(f.Place, c.place):
				t.Errorf("the first fault is %s, %s, want %s, %s", f.Check, f.Place, c.check, c.place)
			case f.Words == f.Check || !strings.Contains(f.Words, " "):
				t.Errorf("the words are %q", f.Words)
			case f.Board != "img" || !strings.Contains(f.Described, "White"):
				t.Errorf("the board is %q, described as %q", f.Board, f.Described)
			case c.legal != (len(f.Legal) > 0):
				t.Errorf("legal would have been %q", f.Legal)
			}
			if row := browser.Eval[string](p, `document.querySelector('.report tbody tr')?.textContent ?? ''`); !strings.HasPrefix(row, c.first) {
				t.Errorf("the first of all checks is %s", row)
			}
			axe := strings.HasSuffix(c.name, ".json") || c.name == "move.mat"
			if axe {
				p.Accessible()
			}
			p.Click(".report [data-do=replay]")
			p.Shown(".screen .replay .board svg")
			if !strings.HasSuffix(c.name, ".json") {
				p.Says(".screen [data-part=fault]", c.check)
				p.Until(`document.querySelector('.screen [aria-current=step]')?.classList.contains('broken')`)
			}
			if axe {
				p.Accessible()
			}
		})
	}
	p.Quiet()
}

// program builds the command line.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fairdice-verify")
	if err != nil {
		return "", err
	}
	atEnd = append(atEnd, func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "verify")
	out, err := exec.Command("go", "build", "-o", path, "fairdice/cmd/verify").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return path, err
})

// printed is what the command line prints for a file of that name.
func printed(t *testing.T, s sample, args ...string) string {
	t.Helper()
	path, err := program()
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, s.name), s.data, 0o600))
	cmd := exec.Command(path, append(args, s.name)...)
	cmd.Dir = dir
	out, _ := cmd.Output() // its status is the verdict
	return string(out)
}

// What is saved as JSON is what the command line prints, byte for byte; what is saved as a page says the same without a script.
func TestSavedReports(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	p := openCheck(t, tb.url)
	for _, s := range append(samples(t, tb), sample{"move.mat", spoilt(t, sampleFile(t, "game.mat"), "8/4 6/4", "8/4 6/3")}) {
		args := []string{"record", "--json"}
		if s.name == "match.json" {
			args = []string{"bundle", "--json", "--key", tb.logKey}
		}
		want := printed(t, s, args...)
		p.Drop("main", s.name, s.data)
		verdict(p)
		base, _, _ := strings.Cut(s.name, ".")
		name, data := p.Download(func() { p.Click(".report [data-do=json]") })
		if name != base+".report.json" || string(data) != want {
			t.Errorf("%s is saved as %s: %.300s\nthe command line prints %.300s", s.name, name, data, want)
		}
		name, data = p.Download(func() { p.Click(".report [data-do=html]") })
		page := string(data)
		if name != base+".report.html" || !strings.Contains(page, browser.Eval[string](p, `document.querySelector('.report .verdict').innerHTML`)) || strings.Contains(page, "<script") || !strings.Contains(page, s.name) {
			t.Errorf("%s is saved as %s: %.300s", s.name, name, page)
		}
		if s.name == "move.mat" && (!strings.Contains(page, "<svg") || !strings.Contains(page, "rules.moves")) {
			t.Errorf("the saved page does not show the fault: %s", page)
		}
	}
	p.Quiet()
}

// The key that the verdict stands under is shown with where it comes from, and remembered. All checks stand behind a fold that the keyboard opens.
func TestTrustAndChecks(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	p := openCheck(t, tb.url)
	under := func(want, key string) {
		t.Helper()
		p.Drop("main", "match.json", tb.bundle)
		verdict(p)
		if got := p.Text(".report .trust"); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, key) {
			t.Errorf("the verdict stands under %q, want %q and %s", got, want, key)
		}
	}
	under("Checked under this site's own word for the key:", tb.logKey)
	p.Press(".report .checks summary", " ")
	p.Shown(".report .checks tbody tr")
	if n := browser.Eval[int](p, `document.querySelectorAll('.report .checks tbody tr').length`); n < 10 {
		t.Errorf("%d checks are listed", n)
	}
	p.Accessible()
	p.Press(".report .checks summary", "\r")
	p.Until(`!document.querySelector('.report .checks').open`)

	p.Fill("#key", tb.logKey)
	under("Checked under the key that you typed:", tb.logKey)
	p.Go(tb.url + "/")
	p.Shown("#files")
	if got := p.Text("#origin") + browser.Eval[string](p, `' ' + document.querySelector('#key').value + ' ' + document.querySelector('#check').elements.trust.value`); got != "you typed it "+tb.logKey+" pinned" {
		t.Errorf("after another visit the pinned key is %q", got)
	}
	under("Checked under the key that you typed:", tb.logKey)
	other := startService(t)
	p.Fill("#key", other.logKey)
	p.Drop("main", "match.json", tb.bundle)
	if got := verdict(p); got != "failed" {
		t.Errorf("under the key of another log the bundle is %s", got)
	}
	p.Click("#forget")
	under("Checked under this site's own word for the key:", tb.logKey)
	p.Click("#check [value=none]")
	p.Drop("main", "match.json", tb.bundle)
	if got := verdict(p); got != "incomplete" {
		t.Errorf("without a key the bundle is %s", got)
	}
	p.Quiet()
}
