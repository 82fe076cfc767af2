//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairdice/audit"
	"fairdice/internal/messages"
	"fairdice/internal/phrase"
	"fairdice/internal/reader"
	"fairdice/replay/files"
)

// mute is a language without a text: what is said in it must be the English.
type mute struct{}

func (mute) Phrase(string) (string, bool) { return "", false }

// syntax are the Latin words that details in every language have, beside those of the file: what the protocol and the records
// call things, and names of formats.
var syntax = strings.Fields(`abort anchor assign close commit deal finish open receipt roll opening take drop beaver raccoon double resign timeout
	end off yes no on crawford raise stake series reverse single combined points literal general live real short random classic self custodial
	match game variant options score null mode archives unborne refereed none quicknet fairdice record verify bundle JSON UTF LF CR UTC ASCII SGF sgf mat zip gzip PDF GM base`)

var (
	quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	latin  = regexp.MustCompile(`[\pL\pN_./+=:-]*[A-Za-z]{3,}[\pL\pN_./+=:-]*`)
	word   = regexp.MustCompile(`[A-Za-z]+`)
)

// foreign lists the Latin words of a detail beside quotations and words of the file, ids, hashes, names and syntax.
func foreign(text, file string) []string {
	var words []string
	for _, token := range latin.FindAllString(quoted.ReplaceAllString(text, " "), -1) {
		token = strings.Trim(token, ".:-=+")
		if slices.Contains(syntax, token) || strings.ContainsAny(token, "0123456789/=+.-_") || slices.Contains(word.FindAllString(strings.ReplaceAll(file, `\n`, " "), -1), token) {
			continue
		}
		words = append(words, token)
	}
	return words
}

// detail is what went wrong, and with which file.
type detail struct {
	why  error
	file string
}

// details collects what went wrong, by English text.
type details map[string]detail

func (d details) report(r audit.Report, file string) error {
	for _, c := range r.Checks {
		switch {
		case c.Status == audit.Pass:
			continue
		case c.Why == nil:
			return fmt.Errorf("%s has no cause: %s", c.ID, c.Detail)
		case c.Why.Error() != c.Detail:
			return fmt.Errorf("%s: detail %q of the cause %q", c.ID, c.Detail, c.Why)
		}
		d[c.Detail] = detail{c.Why, file}
	}
	for _, f := range r.Faults {
		if f.Why == nil || f.Why.Error() != f.Message {
			return fmt.Errorf("fault %q has the cause %v", f.Message, f.Why)
		}
		d[f.Message] = detail{f.Why, file}
	}
	return nil
}

func (d details) record(r files.Report, file string) error {
	for _, f := range r.Findings {
		if f.Why == nil || f.Why.Error() != f.Message {
			return fmt.Errorf("finding %q has the cause %v", f.Message, f.Why)
		}
		d[f.Message] = detail{f.Why, file}
	}
	for _, n := range slices.Concat(r.Notes, r.Unchecked, r.Ignored) {
		if n.Why == nil || n.Why.Error() != n.Text {
			return fmt.Errorf("note %q has the cause %v", n.Text, n.Why)
		}
		d[n.Text] = detail{n.Why, file}
	}
	return nil
}

// say demands of every detail that it is English in no language, and that a language without texts says the English.
func (d details) say(t *testing.T) {
	t.Helper()
	for _, english := range slices.Sorted(maps.Keys(d)) {
		why, file := d[english].why, d[english].file
		if said := phrase.In(why, mute{}); said != english {
			t.Errorf("without texts %q is said as %q", english, said)
		}
		for _, lang := range messages.Languages() {
			said := phrase.In(why, messages.For(lang))
			if lang == "en" {
				if said != english {
					t.Errorf("in English %q is said as %q", english, said)
				}
				continue
			}
			if words := foreign(said, file); len(words) > 0 || strings.Contains(said, "%!") {
				t.Errorf("%s: %q\n is said as %q\n with %q", lang, english, said, words)
			}
		}
	}
}

// Every detail of every tampered bundle is said in every language.
func TestDetailsOfBundles(t *testing.T) {
	all := details{}
	for _, name := range []string{"bundles-valid.json.gz", "bundles-tampered.json.gz", "bundles-more.json.gz"} {
		v := readBundleVectors(t, name)
		known := ""
		for _, r := range v.Rules {
			known += r[0] + " " + r[1] + "\n"
		}
		for i, c := range v.Cases {
			p := pins{key: v.LogKey, anchor: c.MyAnchor, witnesses: c.Witnesses, rules: text{name: "known", content: known, given: known != ""}}
			if i%4 == 0 {
				p = pins{}
			}
			trust, err := p.trust(time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if err := all.report(audit.Verify([]byte(c.Bundle), trust), c.Bundle); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
		// A byte of the JSON more or less.
		whole := v.Cases[0].Bundle
		for i := range 400 {
			at := i * len(whole) / 400
			for _, broken := range []string{whole[:at], whole[:at] + whole[at+1:], whole[:at] + "7" + whole[at+1:], whole[:at] + `"` + whole[at:]} {
				if err := all.report(audit.Verify([]byte(broken), audit.Trust{}), broken); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d details", len(all))
	}
	all.say(t)
}

// Every detail of a roll with one character wrong is said in every language.
func TestDetailsOfRolls(t *testing.T) {
	data, err := os.ReadFile("../../audit/testdata/roll.json")
	if err != nil {
		t.Fatal(err)
	}
	whole, all := string(data), details{}
	for at := 0; at < len(whole); at += 53 {
		for _, broken := range []string{whole[:at] + whole[at+1:], whole[:at] + "7" + whole[at+1:]} {
			if err := all.report(audit.VerifyRoll([]byte(broken), audit.Trust{Key: testLogKey}), broken); err != nil {
				t.Error(err)
			}
		}
	}
	if len(all) < 20 {
		t.Errorf("only %d details", len(all))
	}
	all.say(t)
}

func TestDetailsOfRecords(t *testing.T) {
	all := details{}
	check := func(text string, o files.Options) {
		if err := all.record(files.Check("x", bytes.NewReader([]byte(text)), o), text); err != nil {
			t.Errorf("%.200q: %v", text, err)
		}
	}
	for _, r := range recordVectors(t) {
		o, err := recordTerms(r[1], "", text{})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(r[0], "\n")
		for i := 0; i < len(lines); i += max(1, len(lines)/12) {
			others := strings.Join(lines[i+1:], "")
			for _, broken := range []string{"", lines[i] + lines[i], strings.ToUpper(lines[i]), strings.Replace(lines[i], " ", "  ", 1),
				strings.NewReplacer("1", "6", "A", "B", "B", "A").Replace(lines[i]), "double A\n" + lines[i], "resign B 3\n" + lines[i], "end A 1\n" + lines[i], "take B\n" + lines[i]} {
				check(strings.Join(lines[:i], "")+broken+others, o)
			}
		}
	}
	for _, text := range []string{"", "\x00", "PK\x03\x04", "\x1f\x8b", "%PDF-", "hello", "(", "(;", "(;GM[4])", "(;GM[6]RE[x])", "(;GM[6];B[zz])", "(;GM[6];B[31a", "(;GM[6];B[31mixy])(;GM[6])", "GM", "opening 2 3", "opening 3 2\nmove A 8/5\n"} {
		check(text, files.Options{})
	}
	if len(all) < 100 {
		t.Errorf("only %d details", len(all))
	}
	all.say(t)
}

// A bundle with a bad move is told in Georgian with the names of seats and points, and nothing in English.
func TestDetailsPrinted(t *testing.T) {
	v := readBundleVectors(t, "bundles-tampered.json.gz")
	b := t.TempDir() + "/bundle"
	seen := false
	for _, c := range v.Cases {
		if err := os.WriteFile(b, []byte(c.Bundle), 0o644); err != nil {
			t.Fatal(err)
		}
		out, _ := commandLine("bundle", b, "--key", v.LogKey, "--lang", "ka")
		for line := range strings.Lines(out) {
			if rest, ok := strings.CutPrefix(line, "      "); ok {
				seen = true
				if words := foreign(rest, c.Bundle); len(words) > 0 {
					t.Errorf("%s: %q has %q", c.Name, line, words)
				}
			}
		}
	}
	if !seen {
		t.Error("no detail was printed")
	}
}

// The findings of a record and of a match are told in the language, what stands in the file as it is.
func TestRecordIn(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content string
		want    string
	}{
		"bad.record": {strings.Replace(eventLines, "13/7 8/3", "13/7", 1), "bad.record: შემოწმება ვერ გაიარა: "},
		"bad.mat":    {strings.Replace(matchLines, "8/5", "8/x", 1), "ნაბიჯი არ იკითხება: \"8/x\""},
		"bad.sgf":    {"(;GM[6];B[31zz])", "ნაბიჯი არ იკითხება: \"zz\""},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		out, _ := commandLine("record", "--variant", "short", "--lang", "ka", path)
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: %s does not say %q", name, out, c.want)
		}
		if english, _ := commandLine("record", "--variant", "short", "--lang", "en", path); english == out {
			t.Errorf("%s: Georgian is English: %s", name, out)
		}
	}
	if _, complaint := commandLine("record", "--lang", "xx", filepath.Join(dir, "bad.mat")); !strings.Contains(complaint, `no language "xx"`) {
		t.Errorf("complaint %q", complaint)
	}
}

// The page says of a fault of every kind, in every language, what this program says: its module has been given the texts.
func TestPageDetails(t *testing.T) {
	b := newBrowser(t)
	v := readBundleVectors(t, "bundles-tampered.json.gz")
	trust, err := pins{key: v.LogKey}.trust(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[audit.ID]bool{}
	for _, c := range v.Cases {
		report := audit.Verify([]byte(c.Bundle), trust)
		failed := report.Failed()
		if len(failed) == 0 || ids[failed[0]] {
			continue
		}
		ids[failed[0]] = true
		t.Run(c.Name, func(t *testing.T) {
			if got := b.ask(request{Op: "bundle", Path: b.file([]byte(c.Bundle)), Options: map[string]any{"key": v.LogKey}}); got.Error != "" {
				t.Fatal(got.Error)
			}
			b.says(t, func(lang string) ([]byte, error) { return reader.Words(report, lang) })
		})
	}
	if len(ids) < 15 {
		t.Errorf("only %d kinds of faults", len(ids))
	}
	for name, content := range map[string]string{
		"record.record": strings.Replace(eventLines, "13/7 8/3", "13/7", 1),
		"match.mat":     strings.Replace(matchLines, "8/5", "8/x", 1),
		"match.sgf":     "(;GM[6]RE[B+1];B[31zz])",
		"nothing.txt":   "hello",
	} {
		t.Run(name, func(t *testing.T) {
			variant := ""
			if strings.HasSuffix(name, ".record") {
				variant = "short"
			}
			o, err := recordTerms(variant, "", text{})
			if err != nil {
				t.Fatal(err)
			}
			options := map[string]any{}
			if variant != "" {
				options["variant"] = variant
			}
			report, show := reader.Check(name, []byte(content), reader.Options{Variant: o.Variant, Options: o.Options})
			if len(report.Findings) == 0 {
				t.Fatal("nothing is wrong")
			}
			path := b.file([]byte(content))
			if got := b.ask(request{Op: "record", Name: name, Path: path, Options: options}); got.Error != "" {
				t.Fatal(got.Error)
			}
			b.says(t, func(lang string) ([]byte, error) { return reader.RecordWords(report, show, lang) })
		})
	}
}

// says demands the same words of the page in every language.
func (b *browser) says(t *testing.T, words func(lang string) ([]byte, error)) {
	t.Helper()
	for _, lang := range messages.Languages() {
		want, err := words(lang)
		if err != nil {
			t.Fatal(err)
		}
		got := b.ask(request{Op: "words", Lang: lang})
		var here, there any
		if err := errors.Join(json.Unmarshal(want, &here), json.Unmarshal([]byte(got.Value), &there)); err != nil || got.Error != "" {
			t.Fatalf("%s: %v, %s", lang, err, got.Error)
		}
		if diff := cmp.Diff(here, there); diff != "" {
			t.Errorf("%s: the page says something else (-here +page):\n%s", lang, diff)
		}
	}
}
