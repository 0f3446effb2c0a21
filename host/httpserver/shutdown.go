package httpserver

import (
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	maxHeader    = 16 << 10 // bytes
	maxStreams   = 100      // per HTTP/2 connection
	idleTimeout  = 2 * time.Minute
	lingerTime   = 250 * time.Millisecond // without requests, until draining ends early
	giveUpTime   = 250 * time.Millisecond // for sending errors to clients of abandoned requests
	shutdownTime = 2 * time.Second        // for closing connections
)

// Failed returns a channel that has an error when a listener cannot accept clients any
// longer.
func (srv *Server) Failed() <-chan error { return srv.failed }

// Shutdown closes the server, whose last listener is l. First it is not ready for the
// ready delay, and still serves. Then it accepts no new requests, ends all streams and waits
// for requests in flight. leave closes the address before that: a connection that nothing
// accepts any longer would wait for the end of the process. It is called once and blocks until
// all goroutines of the server have ended. Package host calls it at the end of the service.
func (srv *Server) Shutdown(l *Listener, leave func()) {
	close(srv.leaving)
	if delay := srv.active.Load().ReadyDelay; delay > 0 {
		srv.log.Info("shutting down: not ready any longer, and requests are still served",
			"ready_delay", delay.String())
		time.Sleep(delay) // a second signal ends the process
	}
	srv.drain(l, leave)
	if err := srv.sessions.Close(); err != nil { // ends all sessions and their requests
		srv.log.Error("closing the session store", "error", err)
	}
	l.close()
	srv.handling.Lock() // waits for handlers that write to closed connections
	srv.closed = true
	srv.handling.Unlock()
	srv.work.Wait()
	srv.admission.log.Close()
}

// drain stops accepting requests and waits for requests in flight. Meanwhile
// each response closes its connection, so that no client sends a request into a
// closed one. Requests that take longer than the drain time get an error. Only Shutdown calls
// it.
func (srv *Server) drain(l *Listener, leave func()) {
	close(srv.draining)
	leave()
	_ = l.conns.Close()
	limit := srv.active.Load().Drain
	srv.log.Info("shutting down: new requests are refused",
		"in_flight", srv.inFlight.Used(), "drain_timeout", limit.String())
	srv.streams.end(func(s *clientStream) bool { return !s.answers && !s.listens }, errShutdown)
	srv.gateway.EndListens()
	waitQuiet(limit, srv.isBusy)
	left := srv.inFlight.Used()
	if left == 0 {
		return
	}
	srv.log.Warn("drain timeout reached: the remaining requests are abandoned", "in_flight", left)
	// Requests of sessions end first. cancelAll ends the others and closes their
	// streams.
	for _, end := range []func(){srv.gateway.GiveUp, srv.cancelAll} {
		end()
		for until := time.Now().Add(giveUpTime); srv.inFlight.Used() > 0 && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// errAbandoned is the outcome of a request that has not ended within the drain time.
var errAbandoned = fault.New(fault.UpstreamStopped, "junctor is shutting down; the call may have been executed")

// cancelAll ends the requests of all listeners. It does not wait.
func (srv *Server) cancelAll() {
	for _, l := range srv.listeners.list() {
		l.cancel(errAbandoned)
	}
}

// isBusy reports whether a request is in progress or its body is being read.
func (srv *Server) isBusy() bool {
	used := srv.inFlight.Used() > 0 || srv.listening.Used() > 0
	return srv.reading.Load() > 0 || used || srv.legacySSE.count() > 0
}
