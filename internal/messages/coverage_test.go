package messages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/internal/messages"
	"fairdice/replay"
	"fairdice/rules"
)

// need fails for a key that some language lacks.
func need(t *testing.T, keys ...string) {
	t.Helper()
	for _, lang := range messages.Languages() {
		c := messages.For(lang)
		for _, key := range keys {
			if !c.Has(key) {
				t.Errorf("%s: no text for %s", lang, key)
			}
		}
	}
}

// strings of the source: every string literal for which pick says so, in the non-test files of a directory.
func literals(t *testing.T, dir string, pick func(n ast.Node) []ast.Expr) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			for _, e := range pick(n) {
				if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					found[text] = true
				}
			}
			return true
		})
	}
	return found
}

func TestEveryRulesCode(t *testing.T) {
	codes := literals(t, "../../rules", func(n ast.Node) []ast.Expr {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return nil
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Code" {
			return spec.Values
		}
		return nil
	})
	if len(codes) < 20 || !codes[string(rules.CodeMustUseLarger)] {
		t.Fatalf("found only %d codes", len(codes))
	}
	for code := range codes {
		need(t, "code."+code)
	}
}

// TestEveryRefusalCode covers the third argument of State.refuse and Sheet.fail, results of wrong(…), and Category fields.
func TestEveryRefusalCode(t *testing.T) {
	isCode := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		if !ok {
			return false
		}
		text, _ := strconv.Unquote(lit.Value)
		return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz-") == ""
	}
	found := 0
	for _, dir := range []string{"../../replay", "../../replay/sheet", "../../replay/mat", "../../replay/sgf", "../../replay/files"} {
		for code := range literals(t, dir, func(n ast.Node) []ast.Expr {
			switch n := n.(type) {
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if ok && (sel.Sel.Name == "refuse" || sel.Sel.Name == "fail") && len(n.Args) > 2 && isCode(n.Args[2]) {
					return n.Args[2:3]
				}
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "wrong" && len(n.Args) > 0 && isCode(n.Args[0]) {
					return n.Args[:1]
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Category" && isCode(n.Value) {
					return []ast.Expr{n.Value}
				}
			}
			return nil
		}) {
			found++
			need(t, "code."+code)
		}
	}
	if found < 20 {
		t.Fatalf("found only %d codes", found)
	}
}

func TestEveryVariant(t *testing.T) {
	for _, v := range rules.Variants() {
		need(t, "variant."+v.ID, "variant."+v.ID+".about")
		for line := range strings.Lines(v.Profile()) {
			field, value, ok := strings.Cut(strings.TrimSpace(line), " ")
			if ok && field != "variant" && field != "version" {
				need(t, "rule."+field, "rule."+field+"."+value)
			}
		}
	}
	need(t, "family.long", "family.short", "family.plakoto")
}

// TestEveryRuleValue covers the values that no variant uses at present: each enum is asked until it has no name.
func TestEveryRuleValue(t *testing.T) {
	for field, name := range map[string]func(uint8) string{
		"array":      func(i uint8) string { return rules.Array(i).String() },
		"route":      func(i uint8) string { return rules.Route(i).String() },
		"contact":    func(i uint8) string { return rules.Contact(i).String() },
		"head":       func(i uint8) string { return rules.Head(i).String() },
		"barrier":    func(i uint8) string { return rules.Barrier(i).String() },
		"doubles":    func(i uint8) string { return rules.Doubles(i).String() },
		"leftover":   func(i uint8) string { return rules.Leftover(i).String() },
		"chain-end":  func(i uint8) string { return rules.ChainEnd(i).String() },
		"home-moves": func(i uint8) string { return rules.HomeMoves(i).String() },
		"bear-off":   func(i uint8) string { return rules.BearOff(i).String() },
		"opening":    func(i uint8) string { return rules.Opening(i).String() },
		"score":      func(i uint8) string { return rules.Score(i).String() },
	} {
		values := map[string]bool{}
		for i := uint8(1); name(i) != ""; i++ {
			values["rule."+field+"."+name(i)] = true
			need(t, "rule."+field+"."+name(i))
		}
		for _, key := range messages.For("en").Keys() {
			if strings.HasPrefix(key, "rule."+field+".") && !values[key] {
				t.Errorf("%s explains no value", key)
			}
		}
	}
}

func TestEveryEvent(t *testing.T) {
	for k := replay.Opening; k <= replay.End; k++ {
		need(t, "event."+k.String())
	}
	need(t, "event.pass", "event.end-draw")
	for k := replay.DueOpening; k <= replay.DueDone; k++ {
		word, _, _ := strings.Cut(replay.Due{Kind: k}.String(), " ")
		need(t, "due."+word)
	}
	for w := replay.Undecided; w <= replay.WhyTimeout; w++ {
		need(t, "why."+w.String())
	}
	for _, s := range []replay.Seat{replay.A, replay.B} {
		need(t, "seat."+s.String())
	}
	for _, c := range []rules.Color{rules.White, rules.Black} {
		need(t, "color."+c.String())
	}
}

// TestEveryOption asks for everything an options text can say.
func TestEveryOption(t *testing.T) {
	for _, text := range []string{
		"raise=none stake=win series=single crawford=off head55=off",
		"raise=mars stake=unborne series=draw crawford=on head55=general",
		"raise=cube stake=win series=reverse crawford=on",
		"raise=beaver stake=win series=combined:3 crawford=on",
		"raise=jacoby stake=win series=points:5 crawford=on",
		"raise=auto stake=win series=single crawford=on",
	} {
		o, err := replay.ParseOptions(text)
		if err != nil {
			t.Fatal(err)
		}
		for field := range strings.FieldsSeq(o.String()) {
			name, value, _ := strings.Cut(field, "=")
			value, _, _ = strings.Cut(value, ":")
			need(t, "option."+name, "option."+name+"."+value, "option."+name+"."+value+".about")
		}
	}
	need(t, "option.head55.literal", "option.head55.literal.about")
}

func TestEveryModeAndProfile(t *testing.T) {
	for _, m := range commitment.Modes() {
		need(t, "mode."+m.String(), "mode."+m.String()+".about")
	}
	need(t, "mode.own")
	for _, p := range []commitment.Profile{commitment.Refereed, commitment.DiceOnly} {
		need(t, "profile."+p.String(), "profile."+p.String()+".about")
	}
}

func TestEveryCheck(t *testing.T) {
	for _, id := range audit.IDs() {
		for _, s := range []audit.Status{audit.Pass, audit.Fail, audit.Unchecked} {
			need(t, "check."+string(id)+"."+string(s), "status."+string(s))
		}
	}
	for _, v := range []audit.Verdict{audit.Verified, audit.Failed, audit.Incomplete, audit.Malformed} {
		need(t, "verdict."+string(v))
	}
	for _, l := range []string{audit.L0, audit.L1, audit.L2, audit.L3} {
		need(t, "level."+l, "level."+l+".about", "sentence.level."+l)
	}
	for _, n := range []string{audit.NoteUnwitnessed, audit.NoteDeclared, audit.NoteProved, audit.NoteUnpinned, audit.NoteNotProved} {
		need(t, messages.Key("note", n))
	}
	for _, n := range []string{audit.NoteUnwitnessed, audit.NoteDeclared, audit.NoteProved} {
		need(t, messages.Key("sentence.note", n))
	}
}

// TestEverySentence asks for every sentence of a verdict that package audit can say, with the same arguments.
func TestEverySentence(t *testing.T) {
	texts := map[string]string{}
	literals(t, "../../audit", func(n ast.Node) []ast.Expr {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || spec.Names[0].Name != "english" || len(spec.Values) != 1 {
			return nil
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			pair := e.(*ast.KeyValueExpr)
			key, err := strconv.Unquote(pair.Key.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if texts[key], err = strconv.Unquote(pair.Value.(*ast.BasicLit).Value); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	})
	if len(texts) < 20 {
		t.Fatalf("found only %d sentences", len(texts))
	}
	for key, english := range texts {
		for _, lang := range messages.Languages() {
			c := messages.For(lang)
			args := []string{"71 checks", "<1>", "<2>"}[:strings.Count(english, "{")]
			said := c.Say(key, args...)
			if said == key {
				t.Errorf("%s: no text for %s", lang, key)
			}
			for i, a := range args {
				if i == 0 {
					a = "71" // a count has its noun in the language
				}
				if !strings.Contains(said, a) {
					t.Errorf("%s: %s does not say %s: %s", lang, key, a, said)
				}
			}
			if strings.Contains(said, "{") {
				t.Errorf("%s: %s has more arguments than package audit gives: %s", lang, key, said)
			}
		}
	}
}
