//go:build unix

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/junctor-mcp/junctor/host/telemetry/otlptest"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// Secrets, each in a place where a secret can stand.
const (
	canaryArgument = "canary-argument-71"
	canaryEnv      = "canary-environment-72"
	canaryHeader   = "canary-header-73"
	canaryOTLP     = "canary-collector-74"
	canaryBaggage  = "canary-baggage-75"
)

// A metricsSite is a gateway for ann and zoe of two tenants, with metrics.
type metricsSite struct {
	*gatewaySite
	metrics string // address
}

// newMetricsSite starts a gateway whose servers answer in each way.
func newMetricsSite(t *testing.T, env ...string) *metricsSite {
	t.Helper()
	s := &metricsSite{&gatewaySite{reloadSite: newReloadSite(t)}, freeAddress(t)}
	build(t, filepath.Join(filepath.Dir(s.path), "odd"), "./testdata/odd")
	s.put("canned.json", `{"tools/list":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`)
	s.put("junctor.hcl", s.configuration(s.metrics))
	s.cmd.Env = append(s.cmd.Env, env...)
	s.trust()
	tools := s.command("tools") // the lists are on disk now
	if out, err := tools.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.start("serve", "--http")
	return s
}

func (s *metricsSite) configuration(metrics string) string {
	tenant := func(block, name string) string {
		return strings.Replace(block, "      subject", fmt.Sprintf("      tenant  = %q\n      subject", name), 1)
	}
	return fmt.Sprintf(`
defaults {
  share = "global"
}
server "echo" {
  transport "stdio" {
    command = ["canned", "canned.json"]
  }
}
server "quiet" {
  trace = "off"
  transport "stdio" {
    command = ["canned", "canned.json"]
  }
}
server "odd" {
  transport "stdio" {
    command = ["./odd"]
    env     = { SECRET = %q }
  }
}
policy {
  default = "allow"
  subject "ann" {
    deny {
      servers = ["odd"]
      tools   = ["delete_all"]
    }
  }
}
telemetry {
  metrics {
    listen = %q
  }
}
gateway {
  limits {
    tool "odd/cwd" {
      rate  = 0.001
      burst = 1
    }
    tool "odd/sleep" {
      concurrent = 1
      wait       = "0s"
      timeout    = "2s"
    }
  }
  http {
    listen = "127.0.0.1:0"
%s%s  }
}
`, canaryEnv, metrics, tenant(tokenBlock("ann", annToken), "acme"), tenant(tokenBlock("zoe", zoeToken), "zoo"))
}

// command returns a command that runs in the directory of the site.
func (s *metricsSite) command(args ...string) *exec.Cmd {
	return (&reloadDir{t: s.t, site: silent{s.cmd.Dir, s.cmd.Env}, path: s.path}).command(args...)
}

// scrape returns the metrics as Prometheus reads them, and their text.
func (s *metricsSite) scrape() (map[string]*dto.MetricFamily, string) {
	s.t.Helper()
	resp, err := http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, wrong := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err := errors.Join(err, wrong); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatal(resp.StatusCode, err)
	}
	return families, string(text)
}

// counts returns the series of a metric. The key has the values of the labels, in the order
// of their names.
func counts(f *dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for _, m := range f.GetMetric() {
		var labels []string
		for _, l := range m.Label {
			labels = append(labels, l.GetValue())
		}
		all[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return all
}

// awaitInFlight waits until one request is in progress, of a tenant and a tool, or with an empty
// text none.
func (s *metricsSite) awaitInFlight(series string) {
	s.t.Helper()
	want := map[string]float64{}
	if series != "" {
		want[series] = 1
	}
	eventually.NoError(s.t, func() error {
		families, _ := s.scrape()
		got := counts(families["mcp_in_flight"])
		maps.DeleteFunc(got, func(_ string, n float64) bool { return n == 0 })
		if !maps.Equal(got, want) {
			return fmt.Errorf("in flight are %v, want %v", got, want)
		}
		return nil
	})
}

// tool calls a tool with arguments and returns the answer.
func (c *gatewayClient) tool(ctx context.Context, name, arguments, meta string,
	header ...string) (string, http.Header, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, name,
		arguments, strings.Replace(modernMeta, "{", "{"+meta, 1))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	for i, header := 0, append([]string{
		"Accept", "application/json, text/event-stream", "Content-Type", "application/json", "Authorization",
		"Bearer " + c.token,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name,
	}, header...); i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), resp.Header, err
}

// must calls a tool and expects a text in the answer.
func (c *gatewayClient) must(want, name, arguments string, header ...string) string {
	c.t.Helper()
	text, _, err := c.tool(c.t.Context(), name, arguments, "", header...)
	if err != nil || !strings.Contains(text, want) {
		c.t.Errorf("%s: %v, %s; want %s", name, err, text, want)
	}
	return text
}

// TestMetricsCountOutcomes ends calls in each way and compares the metrics exactly.
func TestMetricsCountOutcomes(t *testing.T) {
	t.Parallel()
	s := newMetricsSite(t)
	ann, zoe := s.client(annToken), s.client(zoeToken)
	s.client("no-such-token-0123456").must("unauthorized", "echo__echo", "{}")
	ann.must("tools/call", "echo__echo", `{}`)
	ann.must("tools/call", "echo__echo", `{}`)
	zoe.must("tools/call", "echo__echo", `{}`)
	ann.must("not today", "odd__refuse", "{}")
	ann.must("ms is required", "odd__sleep", "{}")
	for i := range 300 {
		ann.must("unknown tool", fmt.Sprint("odd__no", i), "{}")
	}
	ann.must("unknown tool", "odd__delete_all", "{}")
	ann.must("/", "odd__cwd", "{}")
	ann.must("rate limit", "odd__cwd", "{}")
	zoe.must("/", "odd__cwd", "{}") // its tenant has a limit of its own

	slow := make(chan string, 1)
	go func() {
		text, _, _ := ann.tool(t.Context(), "odd__sleep", `{"ms":20000}`, "")
		slow <- text
	}()
	s.awaitInFlight("acme odd__sleep")
	ann.must("concurrency limit", "odd__sleep", `{"ms":1}`)
	if text := <-slow; !strings.Contains(text, "did not finish within 2s") {
		t.Errorf("a slow call: %s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _, err := zoe.tool(ctx, "odd__sleep", `{"ms":20000}`, "")
		slow <- fmt.Sprint(err)
	}()
	s.awaitInFlight("zoo odd__sleep")
	cancel()
	<-slow
	s.awaitInFlight("")

	families, text := s.scrape()
	for name, want := range map[string]map[string]float64{
		"mcp_requests_total": {
			"unauthenticated  ": 1, "ok acme echo__echo": 2, "ok zoo echo__echo": 1, "error acme odd__refuse": 1,
			"error acme odd__sleep": 1, "error acme (other)": 300, "denied acme odd__delete_all": 1,
			"ok acme odd__cwd": 1, "rate_limited acme odd__cwd": 1, "ok zoo odd__cwd": 1,
			"overloaded acme odd__sleep": 1, "timeout acme odd__sleep": 1, "cancelled zoo odd__sleep": 1,
		},
		"mcp_rate_limit_hits_total":        {"acme odd__cwd": 1},
		"mcp_concurrency_rejections_total": {"acme odd__sleep": 1}, "mcp_timeouts_total": {"acme odd__sleep": 1},
		"junctor_server_requests_total": {"echo": 3, "odd": 7, "quiet": 0},
	} {
		got := counts(families[name])
		for series, n := range want {
			if got[series] != n {
				t.Errorf("%s{%s} is %v, want %v", name, series, got[series], n)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if n := counts(families["junctor_plugin_state"])["stdio  ready"]; n != 1 {
		t.Errorf("the plugin is not ready: %v", counts(families["junctor_plugin_state"]))
	}
	for _, secret := range []string{annToken, zoeToken, canaryEnv, "no5"} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics contain %q", secret)
		}
	}
	if resp, err := ann.request(http.MethodGet, "/metrics", ""); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("metrics on the public listener: %v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
}

// TestMetricsMove checks that a reload moves, ends and begins the listener, and that one
// that fails changes nothing.
func TestMetricsMove(t *testing.T) {
	t.Parallel()
	s := newMetricsSite(t)
	s.client(annToken).must("tools/call", "echo__echo", `{}`)
	before, next := s.metrics, freeAddress(t)
	s.put("junctor.hcl", s.configuration(strings.TrimPrefix(s.url, "http://127.0.0.1:")))
	s.trust()
	s.hangup("was not reloaded")
	s.put("junctor.hcl", s.configuration(strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp"))) // in use
	s.trust()
	s.hangup("cannot listen for metrics")
	families, _ := s.scrape()
	if got := counts(families["junctor_config_reloads_total"]); got["failed"] != 2 || got["ok"] != 0 ||
		counts(families["junctor_config_last_reload_successful"])[""] != 0 {
		t.Errorf("after failures: %v", got)
	}
	s.put("junctor.hcl", s.configuration(next))
	s.trust()
	s.hangup("reloaded the configuration")
	if resp, err := http.Get("http://" + before + "/metrics"); err == nil {
		resp.Body.Close()
		t.Error("the address before is still served")
	}
	s.metrics = next
	families, _ = s.scrape()
	if got := counts(families["mcp_requests_total"]); got["ok acme echo__echo"] != 1 ||
		counts(families["junctor_config_reloads_total"])["ok"] != 1 {
		t.Errorf("after the move: %v", got)
	}
	head, tail, _ := strings.Cut(s.configuration(next), "telemetry {")
	_, tail, _ = strings.Cut(tail, "\n}\n")
	s.put("junctor.hcl", head+tail)
	s.trust()
	s.hangup("reloaded the configuration")
	if resp, err := http.Get("http://" + next + "/metrics"); err == nil {
		resp.Body.Close()
		t.Error("metrics are served without a block")
	}
}

// TestTraces checks the spans of calls, what servers and clients get, and that no secret is
// exported, logged or counted.
func TestTraces(t *testing.T) {
	t.Parallel()
	const clientSpan = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	r := otlptest.NewReceiver(t)
	s := newMetricsSite(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "OTEL_EXPORTER_OTLP_HEADERS=authorization="+canaryOTLP,
		"OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_METRIC_EXPORT_INTERVAL=200")
	ann := s.client(annToken)
	secret := fmt.Sprintf(`{"password":%q}`, canaryArgument)
	text, header, err := ann.tool(t.Context(), "echo__echo", secret,
		fmt.Sprintf(`"traceparent":%q,"baggage":"key=%s",`, clientSpan, canaryBaggage),
		"X-Request-Id", "ann-1", "X-Secret", canaryHeader)
	if err != nil || header.Get("X-Request-Id") != "ann-1" || !strings.Contains(text, `junctor/requestId\":\"ann-1`) ||
		strings.Contains(text, clientSpan) {
		t.Errorf("%v, id %q: %s", err, header.Get("X-Request-Id"), text)
	}
	_, rest, _ := strings.Cut(text, `traceparent\":\"`)
	told, _, _ := strings.Cut(rest, `\"`)
	if text := ann.must("tools/call", "quiet__echo", secret, "Traceparent",
		clientSpan); strings.Contains(text, "traceparent") || strings.Contains(text, "requestId") {
		t.Errorf("a server with trace = \"off\" got %s", text)
	}
	ann.must(canaryEnv, "odd__env", "{}")
	ann.must("not today", "odd__refuse", "{}", "X-Request-Id", "not valid")
	ann.must("unknown tool", "odd__"+canaryArgument, "{}")

	find := func(name, attribute, value string) *otlp.Span {
		for _, span := range r.Spans() {
			if span.Name == name && (attribute == "" || otlptest.Attributes(span.Attributes)[attribute] == value) {
				return span
			}
		}
		return nil
	}
	r.Await(t, "the last call", func() bool { return find("tools/call", "error.type", "name.unknown") != nil })
	root := find("tools/call echo__echo", "", "")
	if root == nil || hex.EncodeToString(root.TraceId) != clientSpan[3:35] ||
		hex.EncodeToString(root.ParentSpanId) != clientSpan[36:52] {
		t.Fatalf("the call is not part of the client's trace: %v", root)
	}
	under := func(parent *otlp.Span, name string) *otlp.Span {
		t.Helper()
		for _, span := range r.Spans() {
			if span.Name == name && parent != nil && string(span.ParentSpanId) == string(parent.SpanId) {
				return span
			}
		}
		t.Errorf("no span %q under %q", name, parent.GetName())
		return nil
	}
	under(root, "policy")
	under(root, "limits")
	ask := under(root, "tools/call echo")
	start := under(ask, "start server")
	under(start, "start plugin")
	if ask.GetKind() != otlp.Span_SPAN_KIND_CLIENT ||
		told != fmt.Sprintf("00-%x-%x-01", ask.GetTraceId(), ask.GetSpanId()) {
		t.Errorf("the server was told %s, which is not the span of the call to it", told)
	}
	got := otlptest.Attributes(root.Attributes)
	if got["junctor.request.id"] != "ann-1" || got["gen_ai.tool.name"] != "echo__echo" ||
		got["junctor.tenant"] != "acme" || got["junctor.outcome"] != "ok" ||
		got["mcp.protocol.version"] != "2026-07-28" {
		t.Errorf("attributes %v", got)
	}
	if failed := find("tools/call odd__refuse", "error.type", "-32042"); failed == nil ||
		failed.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("the failed call: %v", failed)
	}
	r.Await(t, "a metric", func() bool {
		return r.Metric("mcp.server.operation.duration") != nil && r.Metric("mcp_requests_total") != nil
	})
	_, metrics := s.scrape()
	for _, canary := range []string{canaryArgument, canaryEnv, canaryHeader, canaryOTLP, canaryBaggage,
		annToken, zoeToken} {
		if r.Contains(canary) || strings.Contains(metrics, canary) {
			t.Errorf("%s was exported", canary)
		}
	}
	for len(s.log) > 0 {
		if line := <-s.log; strings.Contains(line, "canary-") {
			t.Errorf("the log has a secret: %s", line)
		}
	}
}
