package httpserver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	maxHeader    = 16 << 10 // bytes
	maxStreams   = 100      // of one connection of HTTP/2
	idleMost     = 2 * time.Minute
	lingerTime   = 250 * time.Millisecond
	giveUpTime   = 250 * time.Millisecond // for clients to be told of it
	shutdownTime = 2 * time.Second
)

// Serve answers requests that come in at l, with TLS if secure is not nil, until
// ctx ends. Then nothing new is let in, streams are told, and what is being
// answered has time to be.
func (f *Server) Serve(ctx context.Context, l net.Listener, secure *tls.Config) error {
	f.guard = originPolicy{origins: f.o.Origins, hosts: f.o.Hosts}.at(l.Addr())
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := &http.Server{
		BaseContext: func(net.Listener) context.Context { return base },
		Handler:     f, TLSConfig: secure, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog: f.o.Log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	served := make(chan error, 1)
	w := newDeadlineListener(f.o.Header, idleMost)
	l = f.limited(l, secure == nil, w.spare)
	if secure != nil {
		server.IdleTimeout = idleMost // of HTTP/2
		h := newHandshakes(l, secure, f.o.Header, f.o.Log)
		defer h.wait()
		l = h
	}
	server.ConnContext, server.ConnState = remember, w.state
	f.work.Go(func() { w.run(base, min(f.o.Header, f.grace())) })
	f.work.Go(func() { w.runUnread(base, f.o.Send) })
	go func() { served <- server.Serve(w.on(l)) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	f.drain(l, cancel)
	f.close()
	cancel() // who listens
	f.shut(server)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// shut ends the connections, with what is still being written if that is quick.
func (f *Server) shut(server *http.Server) {
	limited, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if server.Shutdown(limited) != nil {
		_ = server.Close()
	}
	f.handling.Lock() // whoever still wrote to a connection that was closed
	f.over = true
	f.handling.Unlock()
	f.work.Wait()
	f.said.Close()
}

// drain lets nobody new in and waits for what is being answered. A connection
// that is used meanwhile is ended with its answer, so that its client does not
// send into one that has just been closed. What takes too long is given up, and
// its client told.
func (f *Server) drain(l net.Listener, giveUp func()) {
	close(f.draining)
	_ = l.Close()
	f.o.Log.Info("about to end: nobody new is let in", "in_flight", f.inFlight.Load(), "within", f.o.Drain.String())
	f.o.Gateway.EndListens()
	end := time.Now().Add(f.o.Drain)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	quiet := time.Now()
	for now := time.Now(); now.Before(end) && now.Sub(quiet) < lingerTime; now = <-tick.C {
		if f.isBusy() {
			quiet = now
		}
	}
	left := f.inFlight.Load()
	if left == 0 {
		return
	}
	f.o.Log.Warn("requests that took longer were given up", "in_flight", left)
	// First those of sessions: what ends the others cuts their streams off.
	for _, end := range []func(){f.o.Gateway.GiveUp, giveUp} {
		end()
		for until := time.Now().Add(giveUpTime); f.inFlight.Load() > 0 && time.Now().Before(until); {
			<-tick.C
		}
	}
}

// isBusy reports whether somebody waits for an answer, or still asks for one.
func (f *Server) isBusy() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reading.Load() > 0 || f.inFlight.Load() > 0 || f.listening.Load() > 0 || len(f.old) > 0
}

// close ends all sessions, what they still wait for included.
func (f *Server) close() {
	if err := f.sessions.Close(); err != nil {
		f.o.Log.Error("closing the session store", "error", err)
	}
}
