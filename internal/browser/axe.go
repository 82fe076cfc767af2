package browser

import (
	"bytes"
	"compress/gzip"
	_ "embed" // axe
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// axe is axe-core 4.14.1 as npm has it, axe.min.js, under the licence in
// axe.LICENSE (MPL 2.0). It is for tests alone.
//
//go:embed axe.min.js.gz
var axe []byte

var axeScript = sync.OnceValues(func() (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(axe))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
})

// Accessible fails the test for everything that axe-core finds fault with: WCAG
// 2.2 AA and what it calls best practice. With rules it looks at those alone.
func (p *Page) Accessible(rules ...string) {
	p.t.Helper()
	script, err := axeScript()
	if err != nil {
		p.t.Fatalf("unpack axe: %v", err)
	}
	if !Eval[bool](p, "globalThis.axe !== undefined") {
		Eval[bool](p, script+"\ntrue")
	}
	only, err := json.Marshal(rules)
	if err != nil {
		p.t.Fatal(err)
	}
	if len(rules) == 0 {
		only = []byte(`['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`)
	}
	found := Eval[string](p, `axe.run({resultTypes: ['violations'], runOnly: `+string(only)+`}).then((r) => JSON.stringify(r.violations.map((v) =>
		({id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary)}))))`)
	var faults []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(found), &faults); err != nil {
		p.t.Fatalf("read what axe has found: %v", err)
	}
	for _, f := range faults {
		p.t.Errorf("%s: %s\n\t%s", f.ID, f.Help, strings.Join(f.Nodes[:min(len(f.Nodes), 4)], "\n\t"))
	}
}
