package gateway

import (
	"fmt"
	"slices"
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A server reports the end of a URL elicitation by the id of the question. On a
// connection that clients share, only the client that was asked is notified.

const (
	// maxPendingURLs bounds the pages of a session that the user may not be done with;
	// the oldest is forgotten first.
	maxPendingURLs = 100
	// maxElicitationID bounds an id that is remembered, in bytes.
	maxElicitationID = 1 << 10
)

// pendingURLs holds the pages that servers sent the user of a client to.
type pendingURLs struct {
	mu  sync.Mutex
	all []pendingURL // guarded by mu; the oldest first
}

// A pendingURL is a page that a server sent the user to.
type pendingURL struct{ server, id string }

// remember takes note of a page that the client is about to be told of.
func (p *pendingURLs) remember(server string, elicitation []byte) {
	id, ok := mcp.TextMember(elicitation, "elicitationId")
	if !ok || len(id) > maxElicitationID {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) == maxPendingURLs {
		p.all = slices.Delete(p.all, 0, 1)
	}
	p.all = append(p.all, pendingURL{server, id})
}

// take reports, once, whether the client was told of a page.
func (p *pendingURLs) take(server, id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.all, pendingURL{server, id})
	if i < 0 {
		return false
	}
	p.all = slices.Delete(p.all, i, i+1)
	return true
}

// rememberPendingURLs takes note of the pages in an error that the client is about to get.
func rememberPendingURLs(r *pendingRequest, rpcErr []byte) {
	if string(mcp.Member(rpcErr, "code")) != fmt.Sprint(mcp.CodeURLElicitation) {
		return
	}
	server := r.serverName()
	for e := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		r.session.pendingURLs.remember(server, e)
	}
}

// onElicitationComplete passes on that the user is done with a page.
func (p *serverPeer) onElicitationComplete(params []byte) {
	id, _ := mcp.TextMember(params, "elicitationId")
	for _, s := range p.audience() {
		if s.legacy() && (p.session != nil || s.client.Sole || s.pendingURLs.take(p.server, id)) {
			s.notify(mcp.NoteElicitDone, params)
		}
	}
}
