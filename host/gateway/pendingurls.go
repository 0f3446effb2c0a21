package gateway

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// rememberPendingURLs takes note of the login pages in an error that the client is about to get, so that
// onElicitationComplete reaches only the clients that were sent there. Every pendingRequest has a session.
func rememberPendingURLs(r *pendingRequest, rpcErr []byte) {
	if string(mcp.Member(rpcErr, "code")) != fmt.Sprint(mcp.CodeURLElicitation) {
		return
	}
	server := r.serverName()
	for e := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		r.session.pages.Remember(server, e)
	}
}

// onElicitationComplete passes on that the user is done with a page: to the only client that there is,
// or else to those that were sent to the page, which is forgotten. The reader of the connection to the
// server calls it; it does not wait, because pages has a lock of its own and notify a queue.
func (p *serverPeer) onElicitationComplete(params []byte) {
	id, _ := mcp.TextMember(params, "elicitationId")
	for _, s := range p.audience() {
		if s.legacy() && (p.session != nil || s.client.Sole || s.pages.Take(p.server, id)) {
			s.notify(mcp.NoteElicitDone, params)
		}
	}
}
