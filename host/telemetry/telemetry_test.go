package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/outcome"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fullStatus has every part that metrics are made of.
func fullStatus(context.Context) *control.Status {
	tools, read := 3, time.Unix(1500, 0)
	return &control.Status{
		Sessions: control.Sessions{Count: 2, Stored: 6000}, Activity: control.Activity{Streams: 4, Suspended: 5,
			Reloads: 6, FailedReloads: 7, SchemaHits: 8, SchemaMisses: 9},
		Audit:      &control.Audit{Backlog: 10, Dropped: 11, Failing: true},
		Generation: control.Generation{Number: 3, Loaded: time.Unix(1000, 0), Failed: &control.FailedReload{}},
		Servers: []*control.Server{
			{Server: "a", State: "ready", Calls: 10, Errors: 1, Tools: &tools}, {Server: "b", State: "needs_auth"},
		},
		Plugins: []control.Plugin{
			{Plugin: "stdio", State: "stopped", Restarts: 2, Memory: 100},
			{Plugin: "stdio", State: "ready", Memory: 11}, {Plugin: "stdio", Servers: "a", State: "backoff"},
		},
		Certificates: []control.Certificate{
			{Listener: "gateway", Kind: "cert", Ends: time.Unix(3000, 0)},
			{Listener: "gateway", Kind: "cert", Ends: time.Unix(2000, 0), Error: "no PEM"},
			{Listener: "console", Kind: "client_ca", Ends: time.Unix(4000, 0)},
		},
		Issuers: []control.Issuer{{Source: "https://idp.example.com", Usable: true, Read: &read, Error: "refused"},
			{Source: "https://other.example.com"}},
		Logins: []control.Login{{Server: "a", State: "ready", Ends: &read}, {Server: "b", State: "needs_login"},
			{Server: "c", State: "unknown"}},
		Refused: map[string]uint64{"expired": 3, "origin": 1}, Waiting: 12,
		Notices: &control.Notices{Queued: 1, Sent: 2, Lost: 3},
		Limits: []control.ToolUse{{Tenant: "t", Server: "a", Tool: "x", Used: .5, Running: 1},
			{Tenant: "t", Server: "a", Tool: "x", Used: .25, Running: 2, Waiting: 1}},
	}
}

func newTelemetry(lookup map[string]string) *Telemetry {
	return New(Options{
		Version: "1.2.3", Log: hclog.NewNullLogger(), Status: fullStatus,
		Lookup: func(name string) (string, bool) { v, ok := lookup[name]; return v, ok },
	})
}

// page returns the metrics as text.
func page(t *testing.T, o *Telemetry) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Host = "localhost"
	o.handler(true).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	return w.Body.String()
}

// scrape returns the metrics by name, as Prometheus reads them.
func scrape(t *testing.T, o *Telemetry) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page(t, o)))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// values returns the series of a metric, with their labels.
func values(f *dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for _, m := range f.GetMetric() {
		var labels []string
		for _, l := range m.Label {
			labels = append(labels, l.GetName()+"="+l.GetValue())
		}
		value := m.GetGauge().GetValue() + m.GetCounter().GetValue()
		if h := m.GetHistogram(); h != nil {
			value = float64(h.GetSampleCount())
		}
		all[strings.Join(labels, " ")] = value
	}
	return all
}

func same(t *testing.T, families map[string]*dto.MetricFamily, name string, want map[string]float64) {
	t.Helper()
	got := values(families[name])
	for series, value := range want {
		if got[series] != value {
			t.Errorf("%s{%s} is %v, want %v", name, series, got[series], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %v", name, got)
	}
}

func call(tenant string) gateway.Beginning {
	return gateway.Beginning{Method: "tools/call", Tenant: tenant}
}

// TestCounts ends requests in each way and compares the metrics exactly.
func TestCounts(t *testing.T) {
	o := newTelemetry(nil)
	for n, out := range outcome.All {
		for range n + 1 {
			o.Begin(call("red")).End(gateway.Ending{Outcome: out, Tool: "a__t", Server: "a"})
		}
	}
	o.Begin(gateway.Beginning{Method: "tools/list", Tenant: "blue"}).End(gateway.Ending{Outcome: outcome.OK})
	for _, limited := range []limit.Scope{limit.ToolScope, limit.ToolScope, limit.PrincipalScope, ""} {
		o.Begin(call("green")).End(gateway.Ending{Outcome: outcome.RateLimited, Tool: "a__t", Server: "a",
			Limit: limited})
	}
	open := o.Begin(call("blue"))
	open.Found("a__t")
	waiting := o.Begin(call("blue"))
	listen := o.Begin(gateway.Beginning{Method: "subscriptions/listen", Tenant: "blue", Lasting: true})
	o.Refused("", outcome.Unauthenticated)
	o.Refused("red", outcome.Overloaded)
	o.Count(gateway.Progress, "", outcome.OK)
	o.Count(gateway.Progress, "", outcome.Overloaded)
	o.Count(gateway.UnlistedURI, "", outcome.Error)
	o.Count(gateway.ServerQuestion, "sampling/createMessage", outcome.OK)
	o.Count(gateway.ServerQuestion, "", outcome.Error)

	got := scrape(t, o)
	want := map[string]float64{"outcome=ok tenant=blue tool=": 1,
		"outcome=unauthenticated tenant= tool=": 1, "outcome=overloaded tenant=red tool=": 1}
	for n, out := range outcome.All {
		want["outcome="+string(out)+" tenant=red tool=a__t"] = float64(n + 1)
	}
	want["outcome=rate_limited tenant=green tool=a__t"] = 4
	same(t, got, "mcp_requests_total", want)
	same(t, got, "junctor_limit_refusals_total",
		map[string]float64{"limit=tool tenant=green": 2, "limit=principal tenant=green": 1})
	same(t, got, "mcp_request_duration_seconds",
		map[string]float64{"tenant=red tool=a__t": 45, "tenant=blue tool=": 1, "tenant=green tool=a__t": 4})
	same(t, got, "mcp_in_flight", map[string]float64{"tenant=blue tool=a__t": 1,
		"tenant=blue tool=": 1, "tenant=red tool=": 0, "tenant=green tool=": 0})
	same(t, got, "mcp_timeouts_total", map[string]float64{"tenant=red tool=a__t": 4})
	same(t, got, "mcp_rate_limit_hits_total",
		map[string]float64{"tenant=red tool=a__t": 5, "tenant=green tool=a__t": 4})
	same(t, got, "mcp_concurrency_rejections_total",
		map[string]float64{"tenant=red tool=a__t": 6, "tenant=red tool=": 1})
	same(t, got, "mcp_progress_notifications_total", map[string]float64{"outcome=ok": 1, "outcome=drop": 1})
	same(t, got, "mcp_uri_violations_total", map[string]float64{"": 1})
	same(t, got, "mcp_server_requests_total",
		map[string]float64{"method=sampling/createMessage outcome=ok": 1, "method=other outcome=error": 1})
	open.End(gateway.Ending{Outcome: outcome.OK, Tool: "a__t"})
	listen.End(gateway.Ending{Outcome: outcome.OK})
	got = scrape(t, o)
	same(t, got, "mcp_in_flight", map[string]float64{"tenant=blue tool=a__t": 0,
		"tenant=blue tool=": 1, "tenant=red tool=": 0, "tenant=green tool=": 0})
	waiting.End(gateway.Ending{Outcome: outcome.Cancelled})
	same(t, got, "mcp_request_duration_seconds", map[string]float64{"tenant=red tool=a__t": 45,
		"tenant=blue tool=": 1, "tenant=blue tool=a__t": 1, "tenant=green tool=a__t": 4})
	var bounds []float64
	for _, b := range got["mcp_request_duration_seconds"].Metric[0].Histogram.Bucket {
		bounds = append(bounds, b.GetUpperBound())
	}
	if !slices.Equal(bounds[:len(durations)], durations) || len(bounds) != len(durations)+1 {
		t.Errorf("buckets %v", bounds)
	}
}

// TestStatusMetrics compares the metrics that are made of the status.
func TestStatusMetrics(t *testing.T) {
	got := scrape(t, newTelemetry(nil))
	for name, want := range map[string]map[string]float64{
		"mcp_sessions_active": {"": 6002}, "junctor_sessions_stored": {"": 6000},
		"mcp_sse_subscribers": {"": 4}, "junctor_suspended_calls": {"": 5},
		"mcp_cache_hits_total": {"cache=schema": 8}, "mcp_cache_misses_total": {"cache=schema": 9},
		"junctor_config_reloads_total":          {"result=ok": 6, "result=failed": 7},
		"junctor_config_last_reload_successful": {"": 0},
		"junctor_config_generation":             {"": 3}, "junctor_config_loaded_timestamp_seconds": {"": 1000},
		"junctor_server_requests_total": {"server=a": 10, "server=b": 0},
		"junctor_server_errors_total":   {"server=a": 1, "server=b": 0}, "junctor_server_tools": {"server=a": 3},
		"junctor_plugin_restarts_total": {"plugin=stdio servers=": 2, "plugin=stdio servers=a": 0},
		"junctor_plugin_memory_bytes":   {"plugin=stdio servers=": 111, "plugin=stdio servers=a": 0},
		"junctor_limit_used_ratio":      {"server=a tenant=t tool=x": .5}, "junctor_limit_running": {
			"server=a tenant=t tool=x": 3,
		}, "junctor_limit_waiting": {"server=a tenant=t tool=x": 1},
		"junctor_certificate_expiry_timestamp_seconds": {"kind=cert listener=gateway": 2000,
			"kind=client_ca listener=console": 4000},
		"junctor_certificate_last_reload_successful": {"kind=cert listener=gateway": 0,
			"kind=client_ca listener=console": 1},
		"junctor_issuer_keys_usable": {"issuer=https://idp.example.com": 1,
			"issuer=https://other.example.com": 0},
		"junctor_issuer_keys_last_read_successful": {"issuer=https://idp.example.com": 0,
			"issuer=https://other.example.com": 1},
		"junctor_issuer_keys_read_timestamp_seconds": {"issuer=https://idp.example.com": 1500},
		"junctor_refused_clients_total":              {"reason=expired": 3, "reason=origin": 1},
		"junctor_approvals_waiting": {
			"": 12,
		}, "junctor_notices_total": {"result=sent": 2, "result=lost": 3}, "junctor_notices_queued": {"": 1},
		"junctor_login_ready":                 {"server=a": 1, "server=b": 0},
		"junctor_login_end_timestamp_seconds": {"server=a": 1500},
	} {
		same(t, got, name, want)
	}
	states := values(got["junctor_plugin_state"])
	if states["plugin=stdio servers= state=ready"] != 1 || states["plugin=stdio servers=a state=backoff"] != 1 ||
		len(states) != 10 {
		t.Errorf("%v", states)
	}
	if states := values(got["junctor_server_state"]); states["server=b state=needs_auth"] != 1 ||
		states["server=b state=ready"] != 0 || len(states) != 16 {
		t.Errorf("%v", states)
	}
	for _, name := range []string{"junctor_build_info", "go_goroutines", "process_resident_memory_bytes"} {
		if got[name] == nil {
			t.Errorf("no %s", name)
		}
	}
}

// TestLabelsAreBounded calls many tools of many tenants. Names that do not exist add no
// series.
func TestLabelsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	series := func(o *Telemetry) (n int) {
		for name, f := range scrape(t, o) {
			if strings.HasPrefix(name, "mcp_request") {
				n += len(f.Metric)
			}
		}
		return n
	}
	o := newTelemetry(nil)
	o.Begin(call("t")).End(gateway.Ending{Outcome: outcome.Error})
	before := series(o)
	var work sync.WaitGroup
	for range 300 {
		work.Go(func() { o.Begin(call("t")).End(gateway.Ending{Outcome: outcome.Error}) })
	}
	work.Wait()
	if after := series(o); after != before {
		t.Errorf("300 unknown names: %d series, %d before", after, before)
	}
	same(t, scrape(t, o), "mcp_requests_total", map[string]float64{"outcome=error tenant=t tool=(other)": 301})

	o = newTelemetry(nil)
	for i := range 300 {
		o.Begin(call("t")).End(gateway.Ending{Outcome: outcome.OK, Tool: fmt.Sprint("a__", i)})
	}
	got := values(scrape(t, o)["mcp_requests_total"])
	if len(got) != maxTools+1 || got["outcome=ok tenant=t tool=(other)"] != 300-maxTools {
		t.Errorf("300 tools: %d series, other %v", len(got), got["outcome=ok tenant=t tool=(other)"])
	}

	o = newTelemetry(nil)
	for i := range 300 {
		for tool := range 20 {
			o.Begin(call(fmt.Sprint("tenant", i))).End(gateway.Ending{Outcome: outcome.OK,
				Tool: fmt.Sprint("a__", tool)})
		}
	}
	if n := len(values(scrape(t, o)["mcp_requests_total"])); n > maxPairs+1 {
		t.Errorf("300 tenants with 20 tools: %d series", n)
	}
	if got := values(scrape(t, o)["mcp_requests_total"]); got["outcome=ok tenant=(other) tool=(other)"] == 0 {
		t.Error("there is no other")
	}

	o = newTelemetry(nil)
	for i := range 300 {
		o.Begin(call(fmt.Sprint("tenant", i))).End(gateway.Ending{Outcome: outcome.OK, Tool: "a__t"})
	}
	if err := authn.CheckTenant(others); err == nil {
		t.Error("a tenant can have the name of the others")
	}
	if got := values(scrape(t,
		o)["mcp_requests_total"]); got["outcome=ok tenant=(other) tool=a__t"] != 300-maxTenants {
		t.Errorf("others: %v", got["outcome=ok tenant=(other) tool=a__t"])
	}
}

// TestHandlerRefuses checks what the listener of metrics does not answer.
func TestHandlerRefuses(t *testing.T) {
	h := newTelemetry(nil).handler(true)
	for what, c := range map[string]struct {
		method, path, host string
		want               int
	}{
		"metrics":         {"GET", "/metrics", "127.0.0.1:7577", 200},
		"by name":         {"HEAD", "/metrics", "localhost:7577", 200},
		"IPv6":            {"GET", "/metrics", "[::1]:7577", 200},
		"IPv6, no port":   {"GET", "/metrics", "[::1]", 200},
		"another host":    {"GET", "/metrics", "evil.example:7577", 403},
		"no host":         {"GET", "/metrics", "", 403},
		"another path":    {"GET", "/", "localhost", 404},
		"the debug pages": {"GET", "/debug/vars", "localhost", 404},
		"a longer path":   {"GET", "/metrics/", "localhost", 404},
		"a post":          {"POST", "/metrics", "localhost", 405},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: status %d, want %d", what, w.Code, c.want)
		}
	}
}

// TestScrapesAreBounded holds as many scrapes as are allowed, and asks for one more.
func TestScrapesAreBounded(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	o := New(Options{Log: hclog.NewNullLogger(), Lookup: func(string) (string, bool) { return "", false },
		Status: func(ctx context.Context) *control.Status {
			begun <- struct{}{}
			<-release
			return fullStatus(ctx)
		}})
	h := o.handler(false)
	ask := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Code
	}
	var work sync.WaitGroup
	for range maxScrapes {
		work.Go(func() {
			if code := ask(); code != http.StatusOK {
				t.Errorf("status %d", code)
			}
		})
		<-begun
	}
	if code := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("one more: status %d", code)
	}
	close(release)
	work.Wait()
}
