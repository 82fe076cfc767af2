//go:build !js

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"fairdice/audit"
	"fairdice/audit/archive"
)

//go:embed archive.html
var archiveHTML string

var archiveTemplate = template.Must(template.New("archive").Funcs(template.FuncMap{
	"upper":   func(v audit.Verdict) string { return strings.ToUpper(string(v)) },
	"pairs":   pairChart,
	"tests":   testChart,
	"shown":   shownTests,
	"months":  monthChart,
	"charts":  modeCharts,
	"percent": percent,
	"levels":  levelText,
	"state":   func(m map[audit.State]int64, s string) int64 { return m[audit.State(s)] },
	"answer":  checkAnswer,
}).Parse(archiveHTML))

// archivePage is the report as one page that needs nothing else: no script, no
// font, no image from anywhere.
func archivePage(r *archive.Result) ([]byte, error) {
	var page bytes.Buffer
	if err := archiveTemplate.Execute(&page, r); err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	return page.Bytes(), nil
}

// levelText prints how many games have which level.
func levelText(m map[string]int64) string {
	var parts []string
	for name, n := range m {
		parts = append(parts, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// checkAnswer is the class of a check's line.
func checkAnswer(c archive.CheckCount) audit.Status {
	switch {
	case c.Faults > 0:
		return audit.Fail
	case c.Passed > 0:
		return audit.Pass
	default:
		return audit.Unchecked
	}
}
