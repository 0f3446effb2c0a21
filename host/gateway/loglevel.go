package gateway

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// logLevels decides which log messages legacy servers send, and which are logged. A server has one level for
// all requests on a connection: the lowest one that a client of it or the log wants. Clients get the messages
// of their own level. The Gateway has one. Its methods may be called concurrently; lower and send take the mu
// of sessions, so no caller may hold one. changed is written under mu.
type logLevels struct {
	gw      *Gateway
	sending sync.Mutex // held while levels are sent, so that the newest level is sent last

	mu       sync.Mutex
	byTenant map[string]string // guarded by mu; the lowest level of modern requests

	// changed has levels of the log by server, in place of Server.Level; nil: none. The map
	// is replaced as a whole, because each call reads it.
	changed atomic.Pointer[map[string]string]
}

// ofLog returns the lowest level of a server's messages that are logged; empty for all.
// changed is true if SetServerLevel set it.
func (l *logLevels) ofLog(server string) (level string, changed bool) {
	if level, changed = l.setBy(server); !changed {
		level = l.gw.generations.current().Servers[server].Level
	}
	return level, changed
}

// setBy returns the level that SetServerLevel set for a server, if it did.
func (l *logLevels) setBy(server string) (level string, changed bool) {
	if all := l.changed.Load(); all != nil {
		level, changed = (*all)[server]
	}
	return level, changed
}

// SetServerLevel sets the lowest level of a server's messages that are logged, in place of
// the configured one, until the process ends. Servers are asked for it.
func (g *Gateway) SetServerLevel(server, level string) {
	g.levels.mu.Lock()
	all := map[string]string{server: level}
	if before := g.levels.changed.Load(); before != nil {
		all = maps.Clone(*before)
		all[server] = level
	}
	g.levels.changed.Store(&all)
	g.levels.mu.Unlock()
	g.levels.send()
}

// ServerLevel returns the lowest level of a server's messages that are logged; empty for all.
func (g *Gateway) ServerLevel(server string) string {
	level, _ := g.levels.ofLog(server)
	return level
}

// lower records the log level of a modern request of a tenant.
func (l *logLevels) lower(tenant, level string) {
	l.mu.Lock()
	lower := lowerLevel(level, l.byTenant[tenant])
	if lower {
		l.byTenant[tenant] = level
	}
	l.mu.Unlock()
	if lower {
		l.send()
	}
}

// send sends legacy servers their log levels. It does not wait for servers: a connection sends
// its level on its own.
func (l *logLevels) send() {
	l.sending.Lock()
	defer l.sending.Unlock()
	for name, server := range l.gw.generations.current().Servers {
		server.Upstream.SetLevel(l.gw.shared.of(name).lowestLevel())
	}
	for _, c := range l.gw.conns.Owned() {
		c.Upstream.SetLevel(c.Peer.lowestLevel())
	}
}

// lowest returns the lowest level that modern requests on a connection asked for; empty for none.
func (l *logLevels) lowest(p *serverPeer) (lowest string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for tenant, level := range l.byTenant {
		if (p.shared || tenant == p.tenant) && lowerLevel(level, lowest) {
			lowest = level
		}
	}
	return lowest
}

// withLog returns the lower one of a level and that of the log for a server.
func (l *logLevels) withLog(server, level string) string {
	if own, _ := l.ofLog(server); lowerLevel(own, level) {
		return own
	}
	return level
}

// lowestLevel returns the level that lets through what the log and any client of a
// connection want; empty when none of them set one.
func (p *serverPeer) lowestLevel() string {
	if s := p.session; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return p.gw.levels.withLog(p.server, s.level)
	}
	lowest := p.gw.levels.withLog(p.server, p.gw.levels.lowest(p))
	if p.callers.several() && lowerLevel(defaultLevel, lowest) {
		lowest = defaultLevel
	}
	for _, s := range p.audience() {
		s.mu.Lock()
		if lowerLevel(s.level, lowest) {
			lowest = s.level
		}
		s.mu.Unlock()
	}
	return lowest
}

// lowerLevel reports whether a lets more messages through than b, or there is no b.
func lowerLevel(a, b string) bool {
	return a != "" && (b == "" || slices.Index(mcp.Levels, a) < slices.Index(mcp.Levels, b))
}

// atLeast reports whether a log message is at least as severe as level.
func atLeast(params []byte, level string) bool {
	said, _ := mcp.TextMember(params, "level")
	return slices.Index(mcp.Levels, said) >= slices.Index(mcp.Levels, level)
}

func hclogLevel(level string) hclog.Level {
	switch i := slices.Index(mcp.Levels, level); {
	case i >= slices.Index(mcp.Levels, "error"):
		return hclog.Warn // an error of the server is a warning of Junctor
	case i >= slices.Index(mcp.Levels, "info"):
		return hclog.Info
	default:
		return hclog.Debug
	}
}
