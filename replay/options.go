package replay

import (
	"errors"
	"strconv"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/rules"
)

// Raise says how a game may become worth more than one point (RULES.md §7, option "raise").
type Raise uint8

// The values of the option raise. Beaver, Jacoby and Auto imply the cube.
const (
	RaiseNone Raise = iota
	RaiseMars
	RaiseCube
	RaiseBeaver
	RaiseJacoby
	RaiseAuto
)

var raiseNames = [...]string{"none", "mars", "cube", "beaver", "jacoby", "auto"}

// String returns the option's value as it is written in texts.
func (r Raise) String() string { return name(raiseNames[:], uint8(r)) }

// HasCube reports whether the doubling cube is on the table.
func (r Raise) HasCube() bool { return r >= RaiseCube }

// Stake says what a won game is counted in (RULES.md §7, option "stake").
type Stake uint8

// The values of the option stake.
const (
	StakeWin     Stake = iota // the win itself: 1, mars 2, koks 3
	StakeUnborne              // every checker the loser has not borne off
)

var stakeNames = [...]string{"win", "unborne"}

// String returns the option's value as it is written in texts.
func (s Stake) String() string { return name(stakeNames[:], uint8(s)) }

// SeriesKind is the kind of series a match is (RULES.md §7, option "series").
type SeriesKind uint8

// The values of the option series.
const (
	SeriesSingle   SeriesKind = iota // one game
	SeriesDraw                       // one game with Black's reply turn
	SeriesReverse                    // one game that the last to finish wins
	SeriesCombined                   // normal and reverse games in turn, to N points
	SeriesPoints                     // games to N points
)

var seriesNames = [...]string{"single", "draw", "reverse", "combined", "points"}

// MaxSeries is the largest N of points:N and combined:N.
const MaxSeries = 25

// Series is the kind of a series and, for combined and points, the points it is played to.
type Series struct {
	Kind SeriesKind
	N    int // 1…MaxSeries for combined and points, else 0
}

// String returns the option's value as it is written in texts, for example "points:7".
func (s Series) String() string {
	if s.counted() {
		return name(seriesNames[:], uint8(s.Kind)) + ":" + strconv.Itoa(s.N)
	}
	return name(seriesNames[:], uint8(s.Kind))
}

// counted reports whether the series is played to a number of points.
func (s Series) counted() bool { return s.Kind == SeriesCombined || s.Kind == SeriesPoints }

// Options are what two players agreed on before a match (RULES.md §7). The zero value is a single game without raise.
type Options struct {
	Raise    Raise
	Stake    Stake
	Series   Series
	Crawford bool
	Head55   rules.Head55 // long-classic only, RULES.md §4 H1
}

var head55Names = [...]string{rules.Head55Literal: "literal", rules.Head55General: "general", rules.Head55Off: "off"}

func name(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "invalid(" + strconv.Itoa(int(i)) + ")"
}

// String returns the canonical text: "raise=… stake=… series=… crawford=on|off", then head55 unless it is literal.
func (o Options) String() string {
	crawford := "off"
	if o.Crawford {
		crawford = "on"
	}
	text := "raise=" + o.Raise.String() + " stake=" + o.Stake.String() + " series=" + o.Series.String() + " crawford=" + crawford
	if o.Head55 != rules.Head55Literal {
		text += " head55=" + name(head55Names[:], uint8(o.Head55))
	}
	return text
}

// ParseOptions reads the canonical text of options and nothing else: the four names in their order, then head55 only
// where it is not literal (PROTOCOL.md §3). Whether the values go together is asked with [Options.Validate].
func ParseOptions(text string) (Options, error) {
	fields := strings.Split(text, " ")
	names := [...]string{"raise", "stake", "series", "crawford", "head55"}
	if len(fields) < 4 || len(fields) > len(names) {
		return Options{}, phrase.Errorf("parse options %q: want raise=… stake=… series=… crawford=… and at most head55=…", clip(text))
	}
	var o Options
	for i, field := range fields {
		value, ok := strings.CutPrefix(field, names[i]+"=")
		if !ok {
			return Options{}, phrase.Errorf("parse options %q: field %d must be %s=…, not %q", clip(text), i+1, names[i], clip(field))
		}
		if err := o.set(names[i], value); err != nil {
			return Options{}, phrase.Errorf("parse options: %w", err)
		}
	}
	return o, nil
}

func (o *Options) set(option, value string) error {
	pick := func(names []string, put func(uint8)) error {
		for i, n := range names {
			if n == value {
				put(uint8(i))
				return nil
			}
		}
		return phrase.Errorf("%s is %q, not one of %s", option, clip(value), strings.Join(names, ", "))
	}
	switch option {
	case "raise":
		return pick(raiseNames[:], func(i uint8) { o.Raise = Raise(i) })
	case "stake":
		return pick(stakeNames[:], func(i uint8) { o.Stake = Stake(i) })
	case "series":
		s, err := parseSeries(value)
		o.Series = s
		return err
	case "crawford":
		return pick(crawfordNames[:], func(i uint8) { o.Crawford = i == 1 })
	default:
		if value == head55Names[rules.Head55Literal] {
			return errors.New("head55=literal is the default and is not written")
		}
		return pick(head55Names[:], func(i uint8) { o.Head55 = rules.Head55(i) })
	}
}

func parseSeries(value string) (Series, error) {
	kind, count, counted := strings.Cut(value, ":")
	for i, n := range seriesNames {
		s := Series{Kind: SeriesKind(i)}
		if n != kind || s.counted() != counted {
			continue
		}
		if counted {
			n, ok := parseNumber(count, MaxSeries)
			if !ok || n == 0 {
				return Series{}, phrase.Errorf("series %q: N must be 1 to %d", clip(value), MaxSeries)
			}
			s.N = int(n)
		}
		return s, nil
	}
	return Series{}, phrase.Errorf("series is %q, not one of single, draw, reverse, combined:N, points:N", clip(value))
}

// Reason is one thing that does not go together in options.
type Reason struct {
	Code string // stable, for machines and translations
	Arg  string // what the code is about: a value, a limit; may be empty
	Text string // for people

	why error // what Text is the English text of
}

func newReason(code, arg, format string, args ...any) Reason {
	why := phrase.Errorf(format, args...)
	return Reason{Code: code, Arg: arg, Text: why.Error(), why: why}
}

// Error returns the text.
func (r Reason) Error() string { return r.Text }

// Phrase says it in other languages.
func (r Reason) Phrase() (string, []any) { return "%w", []any{r.why} }

// Validate reports whether a match of the variant may be opened with these options. The error joins the reasons why not.
func (o Options) Validate(v rules.Variant) error {
	var errs []error
	for _, r := range o.Reasons(v) {
		errs = append(errs, r)
	}
	return errors.Join(errs...)
}

// Reasons returns one reason per combination that no match of the variant can have (RULES.md §7); none if the options are valid.
func (o Options) Reasons(v rules.Variant) []Reason {
	var reasons []Reason
	refuse := func(when bool, code, arg, format string, args ...any) {
		if when {
			reasons = append(reasons, newReason(code, arg, format, args...))
		}
	}
	head55 := name(head55Names[:], uint8(o.Head55))
	for _, value := range []struct {
		option, text string
		exists       bool
	}{
		{"raise", o.Raise.String(), int(o.Raise) < len(raiseNames)},
		{"stake", o.Stake.String(), int(o.Stake) < len(stakeNames)},
		{"series", o.Series.String(), int(o.Series.Kind) < len(seriesNames) && (o.Series.counted() || o.Series.N == 0)},
		{"head55", head55, int(o.Head55) < len(head55Names)},
	} {
		refuse(!value.exists, "unknown-value", value.option+"="+value.text, "%s=%s does not exist", value.option, value.text)
	}
	refuse(o.Series.counted() && (o.Series.N < 1 || o.Series.N > MaxSeries), "series-points", strconv.Itoa(MaxSeries), "series=%s: N must be 1 to %d", o.Series, MaxSeries)

	kind := o.Series.Kind
	reversing := kind == SeriesReverse || kind == SeriesCombined
	refuse(o.Raise.HasCube() && !v.Rules.Cube(), "cube-variant", "", "raise=%s with %s: the game is played without a cube", o.Raise, v.ID)
	refuse(o.Raise > RaiseCube && kind != SeriesSingle && kind != SeriesDraw, "raise-series", "", "raise=%s with series=%s: only single and draw games have it", o.Raise, o.Series)
	refuse(o.Raise.HasCube() && reversing, "cube-reverse", "", "raise=%s with series=%s: a reversed game has no cube", o.Raise, o.Series)
	refuse(o.Stake == StakeUnborne && reversing, "unborne-reverse", "", "stake=unborne with series=%s: the loser of a reversed game has borne off every checker", o.Series)
	refuse(reversing && v.Rules.Pins(), "reverse-pins", "", "series=%s with %s: a pinned mother has no reverse", o.Series, v.ID)
	refuse(kind == SeriesDraw && !v.Rules.ReplyTurn(), "draw-family", "", "series=draw with %s: only the long family has a reply turn", v.ID)
	refuse(o.Head55 != rules.Head55Literal && !v.Rules.Head55Applies(), "head55-variant", "", "head55=%s with %s: only long-classic has the switch", head55, v.ID)
	return reasons
}

// parseNumber reads a canonical decimal number from 0 to limit: digits only, no leading zero.
func parseNumber(text string, limit int64) (int64, bool) {
	if text == "" || len(text) > 16 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	var n int64
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(text[i]-'0')
	}
	return n, n <= limit
}

// clip shortens foreign text for messages.
func clip(text string) string {
	if len(text) > 80 {
		return text[:77] + "…"
	}
	return text
}
