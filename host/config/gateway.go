package config

import (
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
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

var gatewayForm = form{
	entries: []entry{
		{name: "max_memory", values: sizes(leastMemory, mostMemory), unset: "`\"512MiB\"`, or four times the largest `max_message`",
			doc: "Memory of the process, also on standard input and output. Half of it is [for messages](gateway.md#memory)."},
		{name: "name", values: texts("at most 64 letters, digits, `.`, `_`, `-`"), unset: "`\"junctor\"`", doc: "The name of the server that clients see, in `serverInfo`."},
		{name: "request_timeout", values: durations(longestRequest), unset: "none",
			doc: "For one request of a client, of any method but `subscriptions/listen`, also on standard input and output. Longer timeouts of servers and tools do not exceed it. The time in which a person is asked does not count. See [Limits](gateway.md#limits)."},
	},
	blocks: map[string]shape{
		"http":   {inner: &httpForm, doc: "The listener for clients over HTTP."},
		"limits": {inner: &limitsForm, doc: "How much clients may call and use."},
	},
}

var httpForm = form{
	entries: []entry{
		{name: "listen", values: texts("`\"HOST:PORT\"`, `\":PORT\"` or `\"unix:PATH\"`"), unset: codeText(defaultListen),
			doc: "`\":PORT\"` is for all addresses, `\"0.0.0.0:PORT\"` for those of IPv4. The path of a socket is relative to the file. Port 0 is any free one."},
		{name: "url", values: texts("a URL"), unset: "from each request",
			doc: "The endpoint as clients see it, behind a proxy: `\"https://mcp.example.com/mcp\"`. Clients of an issuer compare it."},
		{name: "socket_mode", values: words("0600", "0660", "0666"), unset: "`\"0600\"`",
			doc: "Who may connect to a unix socket: `0600` the user, `0660` also the group, `0666` everybody who reaches its directory. The group is the process's, or that of a directory with the set-group-ID bit."},
		{name: "origins", values: textLists("a list of origins"), unset: "none",
			doc: "Web pages that may send requests, besides those at the gateway's own address: exactly `scheme://host` or `scheme://host:port`; never `\"*\"`."},
		{name: "hosts", values: textLists("a list of hosts"), unset: "none",
			doc: "Further values of the `Host` header, with or without a port, such as the public name of a proxy."},
		{name: "proxies", values: textLists("a list of addresses and prefixes"), unset: "none",
			doc: "Proxies in front: `per_ip` counts the client that they name in `X-Forwarded-For`, and not their connections."},
		{name: "max_body", values: sizes(leastBody, mostBody), unset: "`\"1MiB\"`", doc: "The size of a request."},
		{name: "max_in_flight", values: integers(1, mostInFlight), unset: "`500`", doc: "Requests at a time."},
		{name: "legacy_sse", values: booleans, unset: "`false`", doc: "Offers the two endpoints of 2024-11-05."},
		{name: "allow_plaintext", values: booleans, unset: "`false`", doc: "Allows a public address without `tls`, because a proxy in front has TLS."},
	},
	blocks: map[string]shape{
		"timeouts": {inner: &httpTimeoutsForm, doc: "The timeouts of the listener."},
		"per_ip":   {inner: &perIPForm, doc: "Limits one client address. Without the block, loopback is exempt."},
		"sessions": {inner: &sessionsForm, doc: "The sessions of clients."},
		"tls":      {inner: &tlsForm, doc: "TLS, and the certificates of clients."},
		"auth":     {labels: 1, many: true, kinds: clientAuthForms, doc: "Proves the identity of clients by one kind of credential. The first block that recognizes the form of a credential decides."},
	},
}

var (
	httpTimeoutsForm = form{entries: []entry{
		{name: "header", values: durations(maxHTTPTimeout), unset: "`\"10s\"`", doc: "For the header of a request to arrive."},
		{name: "body", values: durations(maxHTTPTimeout), unset: "`\"30s\"`", doc: "For the body of a request to arrive."},
		{name: "send", values: durations(maxHTTPTimeout), unset: "`\"5s\"`", doc: "For a client to take one event."},
		{name: "keepalive", values: durations(maxHTTPTimeout), unset: "`\"15s\"`", doc: "Between comments on a silent stream."},
		{name: "drain", values: durations(maxHTTPTimeout), unset: "`\"10s\"`", doc: "For calls in flight at shutdown, and when a reload replaces the address."},
		{name: "ready_delay", values: durations(maxHTTPTimeout), unset: "none", doc: "At shutdown `/readyz` fails so long before new requests are refused, so that a load balancer sends no more. A second signal ends it."},
	}}
	perIPForm = form{entries: []entry{
		{name: "rate", values: numbers(mostRate), unset: "`60`", doc: "Requests a second. 0 is no limit."},
		{name: "burst", values: integers(1, 2*mostRate), unset: "twice the rate", doc: "Requests at once."},
		{name: "connections", values: integers(0, mostConnections), unset: "`256`", doc: "Open connections. 0 is no limit."},
	}}
	sessionsForm = form{entries: []entry{
		{name: "store", values: words("sqlite", "memory"), unset: "`\"sqlite\"`", doc: "`sqlite` keeps sessions and approvals over a restart, in files for the address at the start. With a random port nothing is kept."},
		{name: "required", values: booleans, unset: "`false`", doc: "Whether the gateway refuses to start if it cannot use the files. Otherwise it starts with `memory` and a warning."},
		{name: "max", values: integers(1, mostSessions), unset: "`1000`", doc: "Sessions at a time."},
		{name: "idle", values: durations(maxSessionIdle), unset: "`\"300s\"`", doc: "How long a session lasts without a request."},
		{name: "life", values: durations(maxSessionLife), unset: "`\"24h\"`", doc: "How long a session lasts in total."},
		{name: "events", values: integers(1, mostEvents), unset: "`10000`", doc: "Events that a session keeps for a client that resumes."},
	}}
	tlsForm = form{entries: []entry{
		{name: "cert", values: texts("a path"), required: true, doc: "The file of the certificate, relative to the file."},
		{name: "key", values: texts("a path"), required: true, doc: "The file of the certificate's key, relative to the file."},
		{name: "client_ca", values: texts("a path"), unset: "none", doc: "The file of the authority whose certificates clients must present."},
		{name: "client_certificate", values: words("required", "optional"), unset: "`\"required\"`", doc: "`optional`: clients without a certificate may connect, and need another credential."},
	}}
)

// gateway reads the gateway block. All files together hold at most one.
func (l *loader) gateway(blocks []*hclsyntax.Block) Gateway {
	s := l.emptyBlock("gateway")
	for i, b := range blocks {
		if i > 0 {
			l.openBlock(b, "").duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
			continue
		}
		s = l.openBlock(b, "")
		s.check(gatewayForm)
	}
	h, given := s.block("http")
	if !given {
		h = l.emptyBlock(s.in)
	}
	g := Gateway{}
	g.MaxMemory, g.memoryAt = s.memory()
	g.MemorySet = g.memoryAt.Filename != ""
	g.Name = readGatewayName(s)
	g.RequestTimeout, g.timeoutAt = s.duration("request_timeout", 0, longestRequest), s.valueAt("request_timeout", s.head)
	g.Limits = s.blockOrEmpty("limits").limits()
	for _, t := range g.Limits.Tools {
		l.rolesUsed = append(l.rolesUsed, t.Roles...)
	}
	before := len(l.problems)
	g.HTTP = h.http(given)
	if l.NoListener {
		kept := slices.DeleteFunc(l.problems[before:], func(p problem) bool { return p.input })
		l.problems = l.problems[:before+len(kept)]
	}
	return g
}

// emptyBlock returns a reader of a block in which everything is unset.
func (l *loader) emptyBlock(in string) blockReader {
	return blockReader{loader: l, home: l.scope, in: in, body: &hclsyntax.Body{}}
}

// blockOrEmpty returns the nested block of a kind, or an empty block.
func (r blockReader) blockOrEmpty(kind string) blockReader {
	if b, found := r.block(kind); found {
		return b
	}
	return r.emptyBlock(r.in)
}

// http reads the http block. given is false if there is none.
func (r blockReader) http(given bool) HTTP {
	r.check(httpForm)
	h := HTTP{
		Given: given, At: startOf(r.head), origin: httpSource{head: r.head, in: r.in},
		SocketMode:  r.socketMode(),
		URL:         r.publicURL(),
		Origins:     r.origins(),
		Hosts:       r.hosts(),
		Proxies:     r.proxies(),
		MaxBody:     r.size("max_body", 1<<20, leastBody, mostBody),
		MaxInFlight: r.integer("max_in_flight", 500, 1, mostInFlight),
		LegacySSE:   r.boolean("legacy_sse", false),
		Plaintext:   r.boolean("allow_plaintext", false),
		Timeouts:    r.blockOrEmpty("timeouts").httpTimeouts(),
		PerIP:       r.perIP(),
		Sessions:    r.blockOrEmpty("sessions").sessions(),
		TLS:         r.tls(),
		Auth:        r.authentication(),
	}
	r.checkCertificates(h)
	h.origin.source = r.byName[r.head.Filename]
	if listen, ok := r.listen(); ok {
		h.Listen = listen
		r.reportExposure(h)
	}
	return h
}

// httpTimeouts reads the timeouts block of an http block.
func (r blockReader) httpTimeouts() HTTPTimeouts {
	r.check(httpTimeoutsForm)
	return HTTPTimeouts{
		Header:    r.duration("header", 10*time.Second, maxHTTPTimeout),
		Body:      r.duration("body", 30*time.Second, maxHTTPTimeout),
		Send:      r.duration("send", 5*time.Second, maxHTTPTimeout),
		Keepalive: r.duration("keepalive", 15*time.Second, maxHTTPTimeout),
		Drain:     r.duration("drain", 10*time.Second, maxHTTPTimeout),

		ReadyDelay: r.duration("ready_delay", 0, maxHTTPTimeout),
	}
}

// perIP reads the per_ip block. It returns nil without one.
func (r blockReader) perIP() *RateLimit {
	b, found := r.block("per_ip")
	if !found {
		return nil
	}
	b.check(perIPForm)
	limit := &RateLimit{Rate: b.number("rate", 60, mostRate), Connections: b.integer("connections", 256, 0, mostConnections)}
	if limit.Rate > 0 {
		limit.Burst = max(1, int(2*limit.Rate))
	}
	limit.Burst = b.integer("burst", limit.Burst, 1, 2*mostRate)
	return limit
}

// sessions reads the sessions block.
func (r blockReader) sessions() SessionRules {
	r.check(sessionsForm)
	rules := SessionRules{
		Store:  r.choice("store", "sqlite", "memory"),
		Max:    r.integer("max", 1000, 1, mostSessions),
		Idle:   r.duration("idle", 300*time.Second, maxSessionIdle),
		Life:   r.duration("life", 24*time.Hour, maxSessionLife),
		Events: r.integer("events", 10_000, 1, mostEvents),
	}
	rules.Required = r.boolean("required", false)
	if rules.Required && rules.Store == "memory" {
		r.errorAt(r.body.Attributes["required"].NameRange, "remove one of them", `"required" is about the files of store = "sqlite"`)
	}
	if rules.Life < rules.Idle && !r.unknown("life") && !r.unknown("idle") {
		r.errorAt(r.valueAt("life", r.valueAt("idle", r.head)), `"life" is how long a session lasts at most, "idle" how long without a request`,
			`a session's "life" of %s is shorter than its "idle" of %s`, shortDuration(rules.Life), shortDuration(rules.Idle))
	}
	return rules
}

// valueAt returns the range of an attribute's value, or unset if the attribute is
// absent.
func (r blockReader) valueAt(name string, unset hcl.Range) hcl.Range {
	if a := r.body.Attributes[name]; a != nil {
		return a.Expr.Range()
	}
	return unset
}

// tls reads the tls block. It returns nil without one.
func (r blockReader) tls() *TLS {
	b, found := r.block("tls")
	if !found {
		return nil
	}
	b.check(tlsForm)
	t := &TLS{Cert: b.path("cert"), Key: b.path("key"), ClientCA: b.path("client_ca"), At: startOf(b.head)}
	t.Optional = b.choice("client_certificate", "required", "optional") == "optional"
	if b.isSet("client_certificate") && !b.isSet("client_ca") {
		b.errorAt(b.body.Attributes["client_certificate"].NameRange, "add client_ca = ... to the block", `"client_certificate" needs "client_ca" beside it`)
	}
	for _, pair := range [][2]string{{"cert", "key"}, {"key", "cert"}, {"client_ca", "cert"}} {
		if b.isSet(pair[0]) && !b.isSet(pair[1]) {
			b.errorAt(b.body.Attributes[pair[0]].NameRange, fmt.Sprintf("add %s = ... to the block", pair[1]), "%q needs %q beside it", pair[0], pair[1])
		}
	}
	if !b.isSet("cert") && !b.isSet("key") && !b.isSet("client_ca") {
		b.reportMissing("cert", b.head)
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
	return r.size("max_memory", defaultMemory, leastMemory, mostMemory), r.valueAt("max_memory", hcl.Range{})
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
			l.emptyBlock("gateway").errorAt(g.memoryAt, "a message may take a quarter of max_memory; raise it, or lower max_message in the server block",
				`"max_memory" must be at least %s for the "max_message" of server %q, which is %s`, sizeText(needed), d.Name, sizeText(d.MaxMessage))
			return
		}
	}
	l.checkShares(g, drafts)
}
