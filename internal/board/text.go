package board

import (
	"fmt"
	"strings"

	"fairdice/rules"
)

// signs is one set of characters.
type signs struct {
	checker                       [2]string
	empty                         string
	across, down                  string
	topLeft, topMiddle, topRight  string
	lowLeft, lowMiddle, lowRight  string
	sideLeft, sideMiddle, sideEnd string
}

var (
	unicodeSigns = signs{[2]string{"○", "●"}, "·", "─", "│", "┌", "┬", "┐", "└", "┴", "┘", "├", "┼", "┤"}
	asciiSigns   = signs{[2]string{"O", "X"}, ".", "-", "|", "+", "+", "+", "+", "+", "+", "+", "+", "+"}
)

// rows is how many checkers of a stack are drawn; a higher one shows its number on the last.
const rows = 5

// Text draws the position in lines of at most 53 columns. The points where steps of the last move start stand in
// round brackets, those where they end in square ones.
func Text(p rules.Position, o Options) string {
	s := &unicodeSigns
	if o.ASCII {
		s = &asciiSigns
	}
	pts := o.points(p)
	upper, lower := make([]point, 12), pts[12:]
	for i := range upper {
		upper[i] = pts[11-i]
	}
	var b strings.Builder
	s.rule(&b, s.topLeft, s.topMiddle, s.topRight)
	s.row(&b, upper, point.label)
	for n := range rows {
		s.row(&b, upper, func(pt point) string { return s.cell(pt, n) })
	}
	s.rule(&b, s.sideLeft, s.sideMiddle, s.sideEnd)
	for n := rows - 1; n >= 0; n-- {
		s.row(&b, lower, func(pt point) string { return s.cell(pt, n) })
	}
	s.row(&b, lower, point.label)
	s.rule(&b, s.lowLeft, s.lowMiddle, s.lowRight)
	for _, c := range [2]rules.Color{o.View.Other(), o.View} {
		fmt.Fprintf(&b, " %s %s %3d pips", s.checker[c], c, p.Pips(c))
		if n := p.Bar(c); n > 0 {
			fmt.Fprintf(&b, ", %d on the bar", n)
		}
		if n := p.Off(c); n > 0 {
			fmt.Fprintf(&b, ", %d off", n)
		}
		if len(o.Last) > 0 && c == o.Mover {
			fmt.Fprintf(&b, ", moved %s", o.Rules.FormatSteps(c, o.Last))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *signs) rule(b *strings.Builder, left, middle, right string) {
	half := strings.Repeat(s.across, 4*6)
	b.WriteString(left + half + middle + half + right + "\n")
}

func (s *signs) row(b *strings.Builder, pts []point, cell func(point) string) {
	for i, pt := range pts {
		if i%6 == 0 {
			b.WriteString(s.down)
		}
		b.WriteString(cell(pt))
	}
	b.WriteString(s.down + "\n")
}

// label is the number of the point in four columns, bracketed if the last move touched it.
func (pt point) label() string {
	switch {
	case pt.to:
		return fmt.Sprintf("%4s", fmt.Sprintf("[%d]", pt.number))
	case pt.from:
		return fmt.Sprintf("%4s", fmt.Sprintf("(%d)", pt.number))
	}
	return fmt.Sprintf("%3d ", pt.number)
}

// cell is the n-th place of the point from the edge, in four columns.
func (s *signs) cell(pt point, n int) string {
	c, ok := pt.checker(n)
	switch {
	case !ok && n == 0:
		return "  " + s.empty + " "
	case !ok:
		return "    "
	case n == rows-1 && pt.height() > rows:
		return fmt.Sprintf(" %2d ", pt.height())
	}
	return "  " + s.checker[c] + " "
}
