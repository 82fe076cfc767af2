package board

import (
	"fmt"
	"strings"

	"fairdice/rules"
)

// Measures of the drawing, in its own units.
const (
	pitch    = 40 // from point to point, and the width of the bar
	radius   = 18
	tall     = 190 // of a point
	gap      = 40  // between the tips
	margin   = 24  // above and below, for the numbers
	tray     = 60  // for borne-off checkers
	svgWidth = 13*pitch + tray
	svgTall  = 2*margin + 2*tall + gap
)

// escaped makes text safe in XML. Package html would bring its table of entities
// into the page's module.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// SVG draws the position as a self-contained picture that scales. A page may set the custom properties
// --board-ground, --board-light, --board-dark, --board-white, --board-black, --board-line, --board-mark and --board-halo; the words of
// Describe are its title and description. It needs no script, no font file and no element ids.
func SVG(p rules.Position, o Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="20" text-anchor="middle">`+"\n", svgWidth, svgTall)
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", escaped.Replace(o.say("board.at-bottom", o.name(o.View))), escaped.Replace(Describe(p, o)))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="6" %s/>`+"\n", svgWidth, svgTall, fill("ground", "#6b4a2b"))
	// The bar and the tray are sunk into the board.
	for _, x := range [2]int{6 * pitch, 13 * pitch} {
		width := pitch
		if x > 6*pitch {
			width = tray
		}
		fmt.Fprintf(&b, `<path d="M%d %dh%dv%dh%dz" fill="#000" fill-opacity=".2"/>`+"\n", x, margin, width, svgTall-2*margin, -width)
	}
	pts := o.points(p)
	for _, pt := range pts {
		pt.triangle(&b)
	}
	for idx, in := range o.primed(p) {
		if in {
			wall(&b, idx)
		}
	}
	for _, pt := range pts {
		pt.stack(&b)
	}
	for i, c := range [2]rules.Color{o.View.Other(), o.View} {
		// The bar stands between the sixth and the seventh column, the tray at the right edge; his own half each.
		y := margin + tall - radius
		if i == 1 {
			y = margin + tall + gap + radius
		}
		heap(&b, 6*pitch+pitch/2, y, c, p.Bar(c))
		heap(&b, 13*pitch+tray/2, y, c, p.Off(c))
	}
	for _, s := range o.Last {
		o.arrow(&b, s)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func fill(name, value string) string { return fmt.Sprintf(`fill="var(--board-%s,%s)"`, name, value) }

// place gives the middle of the point at the edge, and the direction to the middle of the board.
func place(idx int) (x, y, dir int) {
	column := 11 - idx
	y, dir = margin, 1
	if idx >= 12 {
		column, y, dir = idx-12, svgTall-margin, -1
	}
	x = column*pitch + pitch/2
	if column >= 6 {
		x += pitch
	}
	return x, y, dir
}

func (pt point) triangle(b *strings.Builder) {
	x, y, dir := place(pt.idx)
	shade := fill("light", "#e3c99a")
	if pt.idx%2 == 1 {
		shade = fill("dark", "#a8763e")
	}
	fmt.Fprintf(b, `<path d="M%d %dh%dL%d %dz" %s/>`+"\n", x-pitch/2, y, pitch, x, y+dir*tall, shade)
	label := y - 5
	if dir < 0 {
		label = y + 19
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" %s>%d</text>`+"\n", x, label, fill("white", "#fdf6e3"), pt.number)
}

// wall marks a point of a prime with a beam along the edge.
func wall(b *strings.Builder, idx int) {
	x, y, dir := place(idx)
	mark(b, fmt.Sprintf("M%d %dh%d", x-pitch/2, y-dir*2, pitch), 4)
}

func (pt point) stack(b *strings.Builder) {
	x, y, dir := place(pt.idx)
	for n := range min(pt.height(), rows) {
		c, _ := pt.checker(n)
		count := 0
		if n == rows-1 && pt.height() > rows {
			count = pt.height()
		}
		checker(b, x, y+dir*(radius+1+n*(2*radius+1)), c, count)
	}
}

// heap draws checkers that stand on no point as one checker with their number.
func heap(b *strings.Builder, x, y int, c rules.Color, n int) {
	if n > 0 {
		checker(b, x, y, c, n)
	}
}

// checker draws one checker, with a number if it stands for several.
func checker(b *strings.Builder, x, y int, c rules.Color, count int) {
	own, other := fill("white", "#fdf6e3"), fill("black", "#1d1a16")
	if c == rules.Black {
		own, other = other, own
	}
	fmt.Fprintf(b, `<circle cx="%d" cy="%d" r="%d" stroke="var(--board-line,#000)" %s/>`+"\n", x, y, radius, own)
	if count > 0 {
		fmt.Fprintf(b, `<text x="%d" y="%d" %s>%d</text>`+"\n", x, y+7, other, count)
	}
}

// arrow marks a step of the last move from tip to tip, with a dot where it ends.
func (o Options) arrow(b *strings.Builder, s rules.Step) {
	x1, y1 := o.end(int(s.From))
	x2, y2 := o.end(int(s.To))
	mark(b, fmt.Sprintf("M%d %dQ%d %d %d %d", x1, y1, (x1+x2)/2, (y1+y2)/2+(svgTall/2-(y1+y2)/2)/2, x2, y2), 4)
	fmt.Fprintf(b, `<circle cx="%d" cy="%d" r="8" stroke="var(--board-halo,#fff)" stroke-width="2" %s/>`+"\n", x2, y2, fill("mark", "#0a4f80"))
}

// mark draws a line that stands out on the ground and on the points of either
// shade: it has an edge that is as light as the line is dark, or the other way
// round.
func mark(b *strings.Builder, path string, width int) {
	for _, line := range [2]struct {
		colour string
		width  int
	}{{"var(--board-halo,#fff)", width + 4}, {"var(--board-mark,#0a4f80)", width}} {
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="%d" stroke-linecap="round"/>`+"\n", path, line.colour, line.width)
	}
}

// end is where an arrow touches a place of the mover's path: beside the checkers, so that no number is hidden.
func (o Options) end(idx int) (x, y int) {
	half := margin + tall - radius
	if o.Mover == o.View {
		half = margin + tall + gap + radius
	}
	switch idx {
	case rules.Bar:
		return 6*pitch + pitch/2, svgTall / 2
	case rules.Off:
		return 13*pitch + tray/2 - radius - 6, half
	}
	x, y, dir := place(o.seen(idx))
	return x, y + dir*(tall+6)
}
