package messages

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// stem drops the plural form of a key.
func stem(key string) string {
	name, _, _ := strings.Cut(key, "[")
	return name
}

func placeholders(text string) string {
	found := map[string]bool{}
	for rest := text; ; {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		if _, size := placeholder(rest[at:]); size > 0 {
			found[rest[at:at+size]] = true
		}
		rest = rest[at+1:]
	}
	var all []string
	for p := range found {
		all = append(all, p)
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func stems(l *language) []string {
	var all []string
	for _, e := range l.entries() {
		all = append(all, stem(e.key))
	}
	return slices.Compact(all)
}

func TestLanguagesHaveTheSameKeys(t *testing.T) {
	want := stems(&languages[0])
	for i := range languages {
		l := &languages[i]
		t.Run(l.code, func(t *testing.T) {
			if diff := cmp.Diff(want, stems(l)); diff != "" {
				t.Errorf("keys differ from English (-en +%s):\n%s", l.code, diff)
			}
		})
	}
}

func TestLanguagesHaveTheSamePlaceholders(t *testing.T) {
	want := map[string]string{}
	for _, e := range languages[0].entries() {
		want[stem(e.key)] = placeholders(e.text)
	}
	for i := range languages {
		for _, e := range languages[i].entries() {
			if got := placeholders(e.text); got != want[stem(e.key)] {
				t.Errorf("%s %s has placeholders %q, English has %q", languages[i].code, e.key, got, want[stem(e.key)])
			}
		}
	}
}

// TestPlaceholdersCount makes sure that arguments are numbered from 0 without a gap.
func TestPlaceholdersCount(t *testing.T) {
	for _, e := range languages[0].entries() {
		if got := placeholders(e.text); !strings.HasPrefix("{0}{1}{2}", got) {
			t.Errorf("%s has placeholders %q", e.key, got)
		}
	}
}

func TestPluralForms(t *testing.T) {
	for i := range languages {
		l := &languages[i]
		forms := map[string][]string{}
		for _, e := range l.entries() {
			if name, form, ok := strings.Cut(e.key, "["); ok {
				forms[name] = append(forms[name], strings.TrimSuffix(form, "]"))
			}
		}
		if len(forms) == 0 {
			t.Errorf("%s has no plural forms", l.code)
		}
		want := slices.Sorted(slices.Values(l.forms))
		for name, got := range forms {
			if !slices.Equal(got, want) {
				t.Errorf("%s %s has forms %v, want %v", l.code, name, got, want)
			}
		}
		for n := int64(-300); n < 300; n++ {
			if !slices.Contains(l.forms, l.form(n)) {
				t.Errorf("%s: %d has the form %q", l.code, n, l.form(n))
			}
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		lang string
		n    int64
		want string
	}{
		{"en", 0, "0 rolls"}, {"en", 1, "1 roll"}, {"en", 2, "2 rolls"},
		{"ru", 0, "0 бросков"}, {"ru", 1, "1 бросок"}, {"ru", 3, "3 броска"}, {"ru", 5, "5 бросков"},
		{"ru", 11, "11 бросков"}, {"ru", 12, "12 бросков"}, {"ru", 21, "21 бросок"}, {"ru", 22, "22 броска"},
		{"ru", 111, "111 бросков"}, {"ru", 101, "101 бросок"},
		{"ka", 1, "1 გაგორება"}, {"ka", 5, "5 გაგორება"},
		{"hy", 1, "1 նետում"}, {"hy", 5, "5 նետում"},
	} {
		if got := For(c.lang).Count("unit.roll", c.n); got != c.want {
			t.Errorf("%s %d: %q, want %q", c.lang, c.n, got, c.want)
		}
	}
}

// foreign are the words in Latin letters that stand in every language: names of seats and levels, and a flag.
var foreign = []string{"A", "B", "L0", "L1", "L2", "L3", "--my-anchor",
	// On the pages also units, formats and names.
	"UTC", "JSON", "SHA-256", "WebAssembly", "JavaScript", "fairdice", "verify", ".mat", ".sgf", "MiB", "KiB", "MB", "KB", "ID"}

func TestScripts(t *testing.T) {
	for code, script := range map[string]*unicode.RangeTable{"en": unicode.Latin, "ka": unicode.Georgian, "hy": unicode.Armenian, "ru": unicode.Cyrillic} {
		for _, e := range For(code).lang().entries() {
			text := e.text
			for _, w := range foreign {
				text = strings.ReplaceAll(text, w, "")
			}
			for _, r := range text {
				if unicode.IsLetter(r) && !unicode.Is(script, r) {
					t.Errorf("%s %s has the letter %q of another script", code, e.key, r)
				}
			}
			if code == "ru" && strings.ContainsAny(text, "іїєѣ") {
				t.Errorf("%s %s has a letter that Russian does not", code, e.key)
			}
		}
	}
}

// TestSentencesEnd holds sentences to a full stop and captions to none, by the kind of key.
func TestSentencesEnd(t *testing.T) {
	sentence := []string{"code.", "check.", "sentence.", "says.", "claim.", "options.", "rule."}
	stop := map[string]string{"en": ".", "ka": ".", "hy": "։", "ru": "."}
	for i := range languages {
		for _, e := range languages[i].entries() {
			if strings.HasPrefix(e.key, "page.") {
				continue // pages have both, as they come
			}
			want := strings.HasSuffix(e.key, ".about") || slices.ContainsFunc(sentence, func(p string) bool { return strings.HasPrefix(e.key, p) })
			if strings.HasPrefix(e.key, "rule.") {
				want = strings.Count(e.key, ".") == 2
			}
			if strings.Contains(e.key, "unknown-value") || e.key == "sentence.once-complete" || strings.HasPrefix(e.key, "mode.own") {
				continue
			}
			if got := strings.HasSuffix(e.text, stop[languages[i].code]); got != want {
				t.Errorf("%s %s = %s: full stop %t, want %t", languages[i].code, e.key, e.text, got, want)
			}
		}
	}
}

// TestTranslated looks for texts that were copied instead of translated.
func TestTranslated(t *testing.T) {
	seen := map[string]string{}
	for i := range languages {
		for _, e := range languages[i].entries() {
			bare := strings.NewReplacer("{0}", "", "{1}", "", "A", "", "B", "").Replace(e.text)
			if other := seen[e.key+"\n"+bare]; other != "" {
				t.Errorf("%s is the same in %s and %s", e.key, other, languages[i].code)
			}
			seen[e.key+"\n"+bare] = languages[i].code
		}
	}
}

func TestText(t *testing.T) {
	c := For("en")
	for _, test := range []struct{ got, want string }{
		{c.Text("code.step-closed"), "The landing point is closed."},
		{c.Text("event.roll", "A", "6 1"), "A rolls 6 1"},
		{c.Text("event.roll", "A"), "A rolls {1}"},
		{c.Text("event.roll", "{1}", "6 1"), "{1} rolls 6 1"},
		{c.Text("event.end", "B", int64(4)), "B wins, points: 4"},
		{c.Text("event.opening", uint8(3), 2), "Opening draw: A 3, B 2"},
		{c.Text("no.such.key", 1), "no.such.key"},
		{c.Count("no.such.key", 1), "no.such.key"},
		{Catalogue{}.Text("color.white"), "White"},
		{For("tlh").Lang(), "en"},
		{For("ka").Name(), "ქართული"},
		{Key("note", "as declared"), "note.as-declared"},
		{c.Say("sentence.dice-proved"), "The dice themselves are proved."},
		{c.Say("claim.decided", "2", "drop B"), "Game 2 was decided by this line: drop B. That the player did so is the platform's word."},
		{For("ru").Say("sentence.failed", "3 checks"), "Этот файл не доказывает того, что заявляет: не сошлись 3 проверки."},
		{c.Say("sentence.failed", "1"), "This file does not prove what it claims: 1 check failed."},
		{c.Say("sentence.failed", "many"), "sentence.failed"},
		{c.Say("no.such.key", "x"), "no.such.key"},
		{c.Say("no.such.key"), "no.such.key"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
	if c.Has("unit.roll") || !c.Has("unit.roll[one]") || !c.Has("color.white") {
		t.Error("Has is wrong")
	}
}

// TestFillReplacesAll is the law of placeholders: a text cut at its placeholders and joined by the arguments.
func TestFillReplacesAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(rapid.String(), 1, 10).Draw(t, "args")
		pieces := rapid.SliceOf(rapid.StringMatching(`[a-zა-ჰ ]*`)).Draw(t, "pieces")
		var text, want strings.Builder
		for _, p := range pieces {
			n := rapid.IntRange(0, len(args)-1).Draw(t, "n")
			text.WriteString(p + "{" + string(rune('0'+n)) + "}")
			want.WriteString(p + args[n])
		}
		all := make([]any, len(args))
		for i, a := range args {
			all[i] = a
		}
		if got := fill(text.String(), all); got != want.String() {
			t.Fatalf("fill(%q) = %q, want %q", text.String(), got, want.String())
		}
	})
}

func TestMatch(t *testing.T) {
	for _, c := range []struct{ header, want string }{
		{"", "en"},
		{"ka", "ka"},
		{"ka-GE,ka;q=0.9,en;q=0.8", "ka"},
		{"fr-FR, hy;q=0.5, ru;q=0.7", "ru"},
		{"de, ja;q=0.5", "en"},
		{"RU", "ru"},
		{"ru;q=0", "en"},
		{"ru;q=0.001", "ru"},
		{"en;q=0.1, hy;q=1.000", "hy"},
		{"ru;q=2", "en"},
		{"ru;q=1.5", "en"},
		{"ru;q=0.1234", "en"},
		{"ru;x=1", "en"},
		{"ru; q=0.5 ,ka ;q=0.4", "ru"},
		{"ru,ka", "ru"},
		{"*", "en"},
		{strings.Repeat("fr,", maxWishes) + "ru", "en"},
	} {
		if got := Match(c.header); got != c.want {
			t.Errorf("Match(%q) = %q, want %q", c.header, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse("# comment\n\na.b = one {0}\na.b[one] = two\nb = three = four\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{{"a.b", "one {0}"}, {"a.b[one]", "two"}, {"b", "three = four"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(entry{})); diff != "" {
		t.Error(diff)
	}
	for name, bad := range map[string]string{
		"no separator":      "a\n",
		"no space":          "a=b\n",
		"empty text":        "a = \n",
		"space at the end":  "a = b \n",
		"carriage return":   "a = b\r\n",
		"empty key":         " = b\n",
		"dot at the end":    "a. = b\n",
		"underscore":        "a_b = c\n",
		"hyphen first":      "-a = c\n",
		"open form":         "a[one = b\n",
		"empty form":        "a[] = b\n",
		"form inside":       "a[one].b = c\n",
		"twice":             "a = b\na = c\n",
		"descending":        "b = c\na = b\n",
		"open brace":        "a = b {0\n",
		"named placeholder": "a = {name}\n",
		"two digits":        "a = {10}\n",
		"closing brace":     "a = b}\n",
		"not UTF-8":         "a = \xff\n",
		"long key":          strings.Repeat("a", maxKey+1) + " = b\n",
		"long line":         "a = " + strings.Repeat("b", maxLine) + "\n",
		"long file":         strings.Repeat("#\n", maxFile),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(bad); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# comment\n\na.b = one {0}\na.b[one] = two\nb = three = four\n")
	for i := range languages {
		source, err := os.ReadFile("texts/" + languages[i].code + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(source[:min(len(source), 400)]))
	}
	f.Fuzz(func(t *testing.T, source string) {
		entries, err := parse(source)
		if err != nil {
			return
		}
		// What was read is written back and read again; nothing that parses can make fill lose text.
		var b strings.Builder
		for _, e := range entries {
			b.WriteString(e.key + " = " + e.text + "\n")
			if got := fill(e.text, nil); got != e.text {
				t.Fatalf("fill without arguments: %q became %q", e.text, got)
			}
			fill(e.text, []any{"x", 7})
		}
		again, err := parse(b.String())
		if err != nil {
			t.Fatalf("parse what was printed: %v", err)
		}
		if diff := cmp.Diff(entries, again, cmp.AllowUnexported(entry{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("ka-GE,ka;q=0.9,en;q=0.8")
	f.Fuzz(func(t *testing.T, header string) {
		if !slices.Contains(Languages(), Match(header)) {
			t.Errorf("Match(%q) = %q", header, Match(header))
		}
	})
}

func BenchmarkText(b *testing.B) {
	c := For("ka")
	for b.Loop() {
		c.Text("event.roll", "A", "6 1")
	}
}
