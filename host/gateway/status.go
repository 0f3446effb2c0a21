package gateway

import (
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// A SessionStatus is a snapshot of a registered session. It is a copy for package host, which makes the status
// of junctor status and the console of it. All of this file may be called concurrently and does not wait.
type SessionStatus struct {
	Program       string // name and version of the client, as it says; empty if unknown
	Principal     authn.Principal
	Revision      mcp.Revision // of a legacy session; empty for a modern client
	Since         time.Time    // when the session began, or was restored from a file
	InFlight      int          // requests being answered
	Subscriptions int
}

// Sessions returns the registered sessions, the oldest first.
func (g *Gateway) Sessions() []SessionStatus {
	var list []SessionStatus
	for _, s := range g.sessions.all() {
		s.mu.Lock()
		list = append(list, SessionStatus{
			Program: s.info, Principal: *s.principal.Load(), Revision: s.revision, Since: s.since,
			InFlight: s.inFlight.count(), Subscriptions: s.subs.Count(),
		})
		s.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b SessionStatus) int { return a.Since.Compare(b.Since) })
	return list
}

// OwnConnections returns the number of connections to a server that are not shared by all clients.
func (g *Gateway) OwnConnections(server string) int { return g.conns.Count(server) }

// Opens returns the connections to a server that are not shared by all clients, in no order.
func (g *Gateway) Opens(server string) []connpool.Open { return g.conns.Opens(server) }

// SuspendedCalls returns the number of calls that wait for their client to answer a question.
func (g *Gateway) SuspendedCalls() int { return g.suspended.count() }

// SchemaCache returns how many lookups of compiled schemas were answered by the cache, and how many were not.
func (g *Gateway) SchemaCache() (hits, misses uint64) { return g.tools.schemas.Counts() }

// maxProgram bounds the name and version of a client in characters.
const maxProgram = 100

// programOf returns the name and version in the clientInfo of initialize.
func programOf(params []byte) string {
	info := mcp.Member(params, "clientInfo")
	name, _ := mcp.TextMember(info, "name")
	version, _ := mcp.TextMember(info, "version")
	return truncate.Runes(strings.TrimSpace(name+" "+version), maxProgram)
}
