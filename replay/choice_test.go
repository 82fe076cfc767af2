package replay

import (
	"slices"
	"strings"
	"testing"

	"fairdice/rules"
)

// every option line there is, N being 1 or the largest.
func everyOptions() (all []Options) {
	for raise := range raiseNames {
		for stake := range stakeNames {
			for kind := range seriesNames {
				for _, n := range []int{1, MaxSeries} {
					s := Series{Kind: SeriesKind(kind)}
					if s.counted() {
						s.N = n
					} else if n > 1 {
						continue
					}
					for _, crawford := range []bool{false, true} {
						for head := range head55Names {
							all = append(all, Options{Raise(raise), Stake(stake), s, crawford, rules.Head55(head)})
						}
					}
				}
			}
		}
	}
	return all
}

// TestImpossibleFor: what is listed for a variant is exactly why lines of it
// are refused: a line has the reasons of the values and pairs in it, and no other.
func TestImpossibleFor(t *testing.T) {
	for _, v := range rules.Variants() {
		list := ImpossibleFor(v)
		for _, o := range everyOptions() {
			var want []string
			for _, i := range list {
				has := func(text string) bool {
					option, value, _ := strings.Cut(text, "=")
					own := o.Value(option)
					if kind, _, counted := strings.Cut(own, ":"); counted {
						own = kind + ":N"
					}
					return own == value
				}
				if !slices.ContainsFunc(i.Values, func(text string) bool { return !has(text) }) {
					want = append(want, i.Reason.Code)
				}
			}
			var got []string
			for _, r := range o.Reasons(v) {
				got = append(got, r.Code)
			}
			slices.Sort(want)
			slices.Sort(got)
			if want = slices.Compact(want); !slices.Equal(want, got) {
				t.Fatalf("%s with %s: refused for %v, listed are %v", v.ID, o, got, want)
			}
		}
	}
}

// TestReadOptions: every line reads back, in whatever order and with defaults
// left out, and is refused exactly if no match can be opened with it.
func TestReadOptions(t *testing.T) {
	base := Options{Raise: RaiseMars}
	for _, v := range rules.Variants() {
		for _, o := range everyOptions() {
			fields := strings.Fields(o.String())
			slices.Reverse(fields)
			fields = slices.DeleteFunc(fields, func(f string) bool {
				option, value, _ := strings.Cut(f, "=")
				return base.Value(option) == value
			})
			got, reasons := base.ReadOptions(v, strings.Join(fields, "  "))
			if got != o || (len(reasons) == 0) != (o.Validate(v) == nil) {
				t.Fatalf("%s: %v was read as %s with %v", v.ID, fields, got, reasons)
			}
		}
	}
	short, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ line, codes string }{
		{"", ""}, {"head55=literal", ""}, {"raise", "unknown-value"}, {"raise=cube raise=cube", "unknown-value"},
		{"colour=red stake=gold", "unknown-value unknown-value"}, {"series=points:0", "series-points"}, {"series=points:26", "series-points"},
		{"series=points", "unknown-value"}, {"series=draw:2", "unknown-value"}, {"series=draw", "draw-family"},
		{"raise=beaver series=reverse stake=unborne head55=off", "raise-series cube-reverse unborne-reverse head55-variant"},
	} {
		_, reasons := base.ReadOptions(short, test.line)
		var codes []string
		for _, r := range reasons {
			codes = append(codes, r.Code)
		}
		if got := strings.Join(codes, " "); got != test.codes {
			t.Errorf("%q is refused for %q, want %q", test.line, got, test.codes)
		}
	}
}
