package gateway

import "github.com/junctor-mcp/junctor/host/upstream"

// Restart closes all connections to a server and ends the wait after earlier failures. It
// returns the upstream that all clients share, or nil if there is no such server. The
// connections of single clients are opened again when they need them.
func (g *Gateway) Restart(server string) *upstream.Upstream {
	u := g.generations.current().upstream(server)
	if u != nil {
		u.Restart()
		g.conns.Restart(server)
	}
	return u
}
