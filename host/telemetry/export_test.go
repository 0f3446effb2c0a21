package telemetry

import (
	"encoding/hex"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/telemetry/otlptest"
	"github.com/junctor-mcp/junctor/host/tracing"
)

const (
	unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	other1    = "00-11111111111111111111111111111111-2222222222222222-01"
)

// exported observes one call while everything is exported, and returns what arrived.
func exported(t *testing.T, more map[string]string, observe func(*Telemetry)) *otlptest.Receiver {
	t.Helper()
	r := otlptest.NewReceiver(t)
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.URL}
	for name, value := range more {
		env[name] = value
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	o := newTelemetry(env)
	stop, err := o.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	observe(o)
	stop()
	return r
}

// oneCall is a call with a policy, an upstream and a start in it.
func oneCall(o *Telemetry) {
	x := o.Begin(gateway.Beginning{
		Method: "tools/call", Tenant: "red", Session: "s1", Revision: "2026-07-28", RequestID: "r1",
		Address: "192.0.2.1",
		Parent:  tracing.NewContext(unsampled, "a=b"), Link: tracing.NewContext(other1, ""),
	})
	policy := x.Span().Start("policy")
	policy.Set("junctor.policy.rule", "junctor.hcl:1:2")
	policy.End(outcome.OK)
	ask := x.Span().Ask("tools/call t")
	start := ask.Start("start server")
	start.End(outcome.Timeout)
	ask.End(outcome.Timeout)
	x.End(gateway.Ending{Outcome: outcome.Timeout, Code: "call.timeout", Tool: "a__t", Server: "a"})
}

// TestExport checks the parents, kinds and attributes of the spans of a call, and the
// metrics.
func TestExport(t *testing.T) {
	r := exported(t,
		map[string]string{"OTEL_SERVICE_NAME": "gate", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test"},
		oneCall)
	spans := map[string]*otlp.Span{}
	for _, s := range r.Spans() {
		spans[s.Name] = s
	}
	root, policy, ask, start := spans["tools/call a__t"], spans["policy"], spans["tools/call t"], spans["start server"]
	if len(spans) != 4 || root == nil || policy == nil || ask == nil || start == nil {
		t.Fatalf("%v", r.Spans())
	}
	if hex.EncodeToString(root.TraceId) != unsampled[3:35] ||
		hex.EncodeToString(root.ParentSpanId) != unsampled[36:52] || root.TraceState != "a=b" {
		t.Errorf("the request is not part of the client's trace: %v", root)
	}
	if len(root.Links) != 1 || hex.EncodeToString(root.Links[0].TraceId) != other1[3:35] {
		t.Errorf("links %v", root.Links)
	}
	for child, parent := range map[*otlp.Span]*otlp.Span{policy: root, ask: root, start: ask} {
		if string(child.ParentSpanId) != string(parent.SpanId) || string(child.TraceId) != string(root.TraceId) ||
			child.StartTimeUnixNano < parent.StartTimeUnixNano {
			t.Errorf("%s is no part of %s", child.Name, parent.Name)
		}
	}
	if root.Kind != otlp.Span_SPAN_KIND_SERVER || ask.Kind != otlp.Span_SPAN_KIND_CLIENT ||
		policy.Kind != otlp.Span_SPAN_KIND_INTERNAL {
		t.Errorf("kinds %v %v %v", root.Kind, ask.Kind, policy.Kind)
	}
	got := otlptest.Attributes(root.Attributes)
	for name, want := range map[string]string{
		"mcp.method.name": "tools/call", "mcp.session.id": "s1",
		"mcp.protocol.version": "2026-07-28", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "a__t",
		"network.transport": "tcp", "network.protocol.name": "http",
		"error.type": "call.timeout", "junctor.tenant": "red", "junctor.server": "a",
		"junctor.outcome": "timeout", "junctor.request.id": "r1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("more attributes: %v", got)
	}
	if root.Status.Code != otlp.Status_STATUS_CODE_ERROR || policy.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("status %v, %v", root.Status, policy.Status)
	}
	about := r.Resource()
	if about["service.name"] != "gate" || about["service.version"] != "1.2.3" ||
		about["deployment.environment.name"] != "test" || about["process.command_line"] != "" {
		t.Errorf("resource %v", about)
	}
	duration := r.Metric("mcp.server.operation.duration")
	if points := duration.GetHistogram().GetDataPoints(); duration.GetUnit() != "s" || len(points) != 1 ||
		points[0].Count != 1 || otlptest.Attributes(points[0].Attributes)["gen_ai.tool.name"] != "a__t" {
		t.Errorf("%v", duration)
	}
	if points := r.Metric("mcp_requests_total").GetSum().GetDataPoints(); len(points) != 1 ||
		otlptest.Attributes(points[0].Attributes)["outcome"] != "timeout" {
		t.Errorf("%v", points)
	}
	if r.Metric("junctor_server_state") == nil {
		t.Error("no metrics of the status")
	}
}

// TestSampling checks that the environment decides what is sampled, and not the client.
func TestSampling(t *testing.T) {
	for what, c := range map[string]struct {
		env  map[string]string
		want int
	}{
		"default":       {nil, 4},
		"none":          {map[string]string{"OTEL_TRACES_SAMPLER": "always_off"}, 0},
		"none, parents": {map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_always_off"}, 0},
		"no part": {
			map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"},
			0,
		},
		"every part": {map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1"}, 4},
		"unknown":    {map[string]string{"OTEL_TRACES_SAMPLER": "jaeger_remote"}, 4},
		"a wrong ratio": {map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"},
			4},
		"metrics only": {map[string]string{"OTEL_TRACES_EXPORTER": "none"}, 0},
	} {
		t.Run(what, func(t *testing.T) {
			r := exported(t, c.env, oneCall)
			if got := len(r.Spans()); got != c.want {
				t.Errorf("%d spans, want %d", got, c.want)
			}
			if r.Metric("mcp_requests_total") == nil {
				t.Error("no metrics")
			}
		})
	}
	choose, err := sampler(func(name string) (string, bool) { return "always_off", name == "OTEL_TRACES_SAMPLER" })
	parent := trace.ContextWithRemoteSpanContext(t.Context(),
		remote(tracing.NewContext(other1, "")).WithTraceFlags(trace.FlagsSampled))
	if got := choose.ShouldSample(sdktrace.SamplingParameters{ParentContext: parent}); err != nil ||
		got.Decision != sdktrace.Drop {
		t.Errorf("a client's flag decides: %v, %v", got, err)
	}
}

// TestUnsampledContexts checks that servers learn that a request is not sampled.
func TestUnsampledContexts(t *testing.T) {
	exported(t, map[string]string{"OTEL_TRACES_SAMPLER": "always_off"}, func(o *Telemetry) {
		x := o.Begin(gateway.Beginning{Method: "ping", Parent: tracing.NewContext(other1, "")})
		if c := x.Span().Ask("ping").Context(); c.TraceID() != other1[3:35] || !strings.HasSuffix(c.Parent, "-00") {
			t.Errorf("%+v", c)
		}
		x.End(gateway.Ending{})
	})
}

// TestAsked checks which variables begin an export.
func TestAsked(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for what, c := range map[string]struct {
		env     map[string]string
		want    string
		problem bool
	}{
		"nothing":           {nil, "", false},
		"an empty endpoint": {map[string]string{endpoint: ""}, "", false},
		"no endpoint": {map[string]string{"OTEL_SERVICE_NAME": "x",
			"OTEL_TRACES_SAMPLER": "always_on", "OTEL_TRACES_EXPORTER": "otlp"}, "", false},
		"an endpoint":     {map[string]string{endpoint: "http://x"}, "traces metrics", false},
		"one for traces":  {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, "traces", false},
		"one for metrics": {map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://x"}, "metrics", false},
		"disabled":        {map[string]string{endpoint: "http://x", "OTEL_SDK_DISABLED": "TRUE"}, "", false},
		"not disabled": {map[string]string{endpoint: "http://x", "OTEL_SDK_DISABLED": "false"},
			"traces metrics", false},
		"no metrics": {map[string]string{endpoint: "http://x", "OTEL_METRICS_EXPORTER": "none"}, "traces", false},
		"another exporter": {map[string]string{endpoint: "http://x", "OTEL_METRICS_EXPORTER": "console"},
			"traces", false},
		"HTTP": {map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
			"traces metrics", false},
		"gRPC": {map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "", true},
		"gRPC for one": {map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"},
			"metrics", true},
		"HTTP only for one": {map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
			"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, "traces", true},
		"JSON": {map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
			"", true},
		"disabled and wrong": {
			map[string]string{endpoint: "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_SDK_DISABLED": "true"},
			"", false,
		},
	} {
		lookup := func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }
		traces, metrics, problem := signals(lookup)
		got := ""
		if traces.on {
			got = "traces"
		}
		if metrics.on {
			got = strings.TrimSpace(got + " metrics")
		}
		if asked, same := Asked(lookup); got != c.want || (problem != nil) != c.problem || asked != (c.want != "") ||
			(same != nil) != c.problem {
			t.Errorf("%s: %q, %v; want %q", what, got, problem, c.want)
		}
	}
}

// TestExportEndsWithoutReceiver checks that a process does not wait for a collector that
// does not answer.
func TestExportEndsWithoutReceiver(t *testing.T) {
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", env["OTEL_EXPORTER_OTLP_ENDPOINT"])
	o := newTelemetry(env)
	stop, err := o.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	oneCall(o)
	stop()
}
