package httpserver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
)

const (
	maxHeader    = 16 << 10 // bytes
	maxStreams   = 100      // per HTTP/2 connection
	idleTimeout  = 2 * time.Minute
	lingerTime   = 250 * time.Millisecond // without requests, until draining ends early
	giveUpTime   = 250 * time.Millisecond // for sending errors to clients of abandoned requests
	shutdownTime = 2 * time.Second        // for closing connections
)

// Serve answers requests that arrive at l until ctx ends. It uses TLS if secure
// is not nil. When ctx ends it accepts no new requests, ends all streams and
// waits for requests in flight. The error is that of the listener. It is nil if
// ctx has ended.
func (srv *Server) Serve(ctx context.Context, l net.Listener, secure *tls.Config) error {
	srv.origin = originPolicy{origins: srv.o.Origins, hosts: srv.o.Hosts}.at(l.Addr())
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := &http.Server{
		BaseContext: func(net.Listener) context.Context { return base },
		Handler:     srv, TLSConfig: secure, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog: srv.o.Log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	served := make(chan error, 1)
	conns := httpconn.Listen(l, httpconn.Options{
		TLS:         secure,
		Limits:      httpconn.Limits{Header: srv.o.Header, Body: srv.grace(), Idle: idleTimeout, Send: srv.o.Send, PerAddress: srv.o.Connections},
		AddressKey:  func(remote string) (netip.Prefix, bool) { return addressKey(remote, srv.o.Loopback) },
		Unavailable: errConnections.body(false), Log: srv.o.Log,
	})
	defer conns.Wait()
	conns.Attach(server)
	if secure != nil {
		server.IdleTimeout = idleTimeout // for HTTP/2; conns limits HTTP/1
	}
	srv.work.Go(func() { conns.Run(base) })
	go func() { served <- server.Serve(conns) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	srv.drain(conns, cancel)
	srv.closeSessions()
	cancel() // ends the requests that remain
	srv.closeConnections(server)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// closeConnections closes all connections. Responses that are being written
// have shutdownTime to finish.
func (srv *Server) closeConnections(server *http.Server) {
	limited, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if server.Shutdown(limited) != nil {
		_ = server.Close()
	}
	srv.handling.Lock() // waits for handlers that write to closed connections
	srv.closed = true
	srv.handling.Unlock()
	srv.work.Wait()
	srv.requestLog.Close()
}

// drain stops accepting requests and waits for requests in flight. Meanwhile
// each response closes its connection, so that no client sends a request into a
// closed one. Requests that take longer than the drain time get an error.
func (srv *Server) drain(l net.Listener, giveUp func()) {
	close(srv.draining)
	_ = l.Close()
	srv.o.Log.Info("shutting down: new requests are refused", "in_flight", srv.inFlight.Used(), "drain_timeout", srv.o.Drain.String())
	srv.o.Gateway.EndListens()
	end := time.Now().Add(srv.o.Drain)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	quiet := time.Now()
	for now := time.Now(); now.Before(end) && now.Sub(quiet) < lingerTime; now = <-tick.C {
		if srv.isBusy() {
			quiet = now
		}
	}
	left := srv.inFlight.Used()
	if left == 0 {
		return
	}
	srv.o.Log.Warn("drain timeout reached: the remaining requests are abandoned", "in_flight", left)
	// Requests of sessions end first. giveUp ends the others and closes their
	// streams.
	for _, end := range []func(){srv.o.Gateway.GiveUp, giveUp} {
		end()
		for until := time.Now().Add(giveUpTime); srv.inFlight.Used() > 0 && time.Now().Before(until); {
			<-tick.C
		}
	}
}

// isBusy reports whether a request is in progress or its body is being read.
func (srv *Server) isBusy() bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.reading.Load() > 0 || srv.inFlight.Used() > 0 || srv.listening.Used() > 0 || len(srv.legacyClients) > 0
}

// closeSessions ends all sessions and their requests.
func (srv *Server) closeSessions() {
	if err := srv.sessions.Close(); err != nil {
		srv.o.Log.Error("closing the session store", "error", err)
	}
}
