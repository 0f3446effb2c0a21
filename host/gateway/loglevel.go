package gateway

import (
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// logLevels decides which log messages legacy servers send. A server has one level for
// all requests on a connection: the lowest one that a client of it wants. Clients get
// the messages of their own level.
type logLevels struct {
	gw      *Gateway
	sending sync.Mutex // held while levels are sent, so that the newest level is sent last

	mu       sync.Mutex
	byTenant map[string]string // guarded by mu; the lowest level of modern requests
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

// send sends legacy servers their log levels.
func (l *logLevels) send() {
	l.sending.Lock()
	defer l.sending.Unlock()
	for name, server := range l.gw.generations.current().Servers {
		server.Upstream.SetLevel(l.gw.shared.of(name).lowestLevel())
	}
	for _, c := range l.gw.conns.Owned() {
		if c.Peer.session == nil {
			c.Upstream.SetLevel(c.Peer.lowestLevel())
		}
	}
}

// lowest returns the lowest level that modern requests on a connection asked for; empty
// for none.
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

// lowestLevel returns the level that lets through what any client of a
// connection wants; empty when none of them set one.
func (p *serverPeer) lowestLevel() string {
	lowest := p.gw.levels.lowest(p)
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

// lowerLevel reports whether a lets more messages through than b, or there is
// no b.
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
