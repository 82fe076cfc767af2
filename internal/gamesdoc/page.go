package main

import (
	"bytes"
	_ "embed" // the template and the sources
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"fairdice/commitment"
	"fairdice/internal/board"
	"fairdice/internal/messages"
	"fairdice/replay"
	"fairdice/rules"
)

var (
	//go:embed games.md.tmpl
	pageText string
	//go:embed sources.txt
	sourcesText string
)

// page is what the template is filled with.
type page struct {
	Fields   []string // of a profile, in its order
	Variants []variant
	Modes    []string
	Options  []option
	Results  []string
}

// variant is one game as the page tells it.
type variant struct {
	ID      string
	Family  string // "long", "short" or "plakoto"
	Board   string
	Values  map[string]string // by field of the profile
	Told    []string          // the fields that are explained under the game
	Pins    bool
	First   []example // how a first move is written
	Refused []string  // option values that cannot be agreed on
}

// example is a first roll of White with one of its moves, as a record has them.
type example struct {
	Dice, Line string
	Count      int
}

// option is one of the options of a match with its values.
type option struct {
	Name   string
	Values []string
}

var options = []option{
	{"raise", []string{"none", "mars", "cube", "beaver", "jacoby", "auto"}},
	{"stake", []string{"win", "unborne"}},
	{"series", []string{"single", "draw", "reverse", "combined", "points"}},
	{"crawford", []string{"on", "off"}},
	{"head55", []string{"literal", "general", "off"}},
}

func render() ([]byte, error) {
	sources, err := parseSources(sourcesText)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	english := messages.For("en")
	var missing []string
	unused := map[string]bool{}
	for key := range sources {
		unused[key] = true
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"text": func(parts ...string) string {
			key := messages.Key(parts...)
			if !english.Has(key) {
				missing = append(missing, "text "+key)
			}
			return english.Text(key)
		},
		"source": func(parts ...string) string {
			key := messages.Key(parts...)
			tags, ok := sources[key]
			if !ok {
				missing = append(missing, "source "+key)
			}
			delete(unused, key)
			return "`" + strings.Join(tags, " ") + "`"
		},
		"known": func(parts ...string) bool {
			_, ok := sources[messages.Key(parts...)]
			return ok
		},
		"anchor": anchor,
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	p := page{Options: options, Results: []string{"oin", "mars", "koks"}}
	for _, m := range commitment.Modes() {
		p.Modes = append(p.Modes, m.String())
	}
	for _, v := range rules.Variants() {
		fields, values := profile(v)
		p.Fields = fields
		told, err := tell(v, fields, values)
		if err != nil {
			return nil, fmt.Errorf("tell %s: %w", v.ID, err)
		}
		p.Variants = append(p.Variants, told)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("fill template: %w", err)
	}
	if missing != nil {
		return nil, fmt.Errorf("the page asks for what is not there: %s", strings.Join(missing, ", "))
	}
	if len(unused) > 0 {
		return nil, fmt.Errorf("the page never asks for the sources of %s", strings.Join(slices.Sorted(maps.Keys(unused)), ", "))
	}
	return b.Bytes(), nil
}

// parseSources reads lines "key tag tag …".
func parseSources(text string) (map[string][]string, error) {
	tags := []string{"S0", "S1", "S2", "S3", "S4", "P", "CALC", "OWN"}
	sources := map[string][]string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if sources[words[0]] != nil || len(words) < 2 {
			return nil, fmt.Errorf("line %q: given twice or without a tag", words[0])
		}
		for _, w := range words[1:] {
			if !slices.Contains(tags, w) {
				return nil, fmt.Errorf("line %q: unknown tag %q", words[0], w)
			}
		}
		sources[words[0]] = words[1:]
	}
	return sources, nil
}

// profile reads the fields of a variant's canonical profile.
func profile(v rules.Variant) (fields []string, values map[string]string) {
	values = map[string]string{}
	for line := range strings.Lines(v.Profile()) {
		field, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && field != "variant" && field != "version" {
			fields = append(fields, field)
			values[field] = value
		}
	}
	return fields, values
}

func tell(v rules.Variant, fields []string, values map[string]string) (variant, error) {
	r := v.Rules
	told := variant{
		ID:     v.ID,
		Family: "short",
		Board:  board.Text(r.Start(), board.Options{Rules: r}),
		Values: values,
		Pins:   r.Pins(),
	}
	switch {
	case r.ReplyTurn():
		told.Family = "long"
	case r.Pins():
		told.Family = "plakoto"
	}
	for _, field := range fields {
		// A game without progressions need not say when they end, nor one without a head how it is left.
		if field == "chain-end" && r.ChainEnd == rules.ChainNone || field == "head" && r.Route == rules.RouteOpposed {
			continue
		}
		told.Told = append(told.Told, field)
	}
	for _, d := range []rules.Dice{{A: 6, B: 5}, {A: 3, B: 3}} {
		if r.OpeningIsRoll() && d.IsDouble() {
			continue
		}
		e, err := first(r, d)
		if err != nil {
			return variant{}, err
		}
		told.First = append(told.First, e)
	}
	for _, o := range options {
		if o.Name == "head55" {
			continue // the page says whose option it is
		}
		for _, value := range o.Values {
			ok, err := agreeable(v, o.Name, value)
			if err != nil {
				return variant{}, err
			}
			if !ok {
				told.Refused = append(told.Refused, o.Name+"="+value)
			}
		}
	}
	return told, nil
}

// first plays White's first roll with seat A as White.
func first(r rules.Rules, d rules.Dice) (example, error) {
	g, err := r.NewGame(rules.Terms{}).Begin(6, 5)
	if err == nil && !r.OpeningIsRoll() {
		g, err = g.Roll(d)
	}
	if err != nil {
		return example{}, err
	}
	var gen rules.Generator
	plays := gen.List(r, g.Position(), g.Stage())
	if len(plays) == 0 {
		return example{}, fmt.Errorf("a first %s has no move", d)
	}
	steps := plays[len(plays)-1].Steps
	return example{Dice: d.String(), Line: "move A " + r.FormatSteps(rules.White, steps), Count: len(plays)}, nil
}

// agreeable reports whether an option value can be agreed on for a variant in at least one set of options.
func agreeable(v rules.Variant, name, value string) (bool, error) {
	pick := func(option string, values []string) []string {
		if option == name {
			values = []string{value}
		}
		return values
	}
	for _, raise := range pick("raise", options[0].Values) {
		for _, stake := range pick("stake", options[1].Values) {
			for _, series := range pick("series", options[2].Values) {
				for _, crawford := range pick("crawford", options[3].Values) {
					text := "raise=" + raise + " stake=" + stake + " series=" + counted(series) + " crawford=" + crawford
					o, err := replay.ParseOptions(text)
					if err != nil {
						return false, err
					}
					if o.Validate(v) == nil {
						return true, nil
					}
				}
			}
		}
	}
	return false, nil
}

// counted completes the series that are played to a number of points.
func counted(series string) string {
	if series == "combined" || series == "points" {
		return series + ":5"
	}
	return series
}

// anchor is the fragment of a heading as the usual renderers make it: lower case, words joined by hyphens, no other signs.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		default:
			return -1
		}
	}, strings.ToLower(heading))
}
