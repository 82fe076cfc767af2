//go:build !js

package main

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"fairdice/audit/archive"
	"fairdice/audit/stats"
)

// drawing collects the elements of one SVG picture. Pictures carry a title for
// whoever cannot see them and need no script.
type drawing struct {
	strings.Builder
	width, height float64
}

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(&d.Builder, format+"\n", args...) }

func (d *drawing) text(x, y float64, anchor, s string) {
	d.put(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	d.put(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

func (d *drawing) picture(title string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img"><title>%s</title>%s</svg>`,
		d.width, d.height, html.EscapeString(title), d.String()))
}

// pairChart shows how far each pair is from its expected frequency, with the
// band in which independent rolls lie 99.9 % of the time.
func pairChart(c stats.Chart) template.HTML {
	const left, bar, middle = 60, 16, 110
	d := &drawing{width: left + 36*bar + 8, height: 240}
	band, most := 0.0, 0.0
	off := make([]float64, len(c.Seen))
	for i, n := range c.Seen {
		if c.Expected[i] == 0 {
			continue
		}
		off[i] = 100 * (float64(n) - c.Expected[i]) / c.Expected[i]
		band = 329 * math.Sqrt(35.0/36/c.Expected[i])
		most = max(most, math.Abs(off[i]))
	}
	scale := 90 / max(most, band, 0.001)
	d.put(`<rect x="%d" y="%.1f" width="%d" height="%.1f" class="band"/>`, left, middle-band*scale, 36*bar, 2*band*scale)
	for i, v := range off {
		x := float64(left + i*bar)
		y := middle - max(v, 0)*scale
		d.put(`<rect x="%.1f" y="%.1f" width="%d" height="%.1f" class="bar"><title>%s: %d, %+.2f %%</title></rect>`,
			x+2, y, bar-4, math.Abs(v)*scale, html.EscapeString(c.Labels[i]), c.Seen[i], v)
		d.put(`<text transform="translate(%.1f 212) rotate(-90)" text-anchor="end" class="small">%s</text>`, x+12, html.EscapeString(c.Labels[i]))
	}
	d.line(left, middle, left+36*bar, middle, "axis")
	for _, v := range []float64{band, -band} {
		d.text(left-4, middle-v*scale+4, "end", fmt.Sprintf("%+.1f %%", v))
	}
	return d.picture("pair frequencies against what was expected, " + c.Group.String())
}

// mostTests bounds how many tests a page lists. A service with hundreds of
// tenants and keys has more; what they share is in their mode's tests.
const mostTests = 400

// shownTests are the tests a page lists: all, or if they are too many those of
// whole modes and those that say something.
func shownTests(r stats.Report) []stats.Test {
	if len(r.Tests) <= mostTests {
		return r.Tests
	}
	return notable(r)
}

func notable(r stats.Report) []stats.Test {
	return slices.DeleteFunc(slices.Clone(r.Tests), func(t stats.Test) bool {
		return t.Tenant != "" && t.Verdict != stats.Alarm && t.Verdict != stats.Reported
	})
}

// testChart shows the corrected p-values on a scale of powers of ten.
func testChart(r stats.Report) template.HTML {
	const left, right, row = 250, 560, 18
	tests := notable(r)
	d := &drawing{width: right + 60, height: float64(row*len(tests) + 40)}
	power := func(p float64) float64 { return -math.Log10(max(p, 1e-300)) }
	most := power(r.AlarmLevel) * 1.3
	for _, t := range tests {
		most = max(most, min(power(t.Holm), 40))
	}
	at := func(p float64) float64 { return left + (right-left)*min(power(p), most)/most }
	for _, level := range []struct {
		p    float64
		name string
	}{{r.ReportLevel, "report"}, {r.AlarmLevel, "alarm"}} {
		d.line(at(level.p), 16, at(level.p), d.height-8, "level")
		d.text(at(level.p), 12, "middle", fmt.Sprintf("%s %g", level.name, level.p))
	}
	for i, t := range tests {
		y := float64(34 + i*row)
		name := t.Mode + ", " + t.Name
		if t.Tenant != "" {
			name = t.Mode + " " + t.Tenant + ", " + t.Name
		}
		if len(name) > 42 {
			name = name[:41] + "…"
		}
		d.text(left-8, y+4, "end", name)
		d.line(left, y, at(t.Holm), y, "axis")
		d.put(`<circle cx="%.1f" cy="%.1f" r="4" class="%s"><title>%s</title></circle>`, at(t.Holm), y, t.Verdict,
			html.EscapeString(fmt.Sprintf("%s, %s: p %.2g, corrected %.2g", t.Group, t.Name, t.P, t.Holm)))
	}
	return d.picture("p-values of the tests after Holm's correction; further right is less likely")
}

// levelClasses are the levels in the order of their stacks.
var levelClasses = []string{"L3", "L2", "L1", "L0"}

// monthChart stacks the games of every month by their level, and draws the
// share of aborted ones.
func monthChart(months []archive.Month) template.HTML {
	const left, height = 56, 150
	width := min(40, 560/max(1, float64(len(months))))
	d := &drawing{width: left + max(560, width*float64(len(months))) + 40, height: height + 60}
	most := int64(1)
	for _, m := range months {
		most = max(most, m.Closed+m.Aborted)
	}
	scale := height / float64(most)
	for i, m := range months {
		x, y := left+float64(i)*width, float64(height+16)
		for _, level := range levelClasses {
			h := float64(m.Levels[level]) * scale
			y -= h
			d.put(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"><title>%s: %d games at %s</title></rect>`,
				x+1, y, width-2, h, level, m.Month, m.Levels[level], level)
		}
		if rate := abortRate(m); rate > 0 {
			d.put(`<circle cx="%.1f" cy="%.1f" r="3" class="abort"><title>%s: %.2f %% aborted</title></circle>`, x+width/2, height+16-rate*height, m.Month, 100*rate)
		}
		if len(months) <= 14 || i%(len(months)/12) == 0 {
			d.put(`<text transform="translate(%.1f %d) rotate(-40)" text-anchor="end" class="small">%s</text>`, x+width/2, height+30, m.Month)
		}
	}
	d.line(left, height+16, d.width-40, height+16, "axis")
	d.text(left-4, 20, "end", fmt.Sprint(most))
	d.text(left-4, height+16, "end", "0")
	for i, level := range levelClasses {
		d.put(`<rect x="%d" y="%d" width="10" height="10" class="%s"/>`, left+i*50, height+50, level)
		d.text(float64(left+14+i*50), height+59, "start", level)
	}
	d.put(`<circle cx="%d" cy="%d" r="3" class="abort"/>`, left+205, height+55)
	d.text(left+214, height+59, "start", "share of aborted games")
	return d.picture("games a month by proof level, and the share of aborted ones")
}

func abortRate(m archive.Month) float64 {
	if n := m.Closed + m.Aborted; n > 0 {
		return float64(m.Aborted) / float64(n)
	}
	return 0
}

// percent prints a share.
func percent(part int64, of ...int64) string {
	whole := int64(0)
	for _, n := range of {
		whole += n
	}
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(whole))
}

// modeCharts are the charts of whole modes, those with the most rolls first.
func modeCharts(charts []stats.Chart) []stats.Chart {
	out := slices.Clone(charts)
	slices.SortStableFunc(out, func(a, b stats.Chart) int {
		switch x, y := a.Expected[0], b.Expected[0]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out
}
