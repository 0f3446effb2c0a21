package config

import "github.com/hashicorp/hcl/v2"

// Shares are a per_tenant or a per_principal block: how much of the limits of the gateway
// one tenant or one principal may use at one time. A nil field is not set, and zero is no
// limit.
type Shares struct {
	Requests    *int `json:",omitempty"` // in progress
	Streams     *int `json:",omitempty"` // listen streams of modern clients
	Sessions    *int `json:",omitempty"`
	Connections *int `json:",omitempty"` // to one server, that not all clients share
	Memory      *int `json:",omitempty"` // for messages, in bytes

	memoryAt hcl.Range
}

var sharesForm = form{entries: []entry{
	{name: "requests", values: integers(0, mostInFlight), doc: "Requests in progress. 0 is no limit."},
	{name: "streams", values: integers(0, mostSessions), doc: "Listen streams of modern clients. 0 is no limit."},
	{name: "sessions", values: integers(0, mostSessions), doc: "Sessions. 0 is no limit."},
	{name: "connections", values: integers(0, mostConnections), doc: "Connections to one server that not all clients share. 0 is no limit."},
	{name: "memory", values: sizes(leastShare, mostMemory), doc: "Memory of messages."},
}}

// leastShare is the least share of the memory.
const leastShare = 1 << 20 // bytes

// shares reads the shares of a block, and returns its reader; without a body there is no
// such block.
func (r blockReader) shares(kind string, f form) (s Shares, b blockReader) {
	b, found := r.block(kind)
	if !found {
		return s, blockReader{}
	}
	b.check(f)
	number := func(name string, most int) *int {
		if !b.isSet(name) {
			return nil
		}
		n := b.integer(name, 0, 0, most)
		return &n
	}
	s.Requests = number("requests", mostInFlight)
	s.Streams = number("streams", mostSessions)
	s.Sessions = number("sessions", mostSessions)
	s.Connections = number("connections", mostConnections)
	if b.isSet("memory") {
		if n := b.size("memory", 0, leastShare, mostMemory); n > 0 {
			s.Memory, s.memoryAt = &n, b.valueAt("memory", b.head)
		}
	}
	return s, b
}

// checkShares compares the shares of the memory with the largest message of every
// server.
func (l *loader) checkShares(g *Gateway, drafts []*draft) {
	for _, s := range []Shares{g.Limits.PerTenant, g.Limits.PerPrincipal} {
		if s.Memory == nil {
			continue
		}
		for _, d := range drafts {
			if d.MaxMessage > *s.Memory {
				l.emptyBlock("limits").errorAt(s.memoryAt, "raise it, or lower max_message in the server block",
					`"memory" must be at least the "max_message" of server %q, which is %s`, d.Name, sizeText(d.MaxMessage))
				break
			}
		}
	}
}
