package config

import (
	"io/fs"
	"net/url"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A Gateway is the gateway block, or the defaults without a block. Package host makes the options of
// host/gateway and host/httpserver from it; neither sees this type.
type Gateway struct {
	// MaxMemory is a soft limit on the memory of the process, in bytes.
	MaxMemory int `hcl:"max_memory" format:"size" default:"512MiB" min:"128MiB" max:"999999MiB" unset:"'\"512MiB\"', or four times the largest 'max_message'" doc:"Memory of the process, also on standard input and output. Half of it is [for messages](gateway.md#memory)."`
	// MemorySet is true if MaxMemory is configured.
	MemorySet bool   `json:",omitempty"`
	HTTP      HTTP   // declared below
	Limits    Limits `hcl:"limits,block" doc:"How much clients may call and use." json:",omitzero"`
	Layer     int    `json:",omitempty"` // as Server.Layer
	Name      string `hcl:"name" accepts:"at most 64 letters, digits, '.', '_', '-'" unset:"'\"junctor\"'" doc:"The name of the server that clients see, in 'serverInfo'." json:",omitempty"`

	RequestTimeout time.Duration `hcl:"request_timeout" unset:"none" max:"1h" doc:"For one request of a client, of any method but 'subscriptions/listen', also on standard input and output. Longer timeouts of servers and tools do not exceed it. The time in which a person is asked does not count. See [Limits](gateway.md#limits)." json:",omitempty"`

	_ HTTP `hcl:"http,block" doc:"The listener for clients over HTTP."` // the loader reads it

	memoryAt  hcl.Range // empty: not set
	timeoutAt hcl.Range // of RequestTimeout
}

// HTTP configures the listener for clients over HTTP.
type HTTP struct {
	Given bool // the configuration has an http block
	At    source.Position
	// Listen is "host:port", or "unix:" and an absolute path.
	Listen     string      `hcl:"listen" default:"127.0.0.1:7575" accepts:"'\"HOST:PORT\"', '\":PORT\"' or '\"unix:PATH\"'" doc:"'\":PORT\"' is for all addresses, '\"0.0.0.0:PORT\"' for those of IPv4. The path of a socket is relative to the file. Port 0 is any free one."`
	URL        string      `hcl:"url" accepts:"a URL" unset:"from each request" doc:"The endpoint as clients see it, behind a proxy: '\"https://mcp.example.com/mcp\"'. Clients of an issuer compare it." json:",omitempty"`
	SocketMode fs.FileMode `hcl:"socket_mode" words:"0600,0660,0666" doc:"Who may connect to a unix socket: '0600' the user, '0660' also the group, '0666' everybody who reaches its directory. The group is the process's, or that of a directory with the set-group-ID bit."`

	// Origins are as browsers send them.
	Origins []string `hcl:"origins" accepts:"a list of origins" unset:"none" doc:"Web pages that may send requests, besides those at the gateway's own address: exactly 'scheme://host' or 'scheme://host:port'; never '\"*\"'."`
	// Hosts are in lower case.
	Hosts   []string         `hcl:"hosts" accepts:"a list of hosts" unset:"none" doc:"Further values of the 'Host' header, with or without a port, such as the public name of a proxy."`
	Proxies inbound.Prefixes `hcl:"proxies" accepts:"a list of addresses and prefixes" unset:"none" doc:"Proxies in front: 'per_ip' counts the client that they name in 'X-Forwarded-For', and not their connections." json:",omitempty"`

	// MaxBody is in bytes.
	MaxBody     int  `hcl:"max_body" format:"size" default:"1MiB" min:"1KiB" max:"16MiB" doc:"The size of a request."`
	MaxInFlight int  `hcl:"max_in_flight" default:"500" min:"1" max:"100000" doc:"Requests at a time."`
	LegacySSE   bool `hcl:"legacy_sse" doc:"Offers the two endpoints of 2024-11-05."`
	Plaintext   bool `hcl:"allow_plaintext" doc:"Allows a public address without 'tls', because a proxy in front has TLS."`

	Timeouts HTTPTimeouts `hcl:"timeouts,block" doc:"The timeouts of the listener."`
	// PerIP is nil for the defaults, which are not for loopback addresses.
	PerIP    *RateLimit               `hcl:"per_ip,block" doc:"Limits one client address. Without the block, loopback is exempt."`
	Sessions SessionRules             `hcl:"sessions,block" doc:"The sessions of clients."`
	TLS      *TLS                     `hcl:"tls,block" doc:"TLS, and the certificates of clients."` // nil: none
	Auth     []inbound.Authentication // declared below

	// The loader reads the block.
	_ []inbound.Authentication `hcl:"auth,block" doc:"Proves the identity of clients by one kind of credential. The first block that recognizes the form of a credential decides."`

	origin httpSource // for the diagnostics of WithAddress
}

// HTTPTimeouts are the timeouts of the listener.
type HTTPTimeouts struct {
	Header     time.Duration `hcl:"header" default:"10s" max:"10m" doc:"For the header of a request to arrive."`
	Body       time.Duration `hcl:"body" default:"30s" max:"10m" doc:"For the body of a request to arrive."`
	Send       time.Duration `hcl:"send" default:"5s" max:"10m" doc:"For a client to take one event."`
	Keepalive  time.Duration `hcl:"keepalive" default:"15s" max:"10m" doc:"Between comments on a silent stream."`
	Drain      time.Duration `hcl:"drain" default:"10s" max:"10m" doc:"For calls in flight at shutdown, and when a reload replaces the address."`
	ReadyDelay time.Duration `hcl:"ready_delay" unset:"none" max:"10m" doc:"At shutdown '/readyz' fails so long before new requests are refused, so that a load balancer sends no more. A second signal ends it." json:",omitempty"`
}

// A RateLimit limits one client address. Zero is no limit.
type RateLimit struct {
	Rate        float64 `hcl:"rate" default:"60" max:"1000000" doc:"Requests a second. 0 is no limit."`
	Burst       int     `hcl:"burst" unset:"twice the rate" min:"1" max:"2000000" doc:"Requests at once."`
	Connections int     `hcl:"connections" default:"256" min:"0" max:"100000" doc:"Open connections. 0 is no limit."`
}

// Validate implements [language.Validator].
func (l *RateLimit) Validate(language.Reader) {
	if l.Burst == 0 {
		l.Burst = twice(l.Rate)
	}
}

// twice returns the burst for a rate: 0 for no limit.
func twice(rate float64) int {
	if rate <= 0 {
		return 0
	}
	return max(1, int(2*rate))
}

// SessionRules bound the sessions of clients.
type SessionRules struct {
	Store    string        `hcl:"store" words:"disk,memory" doc:"'disk' keeps sessions and approvals over a restart, in files for the address at the start. With a random port nothing is kept."`
	Required bool          `hcl:"required" doc:"Whether the gateway refuses to start if it cannot use the files. Otherwise it starts with 'memory' and a warning." json:",omitempty"`
	Max      int           `hcl:"max" default:"1000" min:"1" max:"100000" doc:"Sessions at a time."`
	Idle     time.Duration `hcl:"idle" default:"300s" max:"24h" doc:"How long a session lasts without a request."`
	Life     time.Duration `hcl:"life" default:"24h" max:"30d" doc:"How long a session lasts in total."`
	Events   int           `hcl:"events" default:"10000" min:"1" max:"1000000" doc:"Events that a session keeps for a client that resumes."`
}

// Validate implements [language.Validator].
func (s *SessionRules) Validate(r language.Reader) {
	if s.Required && s.Store == "memory" {
		r.ErrorAt(r.NameAt("required"), "remove one of them", `"required" is about the files of store = "disk"`)
	}
	if s.Life < s.Idle && !r.IsSkipped("life") && !r.IsSkipped("idle") {
		r.ErrorAt(r.ValueAt("life", r.ValueAt("idle", r.Head)),
			`"life" is how long a session lasts at most, "idle" how long without a request`,
			`a session's "life" of %s is shorter than its "idle" of %s`,
			language.ShortDuration(s.Life), language.ShortDuration(s.Idle))
	}
}

// TLS has the absolute paths of the files of a listener with TLS. With a ClientCA,
// clients must present a certificate of that authority, or may if it is optional.
type TLS struct {
	Cert     string `hcl:"cert" format:"path" required:"rule" requires:"key" doc:"The file of the certificate, relative to the file."`
	Key      string `hcl:"key" format:"path" required:"rule" requires:"cert" doc:"The file of the certificate's key, relative to the file."`
	ClientCA string `hcl:"client_ca" format:"path" unset:"none" requires:"cert" doc:"The file of the authority whose certificates clients must present."`
	Optional bool   `hcl:"client_certificate" words:"required,optional" requires:"client_ca" doc:"'optional': clients without a certificate may connect, and need another credential." json:",omitempty"`
	At       source.Position
}

// Validate implements [language.Validator].
func (t *TLS) Validate(r language.Reader) {
	t.At = source.StartOf(r.Head)
	if !r.IsSet("cert") && !r.IsSet("key") && !r.IsSet("client_ca") {
		r.ReportMissing("cert", r.Head)
	}
}

// readGateway reads the gateway block of a layer, whose files together hold at most one. Without
// listens it does not report inputs of gateway.http that fail.
func readGateway(of *scope, used inbound.RoleUse, listens bool) (g Gateway) {
	r, found := of.only(of.top["gateway"])
	if !found {
		r = of.empty("gateway")
	}
	language.Decode(r.Reader, &g)
	for _, t := range g.Limits.Tools {
		used.Roles = append(used.Roles, t.Roles...)
	}
	h, given := r.block("http")
	if !given {
		h = of.empty(r.In)
	}
	files := of.ev.Files
	before := files.Count()
	g.HTTP = readHTTP(h, used, given)
	if !listens {
		kept := slices.DeleteFunc(files.Since(before), func(p language.Problem) bool { return p.Input })
		files.Forget(before + len(kept))
	}
	return g
}

// Validate implements [language.Validator].
func (g *Gateway) Validate(r language.Reader) {
	g.memoryAt, g.timeoutAt = r.ValueAt("max_memory", hcl.Range{}), r.ValueAt("request_timeout", r.Head)
	g.MemorySet = g.memoryAt.Filename != ""
	if r.IsRead("name") && !gatewayName.MatchString(g.Name) {
		r.ErrorAt(r.ValueAt("name", r.Head), `write a name such as "acme-tools"`,
			`"name" must be at most 64 letters, digits, ".", "_" and "-"%s`, language.GotText(g.Name, false))
	}
}

// readHTTP reads the http block. given is false if there is none.
func readHTTP(r blockReader, used inbound.RoleUse, given bool) (h HTTP) {
	language.Decode(r.Reader, &h)
	h.Given, h.origin = given, httpSource{head: r.Head, in: r.In, source: r.of.ev.Files.File(r.Head.Filename)}
	h.Auth = inbound.Read(r.Reader, used)
	checkCertificates(r, h)
	listen, ok := readListen(r)
	h.Listen = listen
	if ok {
		reportExposure(r, h)
	}
	return h
}

// Validate implements [language.Validator].
func (h *HTTP) Validate(r language.Reader) {
	h.At = source.StartOf(r.Head)
	h.Hosts = checkHosts(r, "hosts", h.Hosts)
	if len(h.Origins) == 0 {
		h.Origins = nil
	}
	for i, text := range h.Origins {
		if why, hint := originProblem(text); why != "" {
			r.ErrorAt(r.ItemAt("origins", i), hint, "an origin %s", why)
		}
	}
	if r.IsRead("url") && !isEndpoint(h.URL) {
		r.ErrorAt(r.ValueAt("url", r.Head), `write the URL that clients use, such as "https://mcp.example.com/mcp"`,
			`"url" must begin with https:// or http:// and have a host, without a user, a query and a fragment`)
	}
}

// isEndpoint reports whether a text can be the URL of the endpoint as clients see it.
func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == "" && len(text) <= maxShownAddress
}

// messagePart is the ratio of max_memory to the largest message. Messages may take half of
// max_memory, and those of one client half of that.
const messagePart = 4

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
			l.layers[0].empty("gateway").ErrorAt(g.memoryAt,
				"a message may take a quarter of max_memory; raise it, or lower max_message in the server block",
				`"max_memory" must be at least %s for the "max_message" of server %q, which is %s`,
				language.SizeText(needed), d.Name, language.SizeText(d.MaxMessage))
			return
		}
	}
	l.checkShares(g, drafts)
}

// checkCertificates reports auth "certificate" blocks of a listener that asks clients for
// no certificate.
func checkCertificates(r blockReader, h HTTP) {
	if h.TLS != nil && h.TLS.ClientCA != "" {
		return
	}
	for _, b := range r.Labelled("auth") {
		if b.Labels[0] == "certificate" {
			r.ErrorAt(r.nested(b).Head, "write tls { cert, key, client_ca } with the authority of the certificates",
				`auth "certificate" needs tls { client_ca }`)
		}
	}
}
