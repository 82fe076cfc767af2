package replay

import (
	"slices"
	"strconv"
	"strings"

	"fairdice/rules"
)

// Choice is an option with the values it may have, as they are written; N
// stands for a number from 1 to MaxSeries.
type Choice struct {
	Option string
	Values []string
}

// Choices are the options in the order of their canonical text (RULES.md §7).
func Choices() []Choice {
	list := []Choice{
		{"raise", raiseNames[:]}, {"stake", stakeNames[:]}, {"series", seriesNames[:]}, {"crawford", crawfordNames[:]}, {"head55", head55Names[:]},
	}
	for i := range list {
		list[i].Values = slices.Clone(list[i].Values)
	}
	for i := range list[2].Values {
		if (Series{Kind: SeriesKind(i)}).counted() {
			list[2].Values[i] += ":N"
		}
	}
	return list
}

var crawfordNames = [...]string{"off", "on"}

// Value is an option's value in these options, as Choices writes it but with
// its own number.
func (o Options) Value(option string) string {
	switch option {
	case "raise":
		return o.Raise.String()
	case "stake":
		return o.Stake.String()
	case "series":
		return o.Series.String()
	case "crawford":
		if o.Crawford {
			return crawfordNames[1]
		}
		return crawfordNames[0]
	case "head55":
		return name(head55Names[:], uint8(o.Head55))
	}
	return ""
}

// ReadOptions reads a line as a person writes it: the options in any order,
// those that are left out as in o. It answers every reason why the text, or a
// match of the variant with it, cannot be; without one, [Options.String] is
// the canonical text.
func (o Options) ReadOptions(v rules.Variant, text string) (Options, []Reason) {
	var reasons []Reason
	refuse := func(code, arg, format string, args ...any) {
		reasons = append(reasons, newReason(code, arg, format, args...))
	}
	seen := make(map[string]bool)
	for field := range strings.FieldsSeq(text) {
		option, value, _ := strings.Cut(field, "=")
		known := slices.ContainsFunc(Choices(), func(c Choice) bool { return c.Option == option })
		switch {
		case !known:
			refuse("unknown-value", clip(field), "there is no option %q", clip(option))
			continue
		case seen[option]:
			refuse("unknown-value", clip(field), "%s stands twice", option)
			continue
		}
		seen[option] = true
		if option == "head55" && value == head55Names[rules.Head55Literal] {
			o.Head55 = rules.Head55Literal // the canonical text leaves it out
			continue
		}
		if err := o.set(option, value); err != nil {
			code, arg := "unknown-value", clip(field)
			if kind, _, counted := strings.Cut(value, ":"); option == "series" && counted && (kind == seriesNames[SeriesCombined] || kind == seriesNames[SeriesPoints]) {
				code, arg = "series-points", strconv.Itoa(MaxSeries)
			}
			refuse(code, arg, "%w", err)
		}
	}
	if len(reasons) == 0 {
		reasons = o.Reasons(v)
	}
	return o, reasons
}

// Impossible is a value, or two values that do not go together.
type Impossible struct {
	Values []string // "option=value"
	Reason Reason
}

// ImpossibleFor lists the values, and the pairs of values, that no match of the
// variant can have. A refusal of more than two values does not occur.
func ImpossibleFor(v rules.Variant) []Impossible {
	var list []Impossible
	var alone [][]Reason
	type value struct {
		option, text string
		options      Options
	}
	var values []value
	for _, c := range Choices() {
		for _, text := range c.Values {
			var o Options
			// Every value of the list is one that set knows.
			if err := o.set(c.Option, strings.Replace(text, ":N", ":1", 1)); err != nil && text != head55Names[rules.Head55Literal] {
				continue
			}
			values = append(values, value{c.Option, text, o})
			reasons := o.Reasons(v)
			alone = append(alone, reasons)
			for _, r := range reasons {
				list = append(list, Impossible{[]string{c.Option + "=" + text}, r})
			}
		}
	}
	for i, a := range values {
		for j, b := range values[:i] {
			if a.option == b.option {
				continue
			}
			both := b.options.with(a.option, a.options)
			for _, r := range both.Reasons(v) {
				same := func(o Reason) bool { return o.Code == r.Code }
				if !slices.ContainsFunc(alone[i], same) && !slices.ContainsFunc(alone[j], same) {
					list = append(list, Impossible{[]string{b.option + "=" + b.text, a.option + "=" + a.text}, r})
				}
			}
		}
	}
	return list
}

// with takes one option over from others.
func (o Options) with(option string, from Options) Options {
	switch option {
	case "raise":
		o.Raise = from.Raise
	case "stake":
		o.Stake = from.Stake
	case "series":
		o.Series = from.Series
	case "crawford":
		o.Crawford = from.Crawford
	case "head55":
		o.Head55 = from.Head55
	}
	return o
}
