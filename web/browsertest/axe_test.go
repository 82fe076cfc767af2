package browsertest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// axe is the text of axe-core, which `npm ci` in this folder brings.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	return string(text), err
})

// accessible has axe-core look at the page as it is now, by all its rules of
// WCAG 2.2 AA and its best practices.
func (p *tab) accessible() {
	p.t.Helper()
	script, err := axe()
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		p.t.Log("accessibility is not tested: run npm ci in web/browsertest")
		return
	}
	must(p.t, err)
	run(p, "load axe-core", chromedp.Evaluate[chromedp.Void](script+";undefined"))
	found := eval[string](p, `axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => JSON.stringify(violations.map((v) => ({
		id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html.slice(0, 300) + ' — ' + n.failureSummary) }))))`)
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	must(p.t, json.Unmarshal([]byte(found), &violations))
	for _, v := range violations {
		p.t.Errorf("%s: axe-core: %s: %s\n%s", eval[string](p, "location.href"), v.ID, v.Help, strings.Join(v.Nodes[:min(len(v.Nodes), 3)], "\n"))
	}
}
