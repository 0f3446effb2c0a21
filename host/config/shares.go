package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
)

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

var sharesForm = language.Form{Entries: []language.Entry{
	{Name: "requests", Values: language.Integers(0, mostInFlight), Doc: "Requests in progress. 0 is no limit."},
	{Name: "streams", Values: language.Integers(0, mostSessions), Doc: "Listen streams of modern clients. 0 is no limit."},
	{Name: "sessions", Values: language.Integers(0, mostSessions), Doc: "Sessions. 0 is no limit."},
	{Name: "connections", Values: language.Integers(0, mostConnections), Doc: "Connections to one server that not all clients share. 0 is no limit."},
	{Name: "memory", Values: language.Sizes(leastShare, mostMemory), Doc: "Memory of messages."},
}}

// leastShare is the least share of the memory.
const leastShare = 1 << 20 // bytes

// shares reads the shares of a block, and returns its reader; without a body there is no
// such block.
func (r blockReader) shares(kind string, f *language.Form) (s Shares, b blockReader) {
	b, found := r.block(kind)
	if !found {
		return s, blockReader{}
	}
	b.Check(f)
	number := func(name string, most int) *int {
		if !b.IsSet(name) {
			return nil
		}
		n := b.Integer(name, 0, 0, most)
		return &n
	}
	s.Requests = number("requests", mostInFlight)
	s.Streams = number("streams", mostSessions)
	s.Sessions = number("sessions", mostSessions)
	s.Connections = number("connections", mostConnections)
	if b.IsSet("memory") {
		if n := b.Size("memory", 0, leastShare, mostMemory); n > 0 {
			s.Memory, s.memoryAt = &n, b.ValueAt("memory", b.Head)
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
				l.emptyBlock("limits").ErrorAt(s.memoryAt, "raise it, or lower max_message in the server block",
					`"memory" must be at least the "max_message" of server %q, which is %s`, d.Name, language.SizeText(d.MaxMessage))
				break
			}
		}
	}
}
