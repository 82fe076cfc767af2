package web

import (
	"fmt"
	"html/template"
	"strings"
)

// Measures of a plot, in its own units.
const (
	plotWidth, plotTall = 360, 120
	plotFoot            = 16 // for the labels
)

// plot draws the counts as bars from zero, and what was expected as a dashed
// line. The words and the table beside it say the same.
func plot(p Plot) template.HTML {
	if len(p.Values) == 0 {
		return ""
	}
	top := max(float64(p.Most), p.Expect) * 1.05
	if top == 0 {
		top = 1
	}
	at := func(n float64) float64 { return plotTall - n/top*plotTall }
	step := float64(plotWidth) / float64(len(p.Values))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" aria-hidden="true" focusable="false">`, plotWidth, plotTall+plotFoot)
	for i, v := range p.Values {
		y := at(float64(v.Count))
		fmt.Fprintf(&b, `<rect class="bar" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, float64(i)*step+step*.1, y, step*.8, plotTall-y)
		if i%6 == 0 { // the first of those with the same first die
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`, float64(i)*step, plotTall+plotFoot-3, template.HTMLEscapeString(v.Label))
		}
	}
	fmt.Fprintf(&b, `<line class="expect" x1="0" x2="%d" y1="%.1f" y2="%.1f"/></svg>`, plotWidth, at(p.Expect), at(p.Expect))
	return template.HTML(b.String()) // of numbers and an escaped label
}
