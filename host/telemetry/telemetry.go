// Package telemetry makes metrics and traces of what the gateway does: metrics for
// Prometheus on a listener of its own, and both over OTLP when the environment asks for
// it.
//
// Nothing here is started unless the configuration has a metrics block or the variables
// of OpenTelemetry are set. No label, attribute or name comes from a client, except for
// the id that it gave a request.
//
// Package host makes one Telemetry while clients are served, gives it to the gateway as its
// observer, and ends Server and export. Its methods may be called concurrently and do not wait.
// metrics.go, labels.go and recorder.go count requests; status.go and expiring.go make metrics
// of the status; export.go, span.go and environment.go are for OpenTelemetry; server.go answers
// Prometheus.
//
// Names, labels and attributes are what dashboards and alerts use: they are documented and must
// stay.
package telemetry

import (
	"context"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/gateway"
)

// Options configure [New].
type Options struct {
	Version string // of Junctor
	Log     hclog.Logger
	// Status returns the status of the process. Metrics about its state are made of it.
	Status func(ctx context.Context) *control.Status
	// Hide masks secrets in names of items and in ids of requests; nil: there are none.
	Hide func(text string) string
	// Lookup reads the environment.
	Lookup func(name string) (string, bool)
}

// A Telemetry observes a gateway. Its methods may be called concurrently. export is set before
// the first observation, and nothing else changes.
type Telemetry struct {
	opts     Options
	registry *prometheus.Registry
	metrics  *metrics
	export   *export // nil: nothing is exported
}

var _ gateway.Observer = (*Telemetry)(nil)

// New returns a Telemetry that counts. It exports nothing before [Telemetry.Export].
func New(o Options) *Telemetry {
	if o.Hide == nil {
		o.Hide = func(text string) string { return text }
	}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	t := &Telemetry{opts: o, registry: r, metrics: newMetrics(r, o.Hide)}
	r.MustRegister(newStatusCollector(o.Version, o.Status, t.metrics.labels))
	return t
}
