package audit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fairdice/commitment"
)

// TestEnding takes the ends of good matches away, or words them otherwise: no
// check can see what was never in the file, so the verdict has to say what the
// score allows.
func TestEnding(t *testing.T) {
	v := readVectors(t, "bundles-valid.json.gz")
	read := func(name string) (*Bundle, Trust) {
		i := slices.IndexFunc(v.Cases, func(c vectorCase) bool { return c.Name == name })
		b, err := ParseBundle([]byte(v.Cases[i].Bundle))
		if err != nil {
			t.Fatal(err)
		}
		return b, v.trust(t, v.Cases[i])
	}
	isFinish := func(s BundleStatement) bool { return strings.HasPrefix(s.Text, "fairdice/v1/finish\n") }
	noFinish := func(b *Bundle) { b.Statements = slices.DeleteFunc(b.Statements, isFinish) }
	oneGame := func(b *Bundle) {
		var given string
		b.Statements = slices.DeleteFunc(b.Statements, func(s BundleStatement) bool {
			if !strings.Contains(s.Text, "\ngame 2\n") {
				return false
			}
			if _, rest, ok := strings.Cut(s.Text, "\nsequence "); ok {
				given, _, _ = strings.Cut(rest, "\n")
			}
			return true
		})
		b.Statements = slices.DeleteFunc(b.Statements, func(s BundleStatement) bool { return strings.Contains(s.Text, "\nsequence "+given+"\n") })
		b.Games = b.Games[:1]
	}
	reason := func(from, to string) func(*Bundle) {
		return func(b *Bundle) {
			i := slices.IndexFunc(b.Statements, isFinish)
			b.Statements[i].Text = strings.Replace(b.Statements[i].Text, "\nreason "+from+"\n", "\nreason "+to+"\n", 1)
		}
	}
	for _, c := range []struct {
		name, bundle string
		change       func(*Bundle)
		want         string // the key of the sentence and its arguments; "": none
		verdict      Verdict
	}{
		{"whole", "decided", func(*Bundle) {}, "", Verified},
		{"abandoned", "abandoned", func(*Bundle) {}, "", Verified},
		{"single game without finish", "no-finish", func(*Bundle) {}, "", Verified},
		{"no finish", "two-games", noFinish, "sentence.series.open 2 games", Verified},
		{"last game dropped", "two-games", func(b *Bundle) { noFinish(b); oneGame(b) }, "sentence.series.open 1 game", Verified},
		{"decided too early", "abandoned", reason("abandoned", "decided"), "sentence.series.decided", Failed}, // the text is not the log's
		{"abandoned too late", "decided", reason("decided", "abandoned"), "sentence.series.abandoned", Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, trust := read(c.bundle)
			c.change(b)
			data, err := b.Encode()
			if err != nil {
				t.Fatal(err)
			}
			r := Verify(data, trust)
			if r.Verdict != c.verdict {
				t.Errorf("verdict %s, want %s:\n%s", r.Verdict, c.verdict, r.Text(TextStyle{}))
			}
			got := ""
			for _, s := range r.Sentences {
				if strings.HasPrefix(s.Key, "sentence.series.") {
					got += s.Key + " " + strings.Join(s.Args, " ")
				}
			}
			if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("says %q, want %q", got, c.want)
			}
		})
	}
}

// TestLowestInBundle: a number that was free and is assigned after a higher one
// was passed over, and a bundle with both shows it.
func TestLowestInBundle(t *testing.T) {
	const match = "01970000-0000-7000-8000-000000000000"
	id := func(n uint64) string { return "01970000-0000-7000-8000-00000000000" + string('1'+rune(n)) }
	for _, c := range []struct {
		name string
		log  string // C: the next commit; 0, 1, 2: the assign of that number
		want bool
	}{
		{"in order", "CCC012", false},
		{"numbers between left out", "CCC02", false},
		{"passed over", "CC10", true},
		{"passed over by two", "CCC021", true},
		{"committed too late to be taken", "C0C1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var faults []Check
			book := newBook("example.org/log", false, func(f Check) { faults = append(faults, f) })
			book.Add(0, commitment.Open{Match: match, Log: "example.org/log", Tenant: "t"})
			commits, assigns := uint64(0), 0
			for i, what := range c.log {
				index, when := uint64(i+1), time.Unix(int64(i), 0)
				if what == 'C' {
					book.Add(index, commitment.Commit{Log: "example.org/log", Tenant: "t", Number: commits, Sequence: id(commits), SecretHash: Hash{byte(commits + 1)}, Time: when})
					commits++
					continue
				}
				n := uint64(what - '0')
				assigns++
				book.Add(index, commitment.Assign{Match: match, Game: assigns, Segment: 1, Sequence: id(n), Number: n, Time: when})
			}
			failed := slices.ContainsFunc(faults, func(f Check) bool { return f.ID == AssignLowest })
			if failed != c.want || len(faults) > 1 {
				t.Errorf("faults %+v, want assign.lowest: %t", faults, c.want)
			}
		})
	}
}
