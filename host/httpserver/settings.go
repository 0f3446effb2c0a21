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
// immutable. Package host makes them of the configuration for New and Apply.
type Settings struct {
	// Auth authenticates clients. Nil accepts every client as authn.Anonymous.
	Auth authn.Authenticator
	Keys []func() bool // of each issuer of tokens: whether its keys can be used
	// OnlyKeys is set if no client can authenticate without one of Keys.
	OnlyKeys bool
	Shares   Shares

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
	ReadyDelay   time.Duration // between not ready and the refusal of new requests, when the server ends

	Sessions sessionstore.Limits // except Shares
}

// Shares are the shares of tenants and principals in the limits of a Server.
type Shares struct {
	Requests limit.Shares // of MaxInFlight
	Streams  limit.Shares // of Sessions.Max, for the listen streams of modern clients
	Sessions limit.Shares // of Sessions.Max
}

// active is the settings in effect with the quotas that follow from them. It is
// immutable. A request loads it once, and uses it to its end.
type active struct {
	Settings
	inFlight  requestQuota // requests in progress
	sessions  requestQuota // sessions over HTTP+SSE and those of the session store
	listening requestQuota // subscriptions/listen requests of modern clients
}

// Apply makes settings the ones in effect. New requests use them; requests in progress
// keep the earlier ones. Streams end whose credentials are not accepted any longer.
// Only one goroutine at a time may call Apply.
func (srv *Server) Apply(s Settings) {
	settings := srv.activate(s)
	srv.active.Store(settings)
	srv.sessions.SetLimits(settings.Sessions)
	for _, l := range srv.listeners.list() {
		l.conns.SetLimits(settings.connLimits())
	}
	srv.endRefusedStreams(settings)
}

// activate returns settings with the server's quotas, which it resizes. New and Apply call it.
// The quotas themselves stay, so that units in use count on.
func (srv *Server) activate(s Settings) *active {
	s.Sessions.Shares = s.Shares.Sessions
	resize := func(q *limit.Quota, max int, shares limit.Shares, kind, attribute, share string) requestQuota {
		q.Resize(int64(max), shares)
		return newRequestQuota(q, max, shares, kind, attribute, share)
	}
	settings := &active{
		Settings:  s,
		inFlight:  resize(srv.inFlight, s.MaxInFlight, s.Shares.Requests, "concurrency", "max_in_flight", "requests"),
		listening: resize(srv.listening, s.Sessions.Max, s.Shares.Streams, "listener", "sessions.max", "streams"),
		sessions:  resize(srv.sessionQuota, s.Sessions.Max, s.Shares.Sessions, "session", "sessions.max", "sessions"),
	}
	settings.sessions.full.modern = 0 // modern clients have no sessions
	return settings
}

// Uses returns what principals use of the limits with shares.
func (srv *Server) Uses() (requests, streams, sessions []limit.Use) {
	return srv.inFlight.Uses(), srv.listening.Uses(), srv.sessionQuota.Uses()
}

// connLimits returns the limits of connections.
func (a *active) connLimits() httpconn.Limits {
	return httpconn.Limits{Header: a.Header, Body: a.grace(), Idle: idleTimeout, Send: a.Send,
		PerAddress: a.Connections}
}

// grace returns the time that every body has to arrive.
func (a *active) grace() time.Duration { return min(bodyGrace, a.Body) }
