package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// Every parameter that the document gives a number has one form: with a zero
// or a sign in front it is refused. One that is left out of the service's list
// would have two names for what it leads to.
func TestNumbersHaveOneForm(t *testing.T) {
	b := newBench(t)
	doc, err := document()
	must(t, err)
	checked := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			parameters := append(item.Parameters, op.Parameters...)
			for _, p := range parameters {
				p := p.Value
				if !p.Schema.Value.Type.Is("integer") || p.In == "header" {
					continue
				}
				checked[p.Name] = true
				at := strings.NewReplacer("{match}", newID(t), "{game}", "1", "{segment}", "1", "{seat}", "a", "{throw}", "1", "{line}", "1",
					"{stream}", "a", "{index}", "0", "{mode}", "random", "{number}", "0", "{sequence}", newID(t), "{hash}", strings.Repeat("ab", 32))
				for _, form := range []string{"01", "+1", "-0", "00"} {
					address := at.Replace(path) + "?" + p.Name + "=" + strings.ReplaceAll(form, "+", "%2B")
					if p.In == "path" {
						address = at.Replace(strings.ReplaceAll(path, "{"+p.Name+"}", form))
					}
					a := b.send(method, address, "")
					if a.status != http.StatusBadRequest || !strings.Contains(a.body, "parameter "+p.Name+" is a number in another form") {
						t.Errorf("%s %s: %d %s", method, address, a.status, a.body)
					}
				}
			}
		}
	}
	if len(checked) < 9 {
		t.Errorf("only %v were checked", checked)
	}
}
