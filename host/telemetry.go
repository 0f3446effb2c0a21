package host

import (
	"context"
	"net"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/loopback"
	"github.com/junctor-mcp/junctor/host/telemetry"
)

// metricsSocketMode is the mode of a unix socket for metrics.
const metricsSocketMode = 0o600

// A telemetryService observes the gateway while clients are served. App.reloading guards
// its fields. startTelemetry makes it and ends it.
type telemetryService struct {
	app       *App
	optional  bool                 // the process goes on without metrics
	telemetry *telemetry.Telemetry // nil: nothing has been observed yet
	endExport func()               // nil: nothing is exported
	listen    string               // address of the metrics; empty: nothing listens
	server    *telemetry.Server    // nil: nothing listens
}

// startTelemetry begins to observe the gateway as the configuration and the environment
// ask, until stop is called. optional is set for a process that serves one of several
// clients of the user: it goes on if the address of the metrics is in use.
func startTelemetry(ctx context.Context, a *App, optional bool) (stop func(), err error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	s := &telemetryService{app: a, optional: optional}
	change, err := s.prepare(ctx, a.current.Load())
	if err != nil {
		return nil, err
	}
	asked, problem := telemetry.Asked(a.process.opts.Lookup)
	if problem != nil {
		a.process.opts.Log.Warn(
			"telemetry is not exported as the environment asks",
			"error", problem,
			"hint", "set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
		)
	}
	if asked {
		s.create()
		if s.endExport, err = s.telemetry.Export(ctx); err != nil {
			a.process.opts.Log.Warn(err.Error(), "hint", "check the variables OTEL_EXPORTER_OTLP_*")
		}
	}
	change.apply()
	a.telemetry = s
	return s.stop, nil
}

// create makes the Telemetry, once.
func (s *telemetryService) create() {
	if s.telemetry == nil {
		a := s.app
		status := a.status
		if status == nil {
			status = a.Status
		}
		s.telemetry = telemetry.New(telemetry.Options{
			Version: a.process.opts.Version,
			Log:     a.process.opts.Log,
			Status:  status,
			Hide:    a.process.redactor.hide,
			Lookup:  a.process.opts.Lookup,
		})
	}
}

// stop exports what was observed last, and ends the service.
func (s *telemetryService) stop() {
	s.app.reloading.Lock()
	defer s.app.reloading.Unlock()
	s.app.telemetry = nil
	s.app.Gateway.Observe(nil)
	if s.server != nil {
		s.server.Close()
	}
	if s.endExport != nil {
		s.endExport()
	}
}

// A metricsChange is the listener of metrics that a configuration asks for. prepare makes it,
// on the goroutine of a reload; apply or discard ends it.
type metricsChange struct {
	service *telemetryService
	listen  string             // empty: nothing listens
	socket  *httpserver.Socket // nil: that of the service stays, or nothing listens
}

// prepare implements [part]. It opens the listener that a configuration asks for. If the
// metrics are optional, an address that is in use is a warning.
func (s *telemetryService) prepare(ctx context.Context, next *generation) (change, error) {
	c, err := s.open(ctx, next.Config.Telemetry)
	if err == nil || !s.optional {
		return c, err
	}
	s.app.process.opts.Log.Warn("metrics are not served", "error", err, "hint", fault.As(err).Hint)
	return &metricsChange{service: s}, nil
}

func (s *telemetryService) open(ctx context.Context, t config.Telemetry) (*metricsChange, error) {
	c := &metricsChange{service: s}
	if t.Metrics == nil {
		return c, nil
	}
	if c.listen = t.Metrics.Listen; c.listen == s.listen {
		return c, nil
	}
	var err error
	c.socket, err = listenBlock{
		address: c.listen,
		mode:    metricsSocketMode,
		at:      t.Metrics.At,
		failure: "cannot listen for metrics",
		setting: "listen in telemetry { metrics { } }",
	}.listen(ctx)
	return c, err
}

// discard closes what prepare has opened.
func (c *metricsChange) discard() {
	if c.socket != nil {
		_ = c.socket.Close()
	}
}

// apply makes the change, and observes the gateway if something is served or exported.
func (c *metricsChange) apply() {
	s := c.service
	if s.server != nil && c.listen != s.listen {
		s.server.Close()
		s.server = nil
	}
	s.listen = c.listen
	if c.socket != nil {
		s.create()
		address := c.socket.Addr()
		s.server = s.telemetry.Serve(c.socket, address.Network() != "unix" && loopback.Is(hostOf(address)))
		s.app.process.opts.Log.Info("serving metrics", "address", address.String())
	}
	if s.server != nil || s.endExport != nil {
		s.app.Gateway.Observe(s.telemetry)
		return
	}
	s.app.Gateway.Observe(nil)
}

// hostOf returns the host of an address.
func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return ""
	}
	return host
}

// ReportStatus sets the function that returns the status of the process for metrics. It
// is called before clients are served.
func (a *App) ReportStatus(status func(context.Context) *control.Status) { a.status = status }
