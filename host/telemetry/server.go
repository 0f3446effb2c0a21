package telemetry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/net/netutil"

	"github.com/junctor-mcp/junctor/host/loopback"
)

const (
	maxConnections = 32 // open at a time
	maxScrapes     = 4  // answered at a time
	maxHeader      = 16 << 10

	headerTime = 5 * time.Second
	idleTime   = 2 * time.Minute
	writeTime  = 30 * time.Second
	endTime    = time.Second
)

// A Server serves the metrics at /metrics. Serve makes it with its goroutine, and takes over
// the listener; the caller must call Close, once.
type Server struct {
	http  *http.Server
	ended chan struct{}
}

// Serve serves the metrics on a listener, until Close. local is set if the listener is
// one of this machine: the Host header must then name this machine, so that no page in a
// browser reads the metrics under a name of its own.
func (t *Telemetry) Serve(l net.Listener, local bool) *Server {
	s := &Server{ended: make(chan struct{}), http: &http.Server{
		Handler: t.handler(local), ReadHeaderTimeout: headerTime, ReadTimeout: headerTime,
		WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader,
		ErrorLog: t.opts.Log.Named("metrics").
			StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}}
	go func() {
		defer close(s.ended)
		if err := s.http.Serve(netutil.LimitListener(l, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
			t.opts.Log.Error("metrics are not served any longer", "error", err)
		}
	}()
	return s
}

// Close ends the server and closes its listener.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	<-s.ended
}

// handler answers GET /metrics in the text format of Prometheus.
func (t *Telemetry) handler(local bool) http.Handler {
	scrapes := make(chan struct{}, maxScrapes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case local && !namesThisMachine(r.Host):
			http.Error(w, "the Host header does not name this machine", http.StatusForbidden)
			return
		case r.URL.Path != "/metrics":
			http.Error(w, "metrics are at /metrics", http.StatusNotFound)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		select {
		case scrapes <- struct{}{}:
			defer func() { <-scrapes }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
			return
		}
		t.write(w)
	})
}

// write writes all metrics. A metric that cannot be collected is left out and logged.
func (t *Telemetry) write(w http.ResponseWriter) {
	families, err := prometheus.Gatherer(t.registry).Gather()
	if err != nil {
		t.opts.Log.Error("metrics are incomplete", "error", err)
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	w.Header().Set("Content-Type", string(format))
	encoder := expfmt.NewEncoder(w, format)
	for _, f := range families {
		if encoder.Encode(f) != nil {
			return // the client has gone
		}
	}
}

// namesThisMachine reports whether a Host header names this machine, with or without a
// port. A client of a unix socket may send any name or none.
func namesThisMachine(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if len(name) > 2 && name[0] == '[' {
		name = name[1 : len(name)-1]
	}
	return loopback.Is(name)
}
