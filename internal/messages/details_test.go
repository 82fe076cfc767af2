package messages

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	verb   = regexp.MustCompile(`%[#.0-9]*[a-z]`)
	letter = regexp.MustCompile(`\pL`)
)

// Every translation has the values of its format, each at least once.
func TestDetailsHaveTheirValues(t *testing.T) {
	for lang, texts := range details() {
		for format, text := range texts {
			var want string
			for i := range verb.FindAllString(format, -1) {
				want += "{" + strconv.Itoa(i) + "}"
			}
			held := slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(`\{\d\}`).FindAllString(text, -1))))
			if got := strings.Join(held, ""); got != want {
				t.Errorf("%s: %q has %s, want %s: %q", lang, format, got, want, text)
			}
		}
	}
}

// Letters are of the language's script, or of words that the English has as well or that name a piece of syntax.
func TestDetailsScripts(t *testing.T) {
	syntax := strings.Fields("assign deal open close abort commit finish opening roll a b A B N mat sgf LF CR UTF UTC ASCII GM JSON fairdice")
	latin := regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)
	for lang, script := range map[string]*unicode.RangeTable{"ka": unicode.Georgian, "hy": unicode.Armenian, "ru": unicode.Cyrillic} {
		for format, text := range details()[lang] {
			for _, r := range text {
				if unicode.IsLetter(r) && !unicode.Is(script, r) && !unicode.Is(unicode.Latin, r) {
					t.Errorf("%s: %q has the letter %q of another script: %q", lang, format, r, text)
				}
			}
			english := latin.FindAllString(format, -1)
			for _, w := range latin.FindAllString(text, -1) {
				if !slices.Contains(english, w) && !slices.Contains(syntax, w) {
					t.Errorf("%s: %q has the word %q: %q", lang, format, w, text)
				}
			}
		}
	}
}

// speakers are the packages whose errors reports hold, with the functions that make them there. What else they refuse is about
// calls, settings and signing, and no file can bring it about.
var speakers = map[string][]string{
	"audit/stats":     {"say"},
	"audit":           strings.Fields("Errorf New fail at wrong demand number fault put"),
	"replay":          strings.Fields("Errorf New refuse newReason"),
	"replay/sheet":    strings.Fields("Errorf New find fail wrong Bad Note unchecked"),
	"replay/mat":      strings.Fields("Errorf New Bad ignore"),
	"replay/sgf":      strings.Fields("Errorf New Bad"),
	"replay/files":    strings.Fields("Errorf New"),
	"commitment":      strings.Fields("Errorf fail"),
	"translog":        strings.Fields("Errorf"),
	"internal/beacon": strings.Fields("Errorf New"),
	"rules":           strings.Fields("sayf word"),
	"cmd/verify":      {"note"},
}

// others are formats that are put together, and texts of the packages below.
var others = strings.Split(strings.ReplaceAll(`roll %s|bonus %s|stage %s %s|handed %s %s|answer %s|parse statement: %v|parse receipt: %v
malformed note|invalid transparency proof|unexpected EOF|invalid fp.Element encoding|invalid point: subgroup check failed
invalid infinity point encoding|invalid compressed coordinate: square root doesn't exist`, "\n", "|"), "|")

// member is a format that only says where in a JSON file.
var member = regexp.MustCompile(`^[a-z.]+(\[%d\])?: (receipt-key: )?%w$`)

// literals of a package: all of them, and those that its speakers take.
func sources(t *testing.T, dir string, makers []string) (all, said map[string]bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	all, said = map[string]bool{}, map[string]bool{}
	text := func(n ast.Node) string {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return ""
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			all[text(n)] = true
			if call, ok := n.(*ast.CallExpr); ok && slices.Contains(makers, called(call)) {
				for _, arg := range call.Args {
					if s := text(arg); strings.Contains(s, " ") { // else a code or a check
						said[s] = true
					}
				}
			}
			return true
		})
	}
	return all, said
}

// called is the name of a function; those of package fmt make no details.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if from, ok := f.X.(*ast.Ident); ok && from.Name == "fmt" {
			return ""
		}
		return f.Sel.Name
	}
	return ""
}

// Every format of a detail has its texts, and every text its format.
func TestDetailsCoverage(t *testing.T) {
	used := map[string]bool{}
	for _, format := range others {
		used[format] = true
	}
	for dir, makers := range speakers {
		all, said := sources(t, dir, makers)
		maps.Copy(used, all)
		if makers != nil && len(said) < 3 {
			t.Errorf("%s: only %d formats", dir, len(said))
		}
		for format := range said {
			_, known := details()["ka"][format]
			if letter.MatchString(verb.ReplaceAllString(format, "")) && !member.MatchString(format) && !known &&
				!strings.HasPrefix(format, "join games: ") { // of writing files, not of reading them
				t.Errorf("%s: no texts for %q", dir, format)
			}
		}
	}
	for _, format := range slices.Sorted(maps.Keys(details()["ka"])) {
		if !used[format] {
			t.Errorf("nothing says %q", format)
		}
	}
}

func TestParseDetails(t *testing.T) {
	good := "# a comment\n# of two lines\n\na %d\nka = ა {0}\nhy = ա {0}\nru = а {0}\n\nb\nka = ბ\nhy = բ\nru = б\n"
	all, err := parseDetails(good)
	if err != nil || all["hy"]["a %d"] != "ա {0}" || all["ru"]["b"] != "б" || len(all["ka"]) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"order":       {"hy = բ\nru = б", "ru = б\nhy = բ", "block 2: want hy, not ru"},
		"missing":     {"hy = բ\n", "", "block 2: want a format and a line"},
		"twice":       {"b\nka", "a %d\nka", "block 2: twice"},
		"empty":       {"ka = ბ", "ka = ", "the text is empty"},
		"brace":       {"ა {0}", "ა {x}", "a brace belongs to no placeholder"},
		"no key":      {"ka = ბ", "ბ", "want key = text"},
		"long format": {"b\nka", strings.Repeat("b", maxFormat+1) + "\nka", "malformed format"},
		"large":       {"# a", "#" + strings.Repeat("a", maxFile), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseDetails(strings.Replace(good, c.from, c.to, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func FuzzParseDetails(f *testing.F) {
	f.Add("a %d\nka = ა {0}\nhy = ա {0}\nru = а {0}\n\nb\nka = ბ\nhy = բ\nru = б\n")
	f.Add("# c\n\n\n")
	f.Fuzz(func(t *testing.T, source string) {
		all, err := parseDetails(source)
		if err != nil {
			return
		}
		for _, lang := range Languages()[1:] {
			if len(all[lang]) != len(all["ka"]) {
				t.Errorf("%d formats in %s, %d in ka", len(all[lang]), lang, len(all["ka"]))
			}
		}
	})
}

// The page's module takes texts/details.txt alone, by the hash that is built into it.
func TestDetailsHash(t *testing.T) {
	data, err := os.ReadFile("texts/details.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x\n", sha256.Sum256([]byte(Details()))); string(data) != want {
		t.Errorf("texts/details.sha256 is %s, want %s: go generate ./internal/messages", data, want)
	}
}
