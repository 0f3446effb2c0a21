package config

import (
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// A Gateway is the gateway block, or the defaults without a block.
type Gateway struct {
	MaxMemory int  // soft limit on the memory of the process, in bytes
	MemorySet bool `json:",omitempty"` // MaxMemory is configured
	HTTP      HTTP
	Limits    Limits `json:",omitzero"`
	Layer     int    `json:",omitempty"` // as Server.Layer
	Name      string `json:",omitempty"` // that clients see; empty: that of Junctor

	RequestTimeout time.Duration `json:",omitempty"` // of a whole request of a client; 0: none

	memoryAt  hcl.Range // empty: not set
	timeoutAt hcl.Range // of RequestTimeout
}

// HTTP configures the listener for clients over HTTP.
type HTTP struct {
	Given      bool // the configuration has an http block
	At         Position
	Listen     string      // "host:port", or "unix:" and an absolute path
	URL        string      `json:",omitempty"` // of the endpoint as clients see it; empty: as each request says
	SocketMode fs.FileMode // of a unix socket

	Origins []string       // allowed origins of requests, each exactly as browsers send it
	Proxies []netip.Prefix `json:",omitempty"` // whose X-Forwarded-For counts for PerIP
	Hosts   []string       // allowed Host headers beyond the address itself: lower case, with or without a port

	MaxBody     int // of a request, in bytes
	MaxInFlight int // requests at a time
	LegacySSE   bool
	Plaintext   bool // allows a public address without TLS, behind a proxy with TLS

	Timeouts HTTPTimeouts
	PerIP    *RateLimit // nil: Rate 60, Burst 120, Connections 256, not for loopback addresses
	Sessions SessionRules
	TLS      *TLS // nil: none
	Auth     []Authentication

	origin httpSource // for the diagnostics of WithAddress
}

// HTTPTimeouts are the timeouts of the listener.
type HTTPTimeouts struct {
	Header, Body time.Duration // for reading a request
	Send         time.Duration // for writing one event to a client
	Keepalive    time.Duration // between comments on a stream without events
	Drain        time.Duration // for calls in flight at shutdown
	ReadyDelay   time.Duration `json:",omitempty"` // between not ready and the end of new requests, at shutdown
}

// A RateLimit limits one client address. Zero is no limit.
type RateLimit struct {
	Rate        float64 // requests per second
	Burst       int     // requests at once
	Connections int     // open connections
}

// SessionRules bound the sessions of clients.
type SessionRules struct {
	Store      string // "sqlite" or "memory"
	Required   bool   `json:",omitempty"` // refuse to start without the files
	Max        int
	Idle, Life time.Duration
	Events     int // kept for each session, for clients that reconnect
}

// TLS has the absolute paths of the files of a listener with TLS. With a ClientCA,
// clients must present a certificate of that authority, or may if it is optional.
type TLS struct {
	Cert, Key, ClientCA string
	Optional            bool `json:",omitempty"`
	At                  Position
}

const (
	defaultListen = "127.0.0.1:7575"

	leastBody = 1 << 10 // bytes
	mostBody  = 16 << 20

	maxHTTPTimeout = 600 * time.Second
	maxSessionIdle = 86_400 * time.Second
	maxSessionLife = 30 * 24 * time.Hour

	mostInFlight = 100_000
	mostSessions = 100_000
	mostEvents   = 1_000_000
	mostRate     = 1_000_000

	mostConnections = 100_000
)

var gatewayForm = language.Form{
	Entries: []language.Entry{
		{Name: "max_memory", Values: language.Sizes(leastMemory, mostMemory), Unset: "`\"512MiB\"`, or four times the largest `max_message`",
			Doc: "Memory of the process, also on standard input and output. Half of it is [for messages](gateway.md#memory)."},
		{Name: "name", Values: language.Texts("at most 64 letters, digits, `.`, `_`, `-`"), Unset: "`\"junctor\"`", Doc: "The name of the server that clients see, in `serverInfo`."},
		{Name: "request_timeout", Values: language.Durations(longestRequest), Unset: "none",
			Doc: "For one request of a client, of any method but `subscriptions/listen`, also on standard input and output. Longer timeouts of servers and tools do not exceed it. The time in which a person is asked does not count. See [Limits](gateway.md#limits)."},
	},
	Blocks: map[string]language.Shape{
		"http":   {Body: &httpForm, Doc: "The listener for clients over HTTP."},
		"limits": {Body: &limitsForm, Doc: "How much clients may call and use."},
	},
}

var httpForm = language.Form{
	Entries: []language.Entry{
		{Name: "listen", Values: language.Texts("`\"HOST:PORT\"`, `\":PORT\"` or `\"unix:PATH\"`"), Unset: language.CodeText(defaultListen),
			Doc: "`\":PORT\"` is for all addresses, `\"0.0.0.0:PORT\"` for those of IPv4. The path of a socket is relative to the file. Port 0 is any free one."},
		{Name: "url", Values: language.Texts("a URL"), Unset: "from each request",
			Doc: "The endpoint as clients see it, behind a proxy: `\"https://mcp.example.com/mcp\"`. Clients of an issuer compare it."},
		{Name: "socket_mode", Values: language.Words("0600", "0660", "0666"), Unset: "`\"0600\"`",
			Doc: "Who may connect to a unix socket: `0600` the user, `0660` also the group, `0666` everybody who reaches its directory. The group is the process's, or that of a directory with the set-group-ID bit."},
		{Name: "origins", Values: language.TextLists("a list of origins"), Unset: "none",
			Doc: "Web pages that may send requests, besides those at the gateway's own address: exactly `scheme://host` or `scheme://host:port`; never `\"*\"`."},
		{Name: "hosts", Values: language.TextLists("a list of hosts"), Unset: "none",
			Doc: "Further values of the `Host` header, with or without a port, such as the public name of a proxy."},
		{Name: "proxies", Values: language.TextLists("a list of addresses and prefixes"), Unset: "none",
			Doc: "Proxies in front: `per_ip` counts the client that they name in `X-Forwarded-For`, and not their connections."},
		{Name: "max_body", Values: language.Sizes(leastBody, mostBody), Unset: "`\"1MiB\"`", Doc: "The size of a request."},
		{Name: "max_in_flight", Values: language.Integers(1, mostInFlight), Unset: "`500`", Doc: "Requests at a time."},
		{Name: "legacy_sse", Values: language.Booleans, Unset: "`false`", Doc: "Offers the two endpoints of 2024-11-05."},
		{Name: "allow_plaintext", Values: language.Booleans, Unset: "`false`", Doc: "Allows a public address without `tls`, because a proxy in front has TLS."},
	},
	Blocks: map[string]language.Shape{
		"timeouts": {Body: &httpTimeoutsForm, Doc: "The timeouts of the listener."},
		"per_ip":   {Body: &perIPForm, Doc: "Limits one client address. Without the block, loopback is exempt."},
		"sessions": {Body: &sessionsForm, Doc: "The sessions of clients."},
		"tls":      {Body: &tlsForm, Doc: "TLS, and the certificates of clients."},
		"auth":     {Labels: 1, Many: true, Kinds: clientAuthForms, Doc: "Proves the identity of clients by one kind of credential. The first block that recognizes the form of a credential decides."},
	},
}

var (
	httpTimeoutsForm = language.Form{Entries: []language.Entry{
		{Name: "header", Values: language.Durations(maxHTTPTimeout), Unset: "`\"10s\"`", Doc: "For the header of a request to arrive."},
		{Name: "body", Values: language.Durations(maxHTTPTimeout), Unset: "`\"30s\"`", Doc: "For the body of a request to arrive."},
		{Name: "send", Values: language.Durations(maxHTTPTimeout), Unset: "`\"5s\"`", Doc: "For a client to take one event."},
		{Name: "keepalive", Values: language.Durations(maxHTTPTimeout), Unset: "`\"15s\"`", Doc: "Between comments on a silent stream."},
		{Name: "drain", Values: language.Durations(maxHTTPTimeout), Unset: "`\"10s\"`", Doc: "For calls in flight at shutdown, and when a reload replaces the address."},
		{Name: "ready_delay", Values: language.Durations(maxHTTPTimeout), Unset: "none", Doc: "At shutdown `/readyz` fails so long before new requests are refused, so that a load balancer sends no more. A second signal ends it."},
	}}
	perIPForm = language.Form{Entries: []language.Entry{
		{Name: "rate", Values: language.Numbers(mostRate), Unset: "`60`", Doc: "Requests a second. 0 is no limit."},
		{Name: "burst", Values: language.Integers(1, 2*mostRate), Unset: "twice the rate", Doc: "Requests at once."},
		{Name: "connections", Values: language.Integers(0, mostConnections), Unset: "`256`", Doc: "Open connections. 0 is no limit."},
	}}
	sessionsForm = language.Form{Entries: []language.Entry{
		{Name: "store", Values: language.Words("sqlite", "memory"), Unset: "`\"sqlite\"`", Doc: "`sqlite` keeps sessions and approvals over a restart, in files for the address at the start. With a random port nothing is kept."},
		{Name: "required", Values: language.Booleans, Unset: "`false`", Doc: "Whether the gateway refuses to start if it cannot use the files. Otherwise it starts with `memory` and a warning."},
		{Name: "max", Values: language.Integers(1, mostSessions), Unset: "`1000`", Doc: "Sessions at a time."},
		{Name: "idle", Values: language.Durations(maxSessionIdle), Unset: "`\"300s\"`", Doc: "How long a session lasts without a request."},
		{Name: "life", Values: language.Durations(maxSessionLife), Unset: "`\"24h\"`", Doc: "How long a session lasts in total."},
		{Name: "events", Values: language.Integers(1, mostEvents), Unset: "`10000`", Doc: "Events that a session keeps for a client that resumes."},
	}}
	tlsForm = language.Form{Entries: []language.Entry{
		{Name: "cert", Values: language.Texts("a path"), Required: true, Doc: "The file of the certificate, relative to the file."},
		{Name: "key", Values: language.Texts("a path"), Required: true, Doc: "The file of the certificate's key, relative to the file."},
		{Name: "client_ca", Values: language.Texts("a path"), Unset: "none", Doc: "The file of the authority whose certificates clients must present."},
		{Name: "client_certificate", Values: language.Words("required", "optional"), Unset: "`\"required\"`", Doc: "`optional`: clients without a certificate may connect, and need another credential."},
	}}
)

// gateway reads the gateway block. All files together hold at most one.
func (l *loader) gateway(blocks []*hclsyntax.Block) Gateway {
	s := l.emptyBlock("gateway")
	for i, b := range blocks {
		if i > 0 {
			l.openBlock(b, "").Duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
			continue
		}
		s = l.openBlock(b, "")
		s.Check(&gatewayForm)
	}
	h, given := s.block("http")
	if !given {
		h = l.emptyBlock(s.In)
	}
	g := Gateway{}
	g.MaxMemory, g.memoryAt = s.memory()
	g.MemorySet = g.memoryAt.Filename != ""
	g.Name = readGatewayName(s)
	g.RequestTimeout, g.timeoutAt = s.Duration("request_timeout", 0, longestRequest), s.ValueAt("request_timeout", s.Head)
	g.Limits = s.blockOrEmpty("limits").limits()
	for _, t := range g.Limits.Tools {
		l.rolesUsed = append(l.rolesUsed, t.Roles...)
	}
	before := len(l.problems)
	g.HTTP = h.http(given)
	if l.NoListener {
		kept := slices.DeleteFunc(l.problems[before:], func(p language.Problem) bool { return p.Input })
		l.problems = l.problems[:before+len(kept)]
	}
	return g
}

// emptyBlock returns a reader of a block in which everything is unset.
func (l *loader) emptyBlock(in string) blockReader {
	return l.reader(language.Reader{In: in, Body: &hclsyntax.Body{}}, l.scope, cty.NilVal)
}

// blockOrEmpty returns the nested block of a kind, or an empty block.
func (r blockReader) blockOrEmpty(kind string) blockReader {
	if b, found := r.block(kind); found {
		return b
	}
	return r.emptyBlock(r.In)
}

// http reads the http block. given is false if there is none.
func (r blockReader) http(given bool) HTTP {
	r.Check(&httpForm)
	h := HTTP{
		Given: given, At: startOf(r.Head), origin: httpSource{head: r.Head, in: r.In},
		SocketMode:  r.socketMode(),
		URL:         r.publicURL(),
		Origins:     r.origins(),
		Hosts:       r.hosts(),
		Proxies:     r.proxies(),
		MaxBody:     r.Size("max_body", 1<<20, leastBody, mostBody),
		MaxInFlight: r.Integer("max_in_flight", 500, 1, mostInFlight),
		LegacySSE:   r.Boolean("legacy_sse", false),
		Plaintext:   r.Boolean("allow_plaintext", false),
		Timeouts:    r.blockOrEmpty("timeouts").httpTimeouts(),
		PerIP:       r.perIP(),
		Sessions:    r.blockOrEmpty("sessions").sessions(),
		TLS:         r.tls(),
		Auth:        r.authentication(),
	}
	r.checkCertificates(h)
	h.origin.source = r.byName[r.Head.Filename]
	if listen, ok := r.listen(); ok {
		h.Listen = listen
		r.reportExposure(h)
	}
	return h
}

// httpTimeouts reads the timeouts block of an http block.
func (r blockReader) httpTimeouts() HTTPTimeouts {
	r.Check(&httpTimeoutsForm)
	return HTTPTimeouts{
		Header:    r.Duration("header", 10*time.Second, maxHTTPTimeout),
		Body:      r.Duration("body", 30*time.Second, maxHTTPTimeout),
		Send:      r.Duration("send", 5*time.Second, maxHTTPTimeout),
		Keepalive: r.Duration("keepalive", 15*time.Second, maxHTTPTimeout),
		Drain:     r.Duration("drain", 10*time.Second, maxHTTPTimeout),

		ReadyDelay: r.Duration("ready_delay", 0, maxHTTPTimeout),
	}
}

// perIP reads the per_ip block. It returns nil without one.
func (r blockReader) perIP() *RateLimit {
	b, found := r.block("per_ip")
	if !found {
		return nil
	}
	b.Check(&perIPForm)
	limit := &RateLimit{Rate: b.Number("rate", 60, mostRate), Connections: b.Integer("connections", 256, 0, mostConnections)}
	if limit.Rate > 0 {
		limit.Burst = max(1, int(2*limit.Rate))
	}
	limit.Burst = b.Integer("burst", limit.Burst, 1, 2*mostRate)
	return limit
}

// sessions reads the sessions block.
func (r blockReader) sessions() SessionRules {
	r.Check(&sessionsForm)
	rules := SessionRules{
		Store:  r.Choice("store", "sqlite", "memory"),
		Max:    r.Integer("max", 1000, 1, mostSessions),
		Idle:   r.Duration("idle", 300*time.Second, maxSessionIdle),
		Life:   r.Duration("life", 24*time.Hour, maxSessionLife),
		Events: r.Integer("events", 10_000, 1, mostEvents),
	}
	rules.Required = r.Boolean("required", false)
	if rules.Required && rules.Store == "memory" {
		r.ErrorAt(r.Body.Attributes["required"].NameRange, "remove one of them", `"required" is about the files of store = "sqlite"`)
	}
	if rules.Life < rules.Idle && !r.unknown("life") && !r.unknown("idle") {
		r.ErrorAt(r.ValueAt("life", r.ValueAt("idle", r.Head)), `"life" is how long a session lasts at most, "idle" how long without a request`,
			`a session's "life" of %s is shorter than its "idle" of %s`, language.ShortDuration(rules.Life), language.ShortDuration(rules.Idle))
	}
	return rules
}

// tls reads the tls block. It returns nil without one.
func (r blockReader) tls() *TLS {
	b, found := r.block("tls")
	if !found {
		return nil
	}
	b.Check(&tlsForm)
	t := &TLS{Cert: b.Path("cert"), Key: b.Path("key"), ClientCA: b.Path("client_ca"), At: startOf(b.Head)}
	t.Optional = b.Choice("client_certificate", "required", "optional") == "optional"
	if b.IsSet("client_certificate") && !b.IsSet("client_ca") {
		b.ErrorAt(b.Body.Attributes["client_certificate"].NameRange, "add client_ca = ... to the block", `"client_certificate" needs "client_ca" beside it`)
	}
	for _, pair := range [][2]string{{"cert", "key"}, {"key", "cert"}, {"client_ca", "cert"}} {
		if b.IsSet(pair[0]) && !b.IsSet(pair[1]) {
			b.ErrorAt(b.Body.Attributes[pair[0]].NameRange, fmt.Sprintf("add %s = ... to the block", pair[1]), "%q needs %q beside it", pair[0], pair[1])
		}
	}
	if !b.IsSet("cert") && !b.IsSet("key") && !b.IsSet("client_ca") {
		b.ReportMissing("cert", b.Head)
	}
	return t
}

const (
	defaultMemory = 512 << 20 // bytes
	leastMemory   = 128 << 20
	mostMemory    = 999_999 << 20

	// messagePart is the ratio of max_memory to the largest message. Messages may
	// take half of max_memory, and those of one client half of that.
	messagePart = 4
)

// memory reads max_memory. set is its range, or empty for the default.
func (r blockReader) memory() (bytes int, set hcl.Range) {
	return r.Size("max_memory", defaultMemory, leastMemory, mostMemory), r.ValueAt("max_memory", hcl.Range{})
}

// checkMemory compares max_memory with the largest message of every server. It
// raises the default, and reports a configured value that is too small.
func (l *loader) checkMemory(g *Gateway, drafts []*draft) {
	for _, d := range drafts {
		needed := messagePart * d.MaxMessage
		switch {
		case needed <= g.MaxMemory:
		case g.memoryAt.Filename == "":
			g.MaxMemory = needed
		default:
			l.emptyBlock("gateway").ErrorAt(g.memoryAt, "a message may take a quarter of max_memory; raise it, or lower max_message in the server block",
				`"max_memory" must be at least %s for the "max_message" of server %q, which is %s`, language.SizeText(needed), d.Name, language.SizeText(d.MaxMessage))
			return
		}
	}
	l.checkShares(g, drafts)
}
