package httpserver

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/httpserver/origin"
)

// A Listener serves the clients of one address, with or without TLS. A Server may
// have several: one that accepts clients, and earlier ones whose requests end. Start makes it.
// Retire or Shutdown ends it, once. The fields are set by Start and do not change, but for the
// atomic ones.
type Listener struct {
	server   *Server
	address  origin.Address
	secure   atomic.Pointer[TLS] // nil: no TLS
	http     *http.Server
	conns    *httpconn.Listener
	cancel   context.CancelCauseFunc // ends all requests
	draining chan struct{}           // closed when the listener is about to end
	requests atomic.Int64            // in progress, and open streams
	retired  atomic.Pointer[active]  // the settings when the listener was retired; nil: it was not
}

type listenerKey struct{}

// listenerOf returns the listener of a request.
func listenerOf(r *http.Request) *Listener { return r.Context().Value(listenerKey{}).(*Listener) }

// Start answers requests that arrive at l, with TLS if secure is not nil. Retire or
// Shutdown ends that. The listener owns l then. Its goroutines are part of work of the Server.
func (srv *Server) Start(l net.Listener, secure *TLS) *Listener {
	x := &Listener{server: srv, address: origin.AddressOf(l.Addr()), draining: make(chan struct{})}
	var config *tls.Config
	if secure != nil {
		x.secure.Store(secure)
		config = &tls.Config{
			MinVersion: tls.VersionTLS12,
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				return x.secure.Load().current().config, nil
			},
			NextProtos: protocols,
		}
	}
	base, cancel := context.WithCancelCause(context.WithValue(context.Background(), listenerKey{}, x))
	x.cancel = cancel
	x.conns = httpconn.Listen(l, httpconn.Options{
		TLS: config, Limits: srv.active.Load().connLimits(), Unavailable: errConnections.body(false), Log: srv.log,
		AddressKey: func(remote string) (netip.Prefix, bool) {
			settings := srv.active.Load()
			if isProxy(remote, settings.Proxies) {
				return netip.Prefix{}, false
			}
			return addressKey(remote, settings.Loopback)
		},
	})
	x.http = &http.Server{
		BaseContext: func(net.Listener) context.Context { return base },
		Handler:     srv, TLSConfig: config, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog: srv.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	if secure != nil {
		x.http.IdleTimeout = idleTimeout // for HTTP/2; conns limits HTTP/1
	}
	x.conns.Attach(x.http)
	srv.listeners.add(x)
	srv.work.Go(func() { x.conns.Run(base) })
	srv.work.Go(func() {
		err := x.http.Serve(x.conns)
		if x.isDraining() {
			return
		}
		select {
		case srv.failed <- err:
		default:
		}
	})
	return x
}

// SetTLS replaces the certificates for new connections. Requests of a client on an
// open connection are refused if its certificate is not accepted any longer. The
// listener must have TLS.
func (l *Listener) SetTLS(secure *TLS) { l.secure.Store(secure) }

// Retire stops accepting clients and returns. Requests in flight have the drain time
// to finish, and streams end with the reason "moved". Shutdown waits for that. Clients
// of a listener with authentication must authenticate to its end, whatever Apply says.
func (l *Listener) Retire() {
	l.retired.Store(l.server.active.Load())
	close(l.draining)
	_ = l.conns.Close()
	l.server.streams.end(func(s *clientStream) bool { return s.listener == l && !s.answers }, errMoved)
	drain := l.server.active.Load().Drain
	l.server.work.Go(func() {
		defer l.server.listeners.remove(l)
		if !waitQuiet(drain, func() bool { return l.requests.Load() > 0 }) {
			l.server.log.Warn("drain timeout reached: the remaining requests to the previous address are abandoned",
				"in_flight", l.requests.Load())
		}
		l.close()
	})
}

// close ends all requests and closes all connections. Responses that are being written
// have shutdownTime to finish. It is called once and blocks.
func (l *Listener) close() {
	l.cancel(errAbandoned)
	limited, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if l.http.Shutdown(limited) != nil {
		_ = l.http.Close()
	}
	l.conns.Wait()
}

// waitQuiet waits until nothing is busy for lingerTime, and reports whether that was
// within limit.
func waitQuiet(limit time.Duration, busy func() bool) bool {
	begun := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	quiet := begun
	for now := begun; now.Sub(begun) < limit; now = <-tick.C {
		if busy() {
			quiet = now
		}
		if now.Sub(quiet) >= lingerTime {
			return true
		}
	}
	return !busy()
}

func (l *Listener) isDraining() bool { return isClosed(l.draining) || l.server.isDraining() }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// listenerSet are the listeners that have connections. Its methods may be called concurrently.
type listenerSet struct {
	mu  sync.Mutex
	all map[*Listener]struct{} // guarded by mu
}

func (s *listenerSet) add(l *Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[l] = struct{}{}
}

func (s *listenerSet) remove(l *Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, l)
}

func (s *listenerSet) list() []*Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.all))
}
