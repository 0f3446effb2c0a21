package config

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A Gateway says how clients reach what the servers offer, other than by
// standard input and output. Without a block it holds the defaults.
type Gateway struct {
	MaxMemory int // bytes that the process should take at most
	HTTP      HTTP

	memoryAt hcl.Range // empty: not set
}

// HTTP is what listens for clients over HTTP.
type HTTP struct {
	Given      bool // there is an http block
	At         Position
	Listen     string      // "host:port", or "unix:" and an absolute path
	SocketMode fs.FileMode // of a unix socket: who may connect

	Origins []string // that a request may have, each exactly as browsers send it
	Hosts   []string // in lower case, with or without a port: what the Host header may say beyond the address itself

	MaxBody     int // of a request, in bytes
	MaxInFlight int // requests at a time
	LegacySSE   bool
	Plaintext   bool // something in front of a public address has TLS

	Timeouts HTTPTimeouts
	PerIP    *RateLimit // nil: 60, 120 and 256 for addresses that are not loopback
	Sessions SessionRules
	TLS      *TLS // nil: none
	Auth     []Authentication

	origin httpOrigin // for On
}

// HTTPTimeouts bound what a client can keep waiting.
type HTTPTimeouts struct {
	Header, Body time.Duration // for a request to arrive
	Send         time.Duration // for a client to take one event
	Keepalive    time.Duration // between comments on a stream without events
	Drain        time.Duration // for calls in flight, once the gateway is asked to end
}

// A RateLimit is how much one address may ask: Rate requests a second, and
// Burst at once, on so many Connections. A Rate of 0 is no limit, and so are 0
// Connections.
type RateLimit struct {
	Rate        float64
	Burst       int
	Connections int
}

// SessionRules bound the sessions of clients that have them.
type SessionRules struct {
	Store      string // "memory" or "sqlite"
	Max        int
	Idle, Life time.Duration
	Events     int // that a session keeps for a client that comes back
}

// TLS names the files of a listener with TLS, by absolute paths. With a
// ClientCA only clients with a certificate of that authority are let in.
type TLS struct {
	Cert, Key, ClientCA string
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

var gatewayForm = form{attributes: []string{"max_memory"}, blocks: map[string]shape{"http": {}}}

var httpForm = form{
	attributes: []string{"listen", "socket_mode", "origins", "hosts", "max_body", "max_in_flight", "legacy_sse", "allow_plaintext"},
	blocks: map[string]shape{
		"timeouts": {}, "per_ip": {}, "sessions": {}, "tls": {}, "auth": {labels: 1, many: true},
	},
}

// gateway reads the gateway block, of which all files together hold one.
func (l *loader) gateway(blocks []*hclsyntax.Block) Gateway {
	s := l.absent("gateway")
	for i, b := range blocks {
		if i > 0 {
			l.section(b, "").twice(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
			continue
		}
		s = l.section(b, "")
		s.check(gatewayForm)
	}
	h, given := s.block("http")
	if !given {
		h = l.absent(s.in)
	}
	g := Gateway{}
	g.MaxMemory, g.memoryAt = s.memory()
	g.HTTP = h.http(given)
	return g
}

// absent stands for a block that does not: everything in it is unset.
func (l *loader) absent(in string) blockReader {
	return blockReader{loader: l, in: in, body: &hclsyntax.Body{}}
}

// optional opens a nested block that need not stand.
func (s blockReader) optional(kind string) blockReader {
	if b, found := s.block(kind); found {
		return b
	}
	return s.absent(s.in)
}

// http reads an http block.
func (s blockReader) http(given bool) HTTP {
	s.check(httpForm)
	h := HTTP{
		Given: given, At: startOf(s.head), origin: httpOrigin{head: s.head, in: s.in},
		SocketMode:  s.socketMode(),
		Origins:     s.origins(),
		Hosts:       s.hosts(),
		MaxBody:     s.size("max_body", 1<<20, leastBody, mostBody),
		MaxInFlight: s.whole("max_in_flight", 500, 1, mostInFlight),
		LegacySSE:   s.flag("legacy_sse", false),
		Plaintext:   s.flag("allow_plaintext", false),
		Timeouts:    s.optional("timeouts").httpTimeouts(),
		PerIP:       s.perIP(),
		Sessions:    s.optional("sessions").sessions(),
		TLS:         s.tls(),
		Auth:        s.authentication(),
	}
	h.origin.source = s.byName[s.head.Filename]
	if listen, ok := s.listen(); ok {
		h.Listen = listen
		s.exposed(h)
	}
	return h
}

func (s blockReader) httpTimeouts() HTTPTimeouts {
	s.check(form{attributes: []string{"header", "body", "send", "keepalive", "drain"}})
	return HTTPTimeouts{
		Header:    s.duration("header", 10*time.Second, maxHTTPTimeout),
		Body:      s.duration("body", 30*time.Second, maxHTTPTimeout),
		Send:      s.duration("send", 5*time.Second, maxHTTPTimeout),
		Keepalive: s.duration("keepalive", 15*time.Second, maxHTTPTimeout),
		Drain:     s.duration("drain", 10*time.Second, maxHTTPTimeout),
	}
}

func (s blockReader) perIP() *RateLimit {
	b, found := s.block("per_ip")
	if !found {
		return nil
	}
	b.check(form{attributes: []string{"rate", "burst", "connections"}})
	r := &RateLimit{Rate: b.number("rate", 60, mostRate), Connections: b.whole("connections", 256, 0, mostConnections)}
	if r.Rate > 0 {
		r.Burst = max(1, int(2*r.Rate))
	}
	r.Burst = b.whole("burst", r.Burst, 1, 2*mostRate)
	return r
}

func (s blockReader) sessions() SessionRules {
	s.check(form{attributes: []string{"store", "max", "idle", "life", "events"}})
	r := SessionRules{
		Store:  s.choice("store", "memory", "sqlite"),
		Max:    s.whole("max", 1000, 1, mostSessions),
		Idle:   s.duration("idle", 300*time.Second, maxSessionIdle),
		Life:   s.duration("life", 24*time.Hour, maxSessionLife),
		Events: s.whole("events", 10_000, 1, mostEvents),
	}
	if r.Life < r.Idle {
		s.wrong(s.valueAt("life", s.valueAt("idle", s.head)), `"life" is how long a session lasts at most, "idle" how long without a request`,
			`a session's "life" of %s is shorter than its "idle" of %s`, short(r.Life), short(r.Idle))
	}
	return r
}

// valueAt is where an attribute's value stands, or what is given for one that
// is not set.
func (s blockReader) valueAt(name string, unset hcl.Range) hcl.Range {
	if a := s.body.Attributes[name]; a != nil {
		return a.Expr.Range()
	}
	return unset
}

// tls reads a tls block. A nil one is one that does not stand.
func (s blockReader) tls() *TLS {
	b, found := s.block("tls")
	if !found {
		return nil
	}
	b.check(form{attributes: []string{"cert", "key", "client_ca"}})
	t := &TLS{Cert: b.path("cert"), Key: b.path("key"), ClientCA: b.path("client_ca"), At: startOf(b.head)}
	for _, pair := range [][2]string{{"cert", "key"}, {"key", "cert"}, {"client_ca", "cert"}} {
		if b.stands(pair[0]) && !b.stands(pair[1]) {
			b.wrong(b.body.Attributes[pair[0]].NameRange, fmt.Sprintf("write %s = ... in it", pair[1]), "%q needs %q beside it", pair[0], pair[1])
		}
	}
	if !b.stands("cert") && !b.stands("key") && !b.stands("client_ca") {
		b.missing("cert", b.head)
	}
	return t
}
