package httpserver

import (
	"net/netip"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// Settings are the options of a Server that may change while it serves. They are
// immutable.
type Settings struct {
	// Auth authenticates clients. Nil accepts every client as authn.Anonymous.
	Auth authn.Authenticator
	// MultiplePrincipals means that there may be more than one principal. Each
	// may use at most half of every limit then.
	MultiplePrincipals bool

	URL     string   // of the endpoint as clients see it; empty: as each request says
	Issuers []string // of tokens; the metadata of the endpoint names them

	Origins []string // allowed origins of web pages, in the form of the Origin header
	Hosts   []string // allowed Host headers besides the address itself, with or without a port

	MaxBody     int // bytes per request
	MaxInFlight int // requests in progress
	LegacySSE   bool
	PerAddress  Rate // requests of one address; zero: no limit
	Connections int  // of one address; zero: no limit
	Loopback    bool // apply both limits to addresses of this machine too
	// Proxies are the addresses of proxies in front of the gateway. A request of one
	// counts for the client that it names in X-Forwarded-For, and its connections are not
	// limited.
	Proxies []netip.Prefix

	Header, Body time.Duration // for the head and the body of a request
	Send         time.Duration // for a client to take an event
	Keepalive    time.Duration // between comments on a stream without events
	Drain        time.Duration // for requests in flight when the server or a listener ends

	Sessions sessionstore.Limits // except Each
}

// active is the settings in effect with the quotas that follow from them. It is
// immutable. A request loads it once, and uses it to its end.
type active struct {
	Settings
	inFlight       requestQuota // requests in progress
	legacySessions requestQuota // sessions over HTTP+SSE; the session store counts the others
	listening      requestQuota // subscriptions/listen requests of modern clients
}

// Apply makes settings the ones in effect. New requests use them; requests in progress
// keep the earlier ones. Streams end whose credentials are not accepted any longer.
// Only one goroutine at a time may call Apply.
func (srv *Server) Apply(s Settings) {
	settings := srv.activate(s)
	srv.active.Store(settings)
	srv.sessions.SetLimits(settings.sessionLimits())
	for _, l := range srv.allListeners() {
		l.conns.SetLimits(settings.connLimits())
	}
	srv.endRefusedStreams(settings)
}

// activate returns settings with the server's quotas, which it resizes.
func (srv *Server) activate(s Settings) *active {
	resize := func(q *limit.Quota, max int, kind, attribute string) requestQuota {
		q.Resize(int64(max), s.MultiplePrincipals)
		return newRequestQuota(q, max, kind, attribute)
	}
	settings := &active{
		Settings:       s,
		inFlight:       resize(srv.inFlight, s.MaxInFlight, "concurrency", "max_in_flight"),
		listening:      resize(srv.listening, s.Sessions.Max, "listener", "sessions.max"),
		legacySessions: resize(srv.legacySessions, s.Sessions.Max, "session", "sessions.max"),
	}
	settings.legacySessions.full.modern = 0 // modern clients have no sessions
	if s.MultiplePrincipals {
		srv.gateway.SharePerPrincipal()
	}
	return settings
}

// sessionLimits returns the limits of the session store.
func (a *active) sessionLimits() sessionstore.Limits {
	limits := a.Sessions
	limits.Each = int(a.legacySessions.Each())
	return limits
}

// connLimits returns the limits of connections.
func (a *active) connLimits() httpconn.Limits {
	return httpconn.Limits{Header: a.Header, Body: a.grace(), Idle: idleTimeout, Send: a.Send, PerAddress: a.Connections}
}

// grace returns the time that every body has to arrive.
func (a *active) grace() time.Duration { return min(bodyGrace, a.Body) }
