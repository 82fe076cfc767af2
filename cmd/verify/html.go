//go:build !js

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"strings"

	"fairdice/audit"
)

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"upper": func(v audit.Verdict) string { return strings.ToUpper(string(v)) },
	"board": pictureState,
	"seats": seats,
}).Parse(reportPage))

// writeHTML writes the report as one page that needs nothing else: no script,
// no font, no image from anywhere. Texts from the bundle are foreign and
// escaped by the template.
func writeHTML(path string, r audit.Report) error {
	var page bytes.Buffer
	if err := reportTemplate.Execute(&page, r); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
		return describe(err)
	}
	return nil
}
