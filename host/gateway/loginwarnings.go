package gateway

import (
	"maps"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A server that needs a login cannot be used. Clients that call it get the command to
// run. The log contains the command once.

// logLoginNeeded reports whether an error asks for a login to a server, and logs that
// once.
func (g *Gateway) logLoginNeeded(server string, err error) bool {
	if !fault.Is(err, fault.UpstreamLogin) {
		return false
	}
	f := fault.As(err)
	key := loginKey(server) + f.Hint
	g.mu.Lock()
	warned := g.warned[key]
	if !warned {
		g.recordWarning(key)
	}
	g.mu.Unlock()
	if !warned {
		g.opts.Log.Warn("a server needs a login", "server", server, "error", err, "hint", f.Hint)
	}
	return true
}

// loginKey returns the prefix of the warning keys about a login to a server.
func loginKey(server string) string { return "login\x00" + server + "\x00" }

// forgetLoginWarnings forgets the warnings about a login to a server that has connected, so that a
// later login is logged again.
func (g *Gateway) forgetLoginWarnings(server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.warned, func(key string, _ bool) bool { return strings.HasPrefix(key, loginKey(server)) })
}

// Retry ends the backoff of all connections to a server. Use it when the cause of the
// failure has changed, such as after a login.
func (g *Gateway) Retry(server string) {
	if u := g.generations.current().upstream(server); u != nil {
		u.Retry()
	}
	g.conns.Retry(server)
}
