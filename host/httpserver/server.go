package httpserver

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// Options are what a front needs to know.
type Options struct {
	Gateway *gateway.Gateway
	Log     hclog.Logger
	// Auth finds out who asks; nil lets everybody in.
	Auth authn.Authenticator
	// Several says that there may be more than one principal, none of whom is to
	// get everything that there is.
	Several bool

	Origins []string // that a browser may come from, as it writes them
	Hosts   []string // that the Host header may name besides the address itself, with a port or without

	MaxBody     int // of a request, in bytes
	MaxInFlight int // requests that are being answered
	LegacySSE   bool
	PerAddress  Rate // requests of one address; zero: no limit
	Connections int  // of one address; zero: no limit
	Loopback    bool // both are about addresses of this machine as well

	Header, Body time.Duration // for the head and the body of a request to arrive
	Send         time.Duration // for a client to take an event
	Keepalive    time.Duration // between comments on a stream without events
	Drain        time.Duration // for calls in flight, once the front is to end

	Sessions sessionstore.Options // but for Begin and Ended
}

// A Server serves the gateway over HTTP: one endpoint for clients of both eras.
type Server struct {
	o        Options
	guard    originPolicy
	life     time.Duration // of a client at most
	most     int           // clients that have sessions
	sessions *sessionstore.Store
	*addresses
	overdue  *slowResponses
	draining chan struct{} // closed when the front is to end
	work     sync.WaitGroup

	said      *limit.Lines  // log lines about requests that are refused
	budget    *limit.Memory // of the gateway; nil: no limit
	reading   atomic.Int64  // requests whose bodies have not all come
	inFlight  quota         // for requests that are being answered
	listening quota         // for requests of modern clients that listen to what changes

	handling sync.RWMutex // held for reading while a request is handled
	over     bool         // guarded by handling; nothing is handled any longer

	mu  sync.Mutex
	old map[string]*oldClient // guarded by mu; over HTTP with SSE, by session id
}

// New makes a front, which Serve ends.
func New(o Options) (*Server, error) {
	f := &Server{said: limit.NewLines(o.Log, "listener"), budget: o.Gateway.Budget(), o: o, life: o.Sessions.Life, most: o.Sessions.Max, draining: make(chan struct{}), overdue: newSlowResponses(), old: map[string]*oldClient{}, addresses: newAddresses(o)}
	f.inFlight.most, f.inFlight.full, f.inFlight.enough = int64(o.MaxInFlight), errOverloaded, errEnough
	f.listening.most, f.listening.full, f.listening.enough = int64(o.Sessions.Max), errListening, errEnoughListen
	if o.Several {
		f.inFlight.share()
		f.listening.share()
		o.Sessions.Each = int(half(int64(o.Sessions.Max)))
		o.Gateway.SharePerPrincipal()
	}
	o.Sessions.Begin, o.Sessions.Ended, o.Sessions.Budget = f.begin, f.ended, f.budget
	store, err := sessionstore.Open(o.Sessions)
	if err != nil {
		return nil, err
	}
	f.sessions = store
	return f, nil
}

// ServeHTTP answers one request.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.handling.RLock()
	defer f.handling.RUnlock()
	defer f.saved(w, r)
	if f.over {
		return
	}
	withTLS(r)
	f.limit(w, r)
	if f.isDraining() {
		w.Header().Set("Connection", "close")
	}
	switch r.URL.Path {
	case "/healthz", "/livez", "/readyz":
		f.health(w, r)
	case "/mcp":
		f.endpoint(w, r)
	case "/sse", "/messages":
		if f.o.LegacySSE {
			f.legacySSEEndpoint(w, r)
			return
		}
		refuse(w, r, http.StatusNotFound, errNowhere)
	default:
		refuse(w, r, http.StatusNotFound, errNowhere)
	}
}

// endpoint is where clients of both eras come.
func (f *Server) endpoint(w http.ResponseWriter, r *http.Request) {
	p, ok := f.admit(w, r, "GET, POST, DELETE")
	if !ok {
		return
	}
	switch r.Method {
	case http.MethodPost:
		f.post(w, r, p)
	case http.MethodGet:
		f.get(w, r, p)
	case http.MethodDelete:
		f.remove(w, r, p)
	default:
		notAllowed(w, r, "GET, POST, DELETE")
	}
}

// admit lets a request in, or answers it: by where it comes from, by who makes
// it and by how many there are.
func (f *Server) admit(w http.ResponseWriter, r *http.Request, methods string) (authn.Principal, bool) {
	if why := f.guard.check(r); why != nil {
		f.said.Log(hclog.Warn, "http", "refused a request", "why", why.reason, "host", short(r.Host), "origin", short(r.Header.Get("Origin")), "from", r.RemoteAddr)
		refuse(w, r, http.StatusForbidden, why)
		return authn.Principal{}, false
	}
	f.allowOrigin(w, r, methods)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return authn.Principal{}, false
	}
	if wait, ok := f.take(r.RemoteAddr); !ok {
		busy(w, r, http.StatusTooManyRequests, wait, errTooOften)
		return authn.Principal{}, false
	}
	if f.o.Auth == nil {
		return authn.Anonymous(), true
	}
	p, err := f.o.Auth.Authenticate(r)
	if err != nil {
		f.said.Log(hclog.Warn, "http", "refused a client", "why", err.Error(), "from", r.RemoteAddr)
		unauthorized(w)
		return p, false
	}
	return p, true
}

// allowOrigin tells a browser whose page may talk to us that it may.
func (f *Server) allowOrigin(w http.ResponseWriter, r *http.Request, methods string) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id")
	h.Add("Vary", "Origin")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Max-Age", "600")
	}
}

// limit begins the time that the body may take, if there is one. The server
// waits for what is left of it also behind an answer that did not want it, so
// that the time goes on until the body was read. That of an earlier answer on
// the same connection ends.
func (f *Server) limit(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		limitBody(w, r, time.Now().Add(f.grace()))
	}
	if r.ProtoMajor < 2 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	}
}

// enter takes a place for a request, or answers it when there is none.
func (f *Server) enter(w http.ResponseWriter, r *http.Request, p authn.Principal, in *quota) bool {
	why := in.enter(p, 1)
	if why != nil {
		busy(w, r, why.busy(), time.Second, why)
	}
	return why == nil
}

func (f *Server) isDraining() bool {
	select {
	case <-f.draining:
		return true
	default:
		return false
	}
}
