package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

// TestProfilesAreFinal: matches in logs name these hashes, so version 1 never changes.
func TestProfilesAreFinal(t *testing.T) {
	var b strings.Builder
	for _, v := range rules.Variants() {
		fmt.Fprintf(&b, "%sSHA-256 %x\n\n", v.Profile(), v.Hash())
	}
	want, err := os.ReadFile("testdata/profiles.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("profiles changed (-want +got):\n%s", diff)
	}
}

func TestVariants(t *testing.T) {
	hashes := map[[32]byte]string{}
	for _, v := range rules.Variants() {
		if err := v.Rules.Validate(); err != nil {
			t.Errorf("%s: %v", v.ID, err)
		}
		if other, ok := hashes[v.Hash()]; ok {
			t.Errorf("%s and %s have one hash", v.ID, other)
		}
		hashes[v.Hash()] = v.ID
		if got, err := rules.Lookup(v.ID); err != nil || got != v {
			t.Errorf("Lookup(%q) = %v, %v", v.ID, got, err)
		}
	}
	if len(hashes) != 14 {
		t.Errorf("%d variants, want 14", len(hashes))
	}
}

// TestValidate breaks one thing at a time in a good set of rules.
func TestValidate(t *testing.T) {
	long, short := lookup(t, "long-classic"), lookup(t, "short")
	tests := []struct {
		name string
		base rules.Rules
		edit func(*rules.Rules)
		want string
	}{
		{"zero", long, func(r *rules.Rules) { *r = rules.Rules{} }, "array has no value 0"},
		{"absurd enum", long, func(r *rules.Rules) { r.BearOff = 9 }, "bear-off has no value 9"},
		{"hits on parallel paths", long, func(r *rules.Rules) { r.Contact = rules.ContactHit }, "contact hit does not fit route parallel"},
		{"closed on opposed paths", short, func(r *rules.Rules) { r.Contact, r.Score = rules.ContactClosed, rules.ScoreMars }, "contact closed does not fit route opposed"},
		{"head without a head array", long, func(r *rules.Rules) { r.Array = rules.ArrayElevenFour }, "head classic needs array head"},
		{"head on opposed paths", short, func(r *rules.Rules) { r.Array, r.Head = rules.ArrayHead, rules.HeadStage }, "head stage needs route parallel"},
		{"barrier on opposed paths", short, func(r *rules.Rules) { r.Barrier = rules.BarrierStage }, "barrier stage needs route parallel"},
		{"chain end without a chain", long, func(r *rules.Rules) { r.ChainEnd = rules.ChainHome }, "chain end home does not fit doubles four"},
		{"chain without an end", long, func(r *rules.Rules) { r.Doubles = rules.DoublesProgression }, "chain end none does not fit doubles progression"},
		{"one more stage with home moves", long, func(r *rules.Rules) {
			r.Doubles, r.ChainEnd = rules.DoublesProgression, rules.ChainHomeOneMore
		}, "chain end home-one-more needs home moves with-outside"},
		{"no home moves under B1", long, func(r *rules.Rules) { r.HomeMoves = rules.HomeMovesWithOutside }, "home moves with-outside contradict"},
		{"unpinned without pins", short, func(r *rules.Rules) { r.BearOff = rules.BearOffUnpinned }, "bearing off unpinned does not fit contact hit"},
		{"koks without a bar", long, func(r *rules.Rules) { r.Score = rules.ScoreKoks }, "score koks needs a bar"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.base
			tt.edit(&r)
			err := r.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate: %v, want %q", err, tt.want)
			}
			if _, err := r.Position(rules.Setup{}); err == nil {
				t.Error("a position was proved under invalid rules")
			}
		})
	}
}

// homes says where each enum may be read: its own file, the table of variants, and Validate, which relates them.
var homes = map[string]string{
	"Array": "array.go", "Route": "route.go", "Contact": "contact.go", "Head": "head.go", "Barrier": "barrier.go",
	"Doubles": "doubles.go", "Leftover": "leftover.go", "Chain": "chainend.go", "HomeMoves": "homemoves.go",
	"BearOff": "bearoff.go", "Opening": "opening.go", "Score": "score.go",
}

// TestVariantsAreData: only variants.go names a variant, and each enum is interpreted in the file named after it.
func TestVariantsAreData(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{} // enum constant -> its file
	parsed := map[string]*ast.File{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = file
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				for _, ident := range spec.(*ast.ValueSpec).Names {
					for prefix, home := range homes {
						if name == home && strings.HasPrefix(ident.Name, prefix) && !strings.HasPrefix(ident.Name, "Head55") {
							constants[ident.Name] = home
						}
					}
				}
			}
		}
	}
	if len(constants) < 40 {
		t.Fatalf("found only %d enum constants", len(constants))
	}
	for name, file := range parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				for _, v := range rules.Variants() {
					if n.Value == `"`+v.ID+`"` && name != "variants.go" {
						t.Errorf("%s names the variant %s", name, v.ID)
					}
				}
			case *ast.Ident:
				if home, ok := constants[n.Name]; ok && name != home && name != "variants.go" && name != "rules.go" {
					t.Errorf("%s reads %s, which belongs to %s", name, n.Name, home)
				}
			}
			return true
		})
	}
}
