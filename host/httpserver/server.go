package httpserver

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// Options configure a Server.
type Options struct {
	Gateway *gateway.Gateway
	Log     hclog.Logger
	// Auth authenticates clients. Nil accepts every client as authn.Anonymous.
	Auth authn.Authenticator
	// MultiplePrincipals means that there may be more than one principal. Each
	// may use at most half of every limit then.
	MultiplePrincipals bool

	Origins []string // allowed origins of web pages, in the form of the Origin header
	Hosts   []string // allowed Host headers besides the address itself, with or without a port

	MaxBody     int // bytes per request
	MaxInFlight int // requests in progress
	LegacySSE   bool
	PerAddress  Rate // requests of one address; zero: no limit
	Connections int  // of one address; zero: no limit
	Loopback    bool // apply both limits to addresses of this machine too

	Header, Body time.Duration // for the head and the body of a request
	Send         time.Duration // for a client to take an event
	Keepalive    time.Duration // between comments on a stream without events
	Drain        time.Duration // for requests in flight when the server ends

	Sessions sessionstore.Options // except Begin, Ended, Each and Budget
}

// A Server serves the gateway over HTTP. One endpoint serves clients of both
// eras.
type Server struct {
	o           Options
	origin      originPolicy
	maxAge      time.Duration // maximum age of a client
	maxSessions int           // maximum number of sessions
	sessions    *sessionstore.Store
	*addressLimiter
	slow     *httpconn.SlowResponses[*exchange]
	draining chan struct{} // closed when the server is about to end
	work     sync.WaitGroup

	requestLog     *limit.Lines  // log of refused requests
	memory         *limit.Memory // memory for messages; nil: no limit
	reading        atomic.Int64  // requests whose bodies are being read
	inFlight       requestQuota  // requests in progress
	legacySessions requestQuota  // sessions over HTTP+SSE; the session store counts the others
	listening      requestQuota  // subscriptions/listen requests of modern clients

	handling sync.RWMutex // held for reading while a request is handled
	closed   bool         // guarded by handling; requests are dropped

	mu            sync.Mutex
	legacyClients map[string]*legacyClient // guarded by mu; clients over HTTP+SSE by session id
}

// New returns a Server for the options. Serve closes it. The error is that of
// the session store.
func New(o Options) (*Server, error) {
	srv := &Server{
		o: o, maxAge: o.Sessions.Life, maxSessions: o.Sessions.Max, memory: o.Gateway.Budget(),
		addressLimiter: newAddressLimiter(o), slow: httpconn.NewSlowResponses[*exchange](streamAfter),
		requestLog: limit.NewLines(o.Log, "listener"), draining: make(chan struct{}), legacyClients: map[string]*legacyClient{},
	}
	srv.inFlight = newRequestQuota(o.MaxInFlight, o.MultiplePrincipals, "concurrency", "max_in_flight")
	srv.listening = newRequestQuota(o.Sessions.Max, o.MultiplePrincipals, "listener", "sessions.max")
	srv.legacySessions = newRequestQuota(o.Sessions.Max, o.MultiplePrincipals, "session", "sessions.max")
	srv.legacySessions.full.modern = 0 // modern clients have no sessions
	o.Sessions.Each = int(srv.legacySessions.Each())
	if o.MultiplePrincipals {
		o.Gateway.SharePerPrincipal()
	}
	o.Sessions.Begin, o.Sessions.Ended, o.Sessions.Budget = srv.beginSession, srv.endSession, srv.memory
	store, err := sessionstore.Open(o.Sessions)
	if err != nil {
		return nil, err
	}
	srv.sessions = store
	return srv, nil
}

// ServeHTTP answers one request.
func (srv *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	srv.handling.RLock()
	defer srv.handling.RUnlock()
	defer srv.recoverPanic(w, r)
	if srv.closed {
		return
	}
	httpconn.SetTLS(r)
	srv.limitTimes(w, r)
	if srv.isDraining() {
		w.Header().Set("Connection", "close")
	}
	switch r.URL.Path {
	case "/healthz", "/livez", "/readyz":
		srv.health(w, r)
	case "/mcp":
		srv.endpoint(w, r)
	case "/sse", "/messages":
		if srv.o.LegacySSE {
			srv.legacySSEEndpoint(w, r)
			return
		}
		writeError(w, r, http.StatusNotFound, errNotFound)
	default:
		writeError(w, r, http.StatusNotFound, errNotFound)
	}
}

// endpoint serves the endpoint of both eras.
func (srv *Server) endpoint(w http.ResponseWriter, r *http.Request) {
	p, ok := srv.admit(w, r, "GET, POST, DELETE")
	if !ok {
		return
	}
	switch r.Method {
	case http.MethodPost:
		srv.post(w, r, p)
	case http.MethodGet:
		srv.get(w, r, p)
	case http.MethodDelete:
		srv.deleteSession(w, r, p)
	default:
		notAllowed(w, r, "GET, POST, DELETE")
	}
}

// admit reports whether a request is allowed, and returns its principal. It
// checks the origin, the rate of its address and its credentials. It answers a
// request that is not allowed, and an OPTIONS request.
func (srv *Server) admit(w http.ResponseWriter, r *http.Request, methods string) (authn.Principal, bool) {
	if why := srv.origin.check(r); why != nil {
		srv.requestLog.Log(hclog.Warn, "http", "refused a request", "why", why.reason, "host", printable(r.Host), "origin", printable(r.Header.Get("Origin")), "from", r.RemoteAddr)
		writeError(w, r, http.StatusForbidden, why)
		return authn.Principal{}, false
	}
	srv.allowOrigin(w, r, methods)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return authn.Principal{}, false
	}
	if wait, ok := srv.allow(r.RemoteAddr); !ok {
		writeRetryable(w, r, http.StatusTooManyRequests, wait, errRate)
		return authn.Principal{}, false
	}
	if srv.o.Auth == nil {
		return authn.Anonymous(), true
	}
	p, err := srv.o.Auth.Authenticate(r)
	if err != nil {
		srv.requestLog.Log(hclog.Warn, "http", "refused a client", "why", err.Error(), "from", r.RemoteAddr)
		unauthorized(w)
		return p, false
	}
	return p, true
}

// allowOrigin sets the CORS headers for a page of an allowed origin.
func (srv *Server) allowOrigin(w http.ResponseWriter, r *http.Request, methods string) {
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

// limitTimes starts the time limit for reading the body, if there is one, and
// ends the write deadline of the previous response. net/http also reads the
// rest of a body that the handler did not read, so the limit holds until the
// body was read.
func (srv *Server) limitTimes(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		httpconn.LimitBody(w, r, time.Now().Add(srv.grace()))
	}
	if r.ProtoMajor < 2 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	}
}

func (srv *Server) isDraining() bool {
	select {
	case <-srv.draining:
		return true
	default:
		return false
	}
}
