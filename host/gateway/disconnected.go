package gateway

import (
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Disconnected is a server that an operator has disconnected. It is not one of the servers
// of its generation. Package host makes it for a generation; it does not change then.
type Disconnected struct {
	Prefix string
	Names  map[string]string // of its tools and prompts, as clients know them, to its own; empty: they are not known
}

// own returns the server's own name of an item.
func (d Disconnected) own(exposed string) (name string, ok bool) {
	if len(d.Names) > 0 {
		name, ok = d.Names[exposed]
		return name, ok
	}
	prefix, name, _ := strings.Cut(exposed, "__")
	return name, d.Prefix != "" && prefix == d.Prefix
}

// disconnectedServer returns the error of an item of a server that is disconnected, for
// clients that could use it otherwise; nil: it is not one.
func disconnectedServer(u *use, kind policy.Kind, exposed string) error {
	for server, d := range u.generation.Disconnected {
		name, ok := d.own(exposed)
		if ok &&
			(u.seesAll ||
				u.generation.lists(&u.principal, u, policy.Item{Server: server, Kind: kind, Name: name}, nil)) {
			u.failing = server
			return fault.In(server, fault.New(fault.UpstreamDisconnected, "an operator has disconnected the server").
				WithHint("ask the operator of the gateway to run `junctor connect %s`", server))
		}
	}
	return nil
}
