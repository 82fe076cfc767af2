package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"
)

var (
	quoted   = regexp.MustCompile(`"[^"]*"`)
	named    = regexp.MustCompile(`\b((?:fairdice|go|process)_[a-z_]+|up)\b(\{[^}]*\})?`)
	matched  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)\s*"`)
	grouped  = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	template = regexp.MustCompile(`\$labels\.([a-z_]+)|\{\{([a-z_]+)\}\}`)
)

// labelsOf are the labels of every metric that a service has; those that the
// scrape adds are everywhere.
func labelsOf(t *testing.T) map[string][]string {
	t.Helper()
	m := New("v1", 0)
	labels := map[string][]string{"up": nil}
	for _, c := range m.all {
		descs := make(chan *prometheus.Desc, 100)
		c.Describe(descs)
		close(descs)
		_, histogram := c.(prometheus.Histogram)
		if _, vec := c.(*prometheus.HistogramVec); vec {
			histogram = true
		}
		for d := range descs {
			name := describes.FindStringSubmatch(d.String())
			have := strings.Split(name[2], ",")
			if name[1] == "fairdice_build_info" {
				have = []string{"version", "goversion"}
			}
			if labels[name[1]] = have; histogram {
				delete(labels, name[1])
				labels[name[1]+"_bucket"] = append(slices.Clone(have), "le")
				labels[name[1]+"_sum"], labels[name[1]+"_count"] = have, have
			}
		}
	}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "fairdice_") {
			labels[f.GetName()] = nil
		}
	}
	return labels
}

// fault is what is wrong with a query: metrics and labels that no service has, brackets
// that do not close. Prometheus itself is not asked.
func fault(query string, labels map[string][]string) error {
	var open []rune
	for _, r := range quoted.ReplaceAllString(query, "") {
		if i := strings.IndexRune("([{", r); i >= 0 {
			open = append(open, rune(")]}"[i]))
		} else if strings.ContainsRune(")]}", r) {
			if len(open) == 0 || open[len(open)-1] != r {
				return fmt.Errorf("%q closes nothing", r)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%q is missing", open[len(open)-1])
	}
	known := []string{"job", "instance", ""}
	uses := named.FindAllStringSubmatch(query, -1)
	if len(uses) == 0 {
		return fmt.Errorf("no metric is in it")
	}
	for _, use := range uses {
		have, ok := labels[use[1]]
		if !ok {
			return fmt.Errorf("there is no metric %s", use[1])
		}
		for _, l := range matched.FindAllStringSubmatch(use[2], -1) {
			if !slices.Contains(have, l[1]) && l[1] != "job" && l[1] != "instance" {
				return fmt.Errorf("%s has no label %s", use[1], l[1])
			}
		}
		known = append(known, have...)
	}
	for _, g := range grouped.FindAllStringSubmatch(query, -1) {
		for l := range strings.SplitSeq(g[1], ",") {
			if !slices.Contains(known, strings.TrimSpace(l)) {
				return fmt.Errorf("no metric in it has the label %s", l)
			}
		}
	}
	return nil
}

// shown are the labels that a text shows and the query of it loses.
func shown(text, query string, labels map[string][]string) error {
	left := []string{"job", "instance"}
	for _, use := range named.FindAllStringSubmatch(query, -1) {
		left = append(left, labels[use[1]]...)
	}
	if g := grouped.FindStringSubmatch(query); g != nil {
		left = strings.FieldsFunc(g[1], func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, m := range template.FindAllStringSubmatch(text, -1) {
		if l := m[1] + m[2]; !slices.Contains(left, l) {
			return fmt.Errorf("%q shows the label %s, which is not in the result", text, l)
		}
	}
	return nil
}

// Every alert asks for metrics and labels that there are.
func TestAlerts(t *testing.T) {
	data, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	labels := labelsOf(t)
	seen := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || seen[r.Alert] {
				t.Errorf("the name %q comes twice", r.Alert)
			}
			seen[r.Alert] = true
			if err := fault(r.Expr, labels); err != nil {
				t.Errorf("%s: %v", r.Alert, err)
			}
			if s := r.Labels["severity"]; s != "critical" && s != "warning" {
				t.Errorf("%s: severity %q", r.Alert, s)
			}
			if err := shown(r.Annotations["summary"], r.Expr, labels); err != nil || r.Annotations["summary"] == "" {
				t.Errorf("%s: summary %q: %v", r.Alert, r.Annotations["summary"], err)
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d alerts were read", len(seen))
	}
}

// Every panel of the dashboard does, and every metric of the service is shown.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../../deploy/grafana/fairdice.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ RefID, Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	labels := labelsOf(t)
	all := ""
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] || len(p.Targets) == 0 {
			t.Errorf("panel %q: id %d, %d queries", p.Title, p.ID, len(p.Targets))
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[at] != "" || at[0] >= 24 {
					t.Fatalf("panel %q is in the place of %q", p.Title, taken[at])
				}
				taken[at] = p.Title
			}
		}
		for _, q := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "1m", `"$job"`, `".*"`).Replace(q.Expr)
			if err := fault(expr, labels); err != nil {
				t.Errorf("%s: %s: %v", p.Title, q.Expr, err)
			}
			if err := shown(q.LegendFormat, expr, labels); err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
			if n := strings.Count(expr, "{job=~"); n != len(named.FindAllString(expr, -1)) {
				t.Errorf("%s: %s: not every metric is that of the chosen job", p.Title, q.Expr)
			}
			all += expr + "\n"
		}
	}
	for name := range labels {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if strings.HasPrefix(name, "fairdice_") && !strings.Contains(all, base) &&
			name != "fairdice_pool_last_top_up_timestamp_seconds" { // the filling itself is shown
			t.Errorf("no panel shows %s", name)
		}
	}
}

// The tests above notice what they are for.
func TestFault(t *testing.T) {
	labels := labelsOf(t)
	for query, want := range map[string]string{
		`sum(rate(fairdice_rolls_drawn_total{mode="live"}[5m]))`: "",
		`fairdice_rolls_drawn`:                         "no metric fairdice_rolls_drawn",
		`fairdice_draw_duration_seconds`:               "no metric",
		`fairdice_rolls_drawn_total{level="L2"}`:       "no label level",
		`sum by (tenant) (fairdice_rolls_drawn_total)`: "label tenant",
		`sum(fairdice_rolls_drawn_total`:               "is missing",
		`fairdice_rolls_drawn_total[5m)`:               "closes nothing",
		`1 > 0`:                                        "no metric",
	} {
		if err := fault(query, labels); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
	if shown("{{ $labels.mode }}", "sum by (job) (fairdice_rolls_drawn_total)", labels) == nil {
		t.Error("a lost label is not noticed")
	}
}
