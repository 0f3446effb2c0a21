// Package otlptest receives traces and metrics over OTLP for tests, with HTTP and
// protobuf, as a collector does.
//
// Only tests use it: those of package telemetry and of the program.
package otlptest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	maxBody  = 16 << 20
	patience = 30 * time.Second
)

// A Receiver receives what is exported. Its methods may be called concurrently.
type Receiver struct {
	*httptest.Server

	mu       sync.Mutex
	changed  chan struct{}              // guarded by mu; closed and replaced with each request
	spans    []*trace.Span              // guarded by mu
	metrics  map[string]*metrics.Metric // guarded by mu; the last one of each name
	resource map[string]string          // guarded by mu; attributes of the last one
	raw      bytes.Buffer               // guarded by mu; everything that was received, unpacked
	wrong    []string                   // guarded by mu; why requests were refused
}

// NewReceiver starts a receiver on loopback. The test ends it, and fails if it had to refuse
// a request.
func NewReceiver(t testing.TB) *Receiver {
	r := &Receiver{changed: make(chan struct{}), metrics: map[string]*metrics.Metric{}, resource: map[string]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() {
		r.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, why := range r.wrong {
			t.Errorf("the receiver refused a request: %s", why)
		}
	})
	return r
}

// ServeHTTP receives one export.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, status, err := readExport(w, req)
	var reply proto.Message
	if err == nil {
		reply, status, err = r.take(req.URL.Path, body)
	}
	if err != nil {
		r.mu.Lock()
		r.wrong = append(r.wrong, err.Error())
		r.mu.Unlock()
		http.Error(w, err.Error(), status)
		return
	}
	text, err := proto.Marshal(reply)
	if err != nil {
		panic(err) // the message is empty
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(text)
}

// readExport returns the body of a request, or why it is none of OTLP and the status.
func readExport(w http.ResponseWriter, req *http.Request) ([]byte, int, error) {
	if req.Method != http.MethodPost {
		return nil, http.StatusMethodNotAllowed, fmt.Errorf("the method is %s", req.Method)
	}
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil ||
		kind != "application/x-protobuf" {
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("the content type is %q", kind)
	}
	var from io.Reader = http.MaxBytesReader(w, req.Body, maxBody)
	switch coding := req.Header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return nil, http.StatusBadRequest, err
		}
		from = io.LimitReader(unpacked, maxBody)
	default:
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("the encoding is %q", coding)
	}
	body, err := io.ReadAll(from)
	return body, http.StatusBadRequest, err
}

// take keeps what an export has.
func (r *Receiver) take(path string, body []byte) (reply proto.Message, status int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch path {
	case "/v1/traces":
		var export collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &export); err != nil {
			return nil, http.StatusBadRequest, err
		}
		r.takeSpans(&export)
		reply = &collectortrace.ExportTraceServiceResponse{}
	case "/v1/metrics":
		var export collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &export); err != nil {
			return nil, http.StatusBadRequest, err
		}
		r.takeMetrics(&export)
		reply = &collectormetrics.ExportMetricsServiceResponse{}
	default:
		return nil, http.StatusNotFound, fmt.Errorf("the path is %q", path)
	}
	r.raw.Write(body)
	close(r.changed)
	r.changed = make(chan struct{})
	return reply, http.StatusOK, nil
}

// takeSpans keeps spans. The caller holds mu.
func (r *Receiver) takeSpans(export *collectortrace.ExportTraceServiceRequest) {
	for _, of := range export.ResourceSpans {
		r.resource = Attributes(of.GetResource().GetAttributes())
		for _, scope := range of.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
}

// takeMetrics keeps metrics. The caller holds mu.
func (r *Receiver) takeMetrics(export *collectormetrics.ExportMetricsServiceRequest) {
	for _, of := range export.ResourceMetrics {
		r.resource = Attributes(of.GetResource().GetAttributes())
		for _, scope := range of.ScopeMetrics {
			for _, m := range scope.Metrics {
				r.metrics[m.Name] = m
			}
		}
	}
}

// Spans returns all spans so far.
func (r *Receiver) Spans() []*trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*trace.Span(nil), r.spans...)
}

// Metric returns the last metric with a name; nil: there was none.
func (r *Receiver) Metric(name string) *metrics.Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.metrics[name]
}

// Resource returns the attributes of the process that exported last.
func (r *Receiver) Resource() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resource
}

// Contains reports whether anything that was received contains a text.
func (r *Receiver) Contains(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Contains(r.raw.Bytes(), []byte(text))
}

// Await waits until what was received fits.
func (r *Receiver) Await(t testing.TB, what string, fits func() bool) {
	t.Helper()
	for deadline := time.After(patience); ; {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if fits() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%s was not received; %d spans were", what, len(r.Spans()))
		}
	}
}

// Attributes returns attributes by name. It leaves out those that are no text.
func Attributes(list []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range list {
		if text, ok := a.GetValue().GetValue().(*common.AnyValue_StringValue); ok {
			all[a.Key] = text.StringValue
		}
	}
	return all
}
