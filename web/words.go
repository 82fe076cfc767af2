package web

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"fairdice/internal/board"
	"fairdice/internal/messages"
	"fairdice/rules"
)

// functions are what templates call, in one language.
func functions(c messages.Catalogue, a *assets) template.FuncMap {
	return template.FuncMap{
		// t is a text of the catalogue.
		"t": func(key string, args ...any) string { return c.Text(key, args...) },
		// key joins the parts of a key.
		"key": messages.Key,
		// has tells whether the catalogue knows a key.
		"has": c.Has,
		// count is a text with plural forms.
		"count": func(key string, n any, args ...any) string { return c.Count(key, whole(n), args...) },
		// asset is the address of a static file.
		"asset": func(name string) (string, error) { return a.url(name) },
		// number groups the digits as the language does.
		"number": func(n any) string { return grouped(c.Lang(), whole(n)) },
		// date is a day and a time of day, UTC.
		"date": func(t time.Time) string { return date(c, t) },
		// machine is a time for the datetime attribute.
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"lang":    c.Lang,
		// decimal is a number with at most one digit behind the point.
		"decimal": func(n any) string { return decimal(c.Lang(), n) },
		// chance is a probability.
		"chance": func(p float64) string { return chance(c.Lang(), p) },
		"plot":   plot,
		// checks are the names of all checks of a report.
		"checks": func() []string { return checks(c) },
		// variants are the names of all games.
		"variants": variants,
		// rollNames are the pairs that have a name, the larger die first.
		"rollNames": rollNames,
		// rolled is how often a game rolled, of the streams together.
		"rolled": func(n [3]int) int { return n[0] + n[1] + n[2] },
		// board draws a position for a page, seen by a colour.
		"board": func(p rules.Position, r rules.Rules, view rules.Color) template.HTML {
			return template.HTML(board.SVG(p, board.Options{Rules: r, View: view, Words: c})) // made of numbers and words of ours alone
		},
	}
}

func (a *assets) url(name string) (string, error) {
	if a.files[name] == nil {
		return "", errNoFile(name)
	}
	return "/static/" + a.version + "/" + name, nil
}

// errNoFile is a template that names a file there is not.
type errNoFile string

func (e errNoFile) Error() string { return "there is no static file " + string(e) }

func whole(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case uint64:
		return int64(n)
	case int64:
		return n
	}
	panic("web: not an integer") // of a template; the tests render all
}

// grouped writes 1,234,567 in English and with no-break spaces elsewhere, where
// four digits stay together.
func grouped(lang string, n int64) string {
	digits := strconv.FormatInt(n, 10)
	sep, least := "\u00a0", 5
	if lang == "en" {
		sep, least = ",", 4
	}
	if n < 0 || len(digits) < least {
		return digits
	}
	out := digits[:(len(digits)-1)%3+1]
	for rest := digits[len(out):]; rest != ""; rest = rest[3:] {
		out += sep + rest[:3]
	}
	return out
}

func date(c messages.Catalogue, t time.Time) string {
	if t.IsZero() {
		return "—"
	}
	t = t.UTC()
	month := c.Text("page.site.month." + strconv.Itoa(int(t.Month())))
	return c.Text("page.site.date", t.Day(), month, t.Year()) + t.Format(", 15:04 UTC")
}

// comma is the sign before decimals.
func comma(lang, number string) string {
	if lang == "en" {
		return number
	}
	return strings.Replace(number, ".", ",", 1)
}

func decimal(lang string, n any) string {
	f, ok := n.(float64)
	if !ok {
		return grouped(lang, whole(n))
	}
	whole, rest, _ := strings.Cut(strconv.FormatFloat(f, 'f', 1, 64), ".")
	i, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return whole
	}
	if rest == "0" {
		return grouped(lang, i)
	}
	return grouped(lang, i) + comma(lang, "."+rest)
}

// chance rounds to what a reader can use; a p-value of a millionth is as good
// as none.
func chance(lang string, p float64) string {
	switch {
	case p < 1e-6:
		return comma(lang, "< 0.000001")
	case p < 0.01:
		return comma(lang, strings.TrimRight(strconv.FormatFloat(p, 'f', 6, 64), "0"))
	}
	return comma(lang, strconv.FormatFloat(p, 'f', 2, 64))
}

// checks are read from the catalogue, whose tests hold it to the checks of
// package audit.
func checks(c messages.Catalogue) (names []string) {
	for _, k := range c.Keys() {
		name, pass := strings.CutSuffix(k, ".pass")
		if name, check := strings.CutPrefix(name, "check."); pass && check {
			names = append(names, name)
		}
	}
	return names
}

func variants() (names []string) {
	for _, v := range rules.Variants() {
		names = append(names, v.ID)
	}
	return names
}

func rollNames() (names []string) {
	for high := 1; high <= 6; high++ {
		for low := 1; low <= high; low++ {
			names = append(names, strconv.Itoa(high)+"-"+strconv.Itoa(low))
		}
	}
	return names
}
