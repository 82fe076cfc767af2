//go:build !js

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"

	"fairdice/audit"
	"fairdice/internal/messages"
)

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"board": pictureState,
	"seats": seats,
	"label": func(s speech, key string) string { return messages.For(s.lang).Text(key) },
}).Parse(reportPage))

// page is what the template shows.
type page struct {
	audit.Report
	Speech speech
}

// Lang is the language of the page.
func (p page) Lang() string { return p.Speech.lang }

// Words are its texts, nil for English.
func (p page) Words() audit.Words { return p.Speech.words }

// TitleText is the verdict with its level.
func (p page) TitleText() string { return p.Title(p.Speech.words) }

// writeHTML writes the report as one page that needs nothing else: no script,
// no font, no image from anywhere. Texts from the bundle are foreign and
// escaped by the template.
func writeHTML(path string, r audit.Report, s speech) error {
	var out bytes.Buffer
	if err := reportTemplate.Execute(&out, page{r, s}); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		return describe(err)
	}
	return nil
}
