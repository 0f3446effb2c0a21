package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
)

// durations are the upper bounds of the buckets of request durations, in seconds.
var durations = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10}

// metrics are the metrics that are counted while requests are processed. Those about the
// state of the process are made of its status; see statusCollector. A Telemetry has one. It is
// immutable, and its metrics may be used concurrently.
type metrics struct {
	labels *labels

	requests   *prometheus.CounterVec   // tenant, tool, outcome
	duration   *prometheus.HistogramVec // tenant, tool
	inFlight   *prometheus.GaugeVec     // tenant, tool
	rateLimits *prometheus.CounterVec   // tenant, tool
	timeouts   *prometheus.CounterVec   // tenant, tool
	rejections *prometheus.CounterVec   // tenant, tool
	refusals   *prometheus.CounterVec   // tenant, limit
	progress   *prometheus.CounterVec   // outcome
	methods    *prometheus.CounterVec   // method, outcome
	questions  *prometheus.CounterVec   // method, outcome
	uris       prometheus.Counter
}

// newMetrics registers the metrics.
func newMetrics(r prometheus.Registerer, hide func(string) string) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	m := &metrics{
		labels: newLabels(hide),
		requests: counter("mcp_requests_total",
			"Requests of clients that ended. The tool is empty for requests that call none.", "tenant", "tool",
			"outcome"),
		rateLimits: counter("mcp_rate_limit_hits_total", "Requests above a limit of calls or requests per second.",
			"tenant", "tool"),
		timeouts: counter("mcp_timeouts_total", "Requests that took too long.", "tenant", "tool"),
		rejections: counter("mcp_concurrency_rejections_total",
			"Requests above a limit of calls, requests or bytes at a time.", "tenant", "tool"),
		refusals: counter("junctor_limit_refusals_total", "Calls of tools above a limit of calls: of the tool, of one client, or the share of one client in that of the tool.",
			"tenant", "limit"),
		progress: counter("mcp_progress_notifications_total", "Progress notifications for clients. A dropped one was followed by a newer one, or its client did not read.",
			"outcome"),
		methods: counter("junctor_requests_total", "Requests of clients that ended, by method.", "method", "outcome"),
		questions: counter("mcp_server_requests_total", "Requests of servers to clients, such as sampling.",
			"method", "outcome"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mcp_request_duration_seconds",
			Help: "Time from a request to its answer, without requests that listen.", Buckets: durations,
		}, []string{"tenant", "tool"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "mcp_in_flight", Help: "Requests in progress, without those that listen. The tool is empty until it is found, and for requests that call none.",
		}, []string{"tenant", "tool"}),
		uris: prometheus.NewCounter(prometheus.CounterOpts{Name: "mcp_uri_violations_total",
			Help: "Requests for resources that the client may not read."}),
	}
	r.MustRegister(m.duration, m.inFlight, m.uris)
	for _, o := range []string{"ok", "drop"} {
		m.progress.WithLabelValues(o) // 0 until the first one
	}
	return m
}

// ended counts a request that ended.
func (m *metrics) ended(b *gateway.Beginning, e *gateway.Ending, seconds float64) (tenant, tool string) {
	tenant, tool = m.labels.of(b.Tenant, toolLabel(b, e))
	m.count(tenant, tool, e.Outcome)
	m.methods.WithLabelValues(b.Method, string(e.Outcome)).Inc()
	if e.Limit != "" {
		m.refusals.WithLabelValues(tenant, string(e.Limit)).Inc()
	}
	if !b.Lasting {
		m.duration.WithLabelValues(tenant, tool).Observe(seconds)
	}
	return tenant, tool
}

// toolLabel returns the name of a tool that exists, others for a call of one that does
// not, and an empty name for a request that calls none.
func toolLabel(b *gateway.Beginning, e *gateway.Ending) string {
	if e.Tool == "" && b.Method == mcp.MethodCallTool {
		return others
	}
	return e.Tool
}

// count counts the outcome of a request.
func (m *metrics) count(tenant, tool string, o outcome.Outcome) {
	m.requests.WithLabelValues(tenant, tool, string(o)).Inc()
	switch o {
	case outcome.RateLimited:
		m.rateLimits.WithLabelValues(tenant, tool).Inc()
	case outcome.Timeout:
		m.timeouts.WithLabelValues(tenant, tool).Inc()
	case outcome.Overloaded:
		m.rejections.WithLabelValues(tenant, tool).Inc()
	}
}

// event counts an event that is not a request of a client.
func (m *metrics) event(e gateway.Event, label string, o outcome.Outcome) {
	switch e {
	case gateway.Progress:
		word := "ok"
		if o != outcome.OK {
			word = "drop"
		}
		m.progress.WithLabelValues(word).Inc()
	case gateway.UnlistedURI:
		m.uris.Inc()
	case gateway.ServerQuestion:
		if label == "" {
			label = other
		}
		m.questions.WithLabelValues(label, string(o)).Inc()
	}
}
