package httpserver

import (
	"net/http"
	"strings"
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
	Gateway    *gateway.Gateway
	Log        hclog.Logger
	SessionDir string // directory of the sessions; empty: memory only
	// Audit returns the state of the audit log. If it or its result is nil, nothing is
	// recorded.
	Audit    func() *AuditHealth
	Settings // those at the start; see Server.Apply
}

// A Server serves the gateway over HTTP. One endpoint serves clients of both
// eras. Its methods may be called concurrently, but for Apply and Shutdown, which package host
// calls one at a time. The fields are set by New; the ones that change have locks of their own.
// handling makes Shutdown wait for handlers.
type Server struct {
	gateway   *gateway.Gateway
	log       hclog.Logger
	audit     func() *AuditHealth // see Options.Audit
	active    atomic.Pointer[active]
	sessions  *sessionstore.Store
	admission *admission
	legacySSE *legacySSE
	listeners listenerSet // those with connections
	streams   streamSet
	slow      *httpconn.SlowResponses[*exchange]
	leaving   chan struct{} // closed when the server is not ready any longer, before draining
	draining  chan struct{} // closed when the server is about to end
	failed    chan error    // holds the error of a listener that cannot accept clients any longer
	work      sync.WaitGroup

	memory       *limit.Memory // memory for messages; nil: no limit
	reading      atomic.Int64  // requests whose bodies are being read
	inFlight     *limit.Quota  // see active
	sessionQuota *limit.Quota  // see active
	listening    *limit.Quota  // see active

	handling sync.RWMutex // held for reading while a request is handled
	closed   bool         // guarded by handling; requests are dropped
}

// New returns a Server for the options. Start serves clients, and Shutdown closes it.
// The error is that of the session store.
func New(o Options) (*Server, error) {
	srv := &Server{
		gateway:      o.Gateway,
		log:          o.Log,
		audit:        o.Audit,
		memory:       o.Gateway.Budget(),
		admission:    newAdmission(o.Gateway, o.Log),
		listeners:    listenerSet{all: map[*Listener]struct{}{}},
		streams:      streamSet{all: map[*clientStream]struct{}{}},
		slow:         httpconn.NewSlowResponses[*exchange](streamAfter),
		inFlight:     limit.NewQuota(0),
		sessionQuota: limit.NewQuota(0),
		listening:    limit.NewQuota(0),
		leaving:      make(chan struct{}),
		draining:     make(chan struct{}),
		failed:       make(chan error, 1),
	}
	srv.legacySSE = &legacySSE{server: srv, clients: map[string]*legacyClient{}}
	settings := srv.activate(o.Settings)
	srv.active.Store(settings)
	store, err := sessionstore.Open(sessionstore.Options{
		Limits: settings.Sessions, Path: o.SessionDir, Log: o.Log, Begin: srv.beginSession, Ended: srv.endSession,
		Quota: srv.sessionQuota, Owner: authn.OwnerOf, Budget: srv.memory,
	})
	if err != nil {
		return nil, err
	}
	srv.sessions = store
	return srv, nil
}

// ServeHTTP answers one request. net/http calls it on a goroutine for each request.
func (srv *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	srv.handling.RLock()
	defer srv.handling.RUnlock()
	defer srv.recoverPanic(w, r)
	if srv.closed {
		return
	}
	l, settings := listenerOf(r), srv.active.Load()
	l.requests.Add(1)
	defer l.requests.Add(-1)
	httpconn.SetTLS(r)
	settings.limitTimes(w, r)
	if l.isDraining() {
		w.Header().Set("Connection", "close")
	}
	switch r.URL.Path {
	case "/healthz", "/livez", "/readyz":
		srv.health(w, r, settings)
	case EndpointPath, EndpointPath + "/":
		srv.endpoint(w, r, settings)
	case "/sse", "/messages":
		if settings.LegacySSE {
			srv.legacySSE.serve(w, r, settings)
			return
		}
		writeError(w, r, http.StatusNotFound, errNotFound)
	default:
		if r.URL.Path == metadataPath || strings.HasPrefix(r.URL.Path, metadataPath+"/") {
			srv.resourceMetadata(w, r, settings)
			return
		}
		writeError(w, r, http.StatusNotFound, errNotFound)
	}
}

// endpoint serves the endpoint of both eras.
func (srv *Server) endpoint(w http.ResponseWriter, r *http.Request, settings *active) {
	setRequestID(w, r)
	p, ok := srv.admission.admit(w, r, settings, "GET, POST, DELETE")
	if !ok {
		return
	}
	switch r.Method {
	case http.MethodPost:
		srv.post(w, r, p, settings)
	case http.MethodGet:
		srv.get(w, r, p, settings)
	case http.MethodDelete:
		srv.deleteSession(w, r, p, settings)
	default:
		notAllowed(w, r, "GET, POST, DELETE")
	}
}

// authenticate returns the principal of a request. A certificate that the client
// presented when it connected must still be accepted.
func authenticate(settings *active, r *http.Request) (authn.Principal, error) {
	l := listenerOf(r)
	if secure := l.secure.Load(); secure != nil && !secure.Accepts(r.TLS) {
		return authn.Principal{}, authn.ErrCertificate
	}
	auth := settings.Auth
	if before := l.retired.Load(); before != nil && auth == nil {
		auth = before.Auth
	}
	if auth == nil {
		return authn.Anonymous(), nil
	}
	return auth.Authenticate(r)
}

// limitTimes starts the time limit for reading the body, if there is one, and
// ends the write deadline of the previous response. net/http also reads the
// rest of a body that the handler did not read, so the limit holds until the
// body was read.
func (a *active) limitTimes(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		httpconn.LimitBody(w, r, time.Now().Add(a.grace()))
	}
	if r.ProtoMajor < 2 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	}
}

func (srv *Server) isDraining() bool { return isClosed(srv.draining) }
