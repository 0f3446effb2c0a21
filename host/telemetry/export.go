package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/hashicorp/go-hclog"
	prometheusbridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/tracing"
)

const (
	scope = "github.com/junctor-mcp/junctor"
	// flushTime bounds the last export, when the process ends.
	flushTime = 2 * time.Second
	// maxText bounds the value of an attribute in characters, unless a standard variable
	// says otherwise.
	maxText = 256
)

// operationBuckets are the bounds that the semantic conventions for MCP name, in seconds.
var operationBuckets = []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}

// An export sends traces and metrics over OTLP. Telemetry.Export makes it, and stop ends it. It
// does not change in between.
type export struct {
	tracer    trace.Tracer            // nil: no traces
	durations metric.Float64Histogram // nil: no metrics
	shutdown  []func(context.Context) error
	lines     *limit.Lines
	hide      func(string) string // masks secrets
}

// Export begins to export what the environment asks for, until stop is called. The
// Telemetry must not observe anything yet. Other variables that are wrong are reported in
// the log.
func (t *Telemetry) Export(ctx context.Context) (stop func(), err error) {
	traces, metrics, _ := signals(t.opts.Lookup)
	x := &export{lines: limit.NewLines(t.opts.Log, "telemetry"), hide: t.opts.Hide}
	otel.SetLogger(logr.Logger{})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(x.failed))
	about := t.resource(ctx)
	if traces.on {
		err = t.exportTraces(ctx, x, about)
	}
	if metrics.on && err == nil {
		err = t.exportMetrics(ctx, x, about)
	}
	if err != nil {
		x.stop()
		return nil, fmt.Errorf("the export of telemetry cannot begin: %w", err)
	}
	t.export = x
	return x.stop, nil
}

// failed logs why something was not exported.
func (x *export) failed(err error) {
	x.lines.Log(hclog.Warn, "otlp", "telemetry was not exported", "error", err)
}

// resource describes this process. It has no command line and no environment, which may
// hold secrets, except for OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME.
func (t *Telemetry) resource(ctx context.Context) *resource.Resource {
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "junctor"), attribute.String("service.version", t.opts.Version),
		attribute.String("service.instance.id", tracing.NewRequestID()),
	), resource.WithFromEnv())
	if err != nil {
		t.opts.Log.Warn("OTEL_RESOURCE_ATTRIBUTES is not valid", "error", errors.New("a member is not key=value"))
	}
	return about
}

func (t *Telemetry) exportTraces(ctx context.Context, x *export, about *resource.Resource) error {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	choose, err := sampler(t.opts.Lookup)
	if err != nil {
		t.opts.Log.Warn("traces are sampled by default", "error", err)
	}
	limits := sdktrace.NewSpanLimits()
	if limits.AttributeValueLengthLimit < 0 {
		limits.AttributeValueLengthLimit = maxText
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about),
		sdktrace.WithSampler(choose), sdktrace.WithRawSpanLimits(limits))
	x.tracer = p.Tracer(scope, trace.WithInstrumentationVersion(t.opts.Version))
	x.shutdown = append(x.shutdown, p.Shutdown)
	return nil
}

func (t *Telemetry) exportMetrics(ctx context.Context, x *export, about *resource.Resource) error {
	exporter, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return err
	}
	reader := sdkmetric.NewPeriodicReader(exporter,
		sdkmetric.WithProducer(prometheusbridge.NewMetricProducer(prometheusbridge.WithGatherer(t.registry))))
	p := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about))
	x.shutdown = append(x.shutdown, p.Shutdown)
	x.durations, err = p.Meter(scope, metric.WithInstrumentationVersion(t.opts.Version)).
		Float64Histogram("mcp.server.operation.duration",
			metric.WithUnit("s"), metric.WithDescription("Time from a request of a client to its answer."),
			metric.WithExplicitBucketBoundaries(operationBuckets...))
	return err
}

// stop exports what was not exported yet, within flushTime, and ends the export.
func (x *export) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	for _, shutdown := range x.shutdown {
		if err := shutdown(ctx); err != nil {
			x.failed(err)
		}
	}
	x.lines.Close()
}
