package gateway

import (
	"fmt"
	"slices"

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

// A pendingURL is a page that a server sent the user to.
type pendingURL struct{ server, id string }

// rememberPendingURL takes note of a page that the client is about to be told of.
func (s *Session) rememberPendingURL(server string, elicitation []byte) {
	id, ok := mcp.TextMember(elicitation, "elicitationId")
	if !ok || len(id) > maxElicitationID {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pendingURLs) == maxPendingURLs {
		s.pendingURLs = slices.Delete(s.pendingURLs, 0, 1)
	}
	s.pendingURLs = append(s.pendingURLs, pendingURL{server, id})
}

// rememberPendingURLs takes note of the pages in an error that the client is about to get.
func (r *request) rememberPendingURLs(rpcErr []byte) {
	if string(mcp.Member(rpcErr, "code")) != fmt.Sprint(mcp.CodeURLElicitation) {
		return
	}
	s, server := r.session, r.serverName()
	for e := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		s.rememberPendingURL(server, e)
	}
}

// takePendingURL reports, once, whether the client was told of a page.
func (s *Session) takePendingURL(server, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.pendingURLs, pendingURL{server, id})
	if i < 0 {
		return false
	}
	s.pendingURLs = slices.Delete(s.pendingURLs, i, i+1)
	return true
}

// onElicitationComplete passes on that the user is done with a page.
func (p *serverPeer) onElicitationComplete(params []byte) {
	id, _ := mcp.TextMember(params, "elicitationId")
	for _, s := range p.audience() {
		if s.legacy() && (p.session != nil || s.client.Sole || s.takePendingURL(p.server, id)) {
			s.notify(mcp.NoteElicitDone, params)
		}
	}
}
