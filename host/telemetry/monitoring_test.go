package telemetry

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v3"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/outcome"
)

var monitoringDir = filepath.Join("..", "..", "examples", "monitoring")

// observedMuch returns a Telemetry whose metrics have series, all of them.
func observedMuch() *Telemetry {
	o := newTelemetry(nil)
	for _, out := range outcome.All {
		o.Begin(call("t")).End(gateway.Ending{Outcome: out, Tool: "a__t"})
	}
	o.Begin(call("t")).End(gateway.Ending{Outcome: outcome.RateLimited, Tool: "a__t", Limit: limit.ToolScope})
	o.Count(gateway.ServerQuestion, "", outcome.OK)
	return o
}

// everyMetric returns all metrics, each with a series.
func everyMetric(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	return scrape(t, observedMuch())
}

// expressions returns the expressions of the alerts and of the dashboard.
func expressions(t *testing.T) (alerts, panels []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(monitoringDir, "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" ||
				r.Annotations["description"] == "" {
				t.Errorf("the alert %q is incomplete", r.Alert)
			}
			alerts = append(alerts, r.Expr)
		}
	}
	var board struct {
		Title      string
		Templating struct {
			List []struct {
				Name  string
				Query any
			}
		}
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	text, err = os.ReadFile(filepath.Join(monitoringDir, "grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range board.Panels {
		if p.Title == "" || len(p.Targets) == 0 || seen[p.ID] || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W == 0 ||
			p.GridPos.H == 0 {
			t.Errorf("the panel %q is incomplete", p.Title)
		}
		seen[p.ID] = true
		for _, target := range p.Targets {
			panels = append(panels, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		if q, ok := v.Query.(map[string]any); ok {
			panels = append(panels, q["query"].(string))
		}
	}
	return alerts, panels
}

var (
	usedName   = regexp.MustCompile(`\b(?:mcp|junctor|process|go)_[a-z_]+\b`)
	usedLabels = regexp.MustCompile(`\b((?:mcp|junctor|process|go)_[a-z_]+)\{([^}]*)\}`)
	usedLabel  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
)

// labelsOf returns the labels of a metric, and those that Prometheus adds.
func labelsOf(f *dto.MetricFamily) []string {
	all := []string{"instance", "job", "le"}
	for _, l := range f.GetMetric()[0].Label {
		all = append(all, l.GetName())
	}
	return all
}

// familyOf returns the metric that a name in an expression means.
func familyOf(all map[string]*dto.MetricFamily, name string) *dto.MetricFamily {
	for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
		if f := all[strings.TrimSuffix(name, suffix)]; f != nil &&
			(suffix == "" || f.GetType() == dto.MetricType_HISTOGRAM) {
			return f
		}
	}
	return nil
}

// TestMonitoringExamples checks that every metric and label of the alerts and the dashboard
// exists, and that the dashboard shows every metric of ours.
func TestMonitoringExamples(t *testing.T) {
	all := everyMetric(t)
	alerts, panels := expressions(t)
	if len(alerts) < 10 || len(panels) < 20 {
		t.Fatalf("%d alerts, %d expressions in panels", len(alerts), len(panels))
	}
	used := map[string]bool{}
	for _, expr := range slices.Concat(alerts, panels) {
		for _, name := range usedName.FindAllString(expr, -1) {
			f := familyOf(all, name)
			if f == nil {
				t.Errorf("%s does not exist: %s", name, expr)
				continue
			}
			used[f.GetName()] = true
		}
		for _, m := range usedLabels.FindAllStringSubmatch(expr, -1) {
			for _, label := range usedLabel.FindAllStringSubmatch(m[2], -1) {
				if f := familyOf(all, m[1]); f != nil && !slices.Contains(labelsOf(f), label[1]) {
					t.Errorf("%s has no label %s: %s", m[1], label[1], expr)
				}
			}
		}
	}
	if len(used) < 25 {
		t.Errorf("only %v are used", slices.Sorted(maps.Keys(used)))
	}
}

var update = flag.Bool("update", false, "rewrite the table of docs/monitoring.md")

const (
	tableBegin = "<!-- metrics: written by go test ./host/telemetry -run Page -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

// TestMonitoringPage compares the table of docs/monitoring.md with the metrics. With -update
// it writes the table.
func TestMonitoringPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "monitoring.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !opened || !closed {
		t.Fatal("docs/monitoring.md has no table")
	}
	switch page := before + tableBegin + metricsTable(everyMetric(t)) + tableEnd + after; {
	case page == string(text):
	case *update:
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error(
			"the table of docs/monitoring.md differs from the metrics; run go test ./host/telemetry -run Page -update",
		)
	}
}

// metricsTable documents the metrics of Junctor, without those of the Go runtime.
func metricsTable(all map[string]*dto.MetricFamily) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "mcp_") && !strings.HasPrefix(name, "junctor_") {
			continue
		}
		f := all[name]
		labels := "–"
		if own := labelsOf(f)[3:]; len(own) > 0 {
			labels = "`" + strings.Join(own, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), labels, f.GetHelp())
	}
	return b.String()
}

// TestPromtool lets the program of Prometheus check the examples and a scrape.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("JUNCTOR_REQUIRE_PROMETHEUS") != "" {
			t.Fatal(err)
		}
		t.Skip("promtool is not installed")
	}
	run := func(stdin string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir, cmd.Stdin = monitoringDir, strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	run("", "check", "config", "prometheus.yml")
	run("", "check", "rules", "alerts.yml")
	run(page(t, observedMuch()), "check", "metrics")
	run("", "test", "rules", filepath.Join("..", "..", "host", "telemetry", "testdata", "alerts_test.yml"))
}
