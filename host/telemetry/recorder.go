package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// Begin implements [gateway.Observer]. The goroutine of the request calls it, and the methods
// of the observation.
func (t *Telemetry) Begin(b gateway.Beginning) gateway.Observation {
	o := &observation{telemetry: t, beginning: b, begun: time.Now(), span: tracing.Untraced}
	if !b.Lasting {
		o.inFlight = t.metrics.inFlight.WithLabelValues(t.metrics.labels.tenant(b.Tenant), "")
		o.inFlight.Inc()
	}
	if x := t.export; x != nil && x.tracer != nil {
		o.span = x.begin(&b)
	}
	return o
}

// Refused implements [gateway.Observer].
func (t *Telemetry) Refused(tenant string, o outcome.Outcome) {
	t.metrics.count(t.metrics.labels.tenant(tenant), "", o)
}

// Count implements [gateway.Observer].
func (t *Telemetry) Count(e gateway.Event, label string, o outcome.Outcome) {
	t.metrics.event(e, label, o)
}

// An observation is a request in progress.
type observation struct {
	telemetry *Telemetry
	beginning gateway.Beginning
	begun     time.Time
	span      tracing.Span
	inFlight  prometheus.Gauge // that counts the request; nil: none does
}

// Span implements [gateway.Observation].
func (o *observation) Span() tracing.Span { return o.span }

// Found implements [gateway.Observation].
func (o *observation) Found(tool string) {
	if o.inFlight == nil {
		return
	}
	m := o.telemetry.metrics
	before := o.inFlight
	tenant, label := m.labels.of(o.beginning.Tenant, tool)
	o.inFlight = m.inFlight.WithLabelValues(tenant, label)
	o.inFlight.Inc()
	before.Dec()
}

// End implements [gateway.Observation].
func (o *observation) End(e gateway.Ending) {
	m, seconds := o.telemetry.metrics, time.Since(o.begun).Seconds()
	if o.inFlight != nil {
		o.inFlight.Dec()
	}
	_, tool := m.ended(&o.beginning, &e, seconds)
	if x := o.telemetry.export; x != nil {
		x.end(o, &e, tool, seconds)
	}
}
