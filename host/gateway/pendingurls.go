package gateway

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// rememberPendingURLs takes note of the pages in an error that the client is about to get.
func rememberPendingURLs(r *pendingRequest, rpcErr []byte) {
	if string(mcp.Member(rpcErr, "code")) != fmt.Sprint(mcp.CodeURLElicitation) {
		return
	}
	server := r.serverName()
	for e := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		r.session.pages.Remember(server, e)
	}
}

// onElicitationComplete passes on that the user is done with a page.
func (p *serverPeer) onElicitationComplete(params []byte) {
	id, _ := mcp.TextMember(params, "elicitationId")
	for _, s := range p.audience() {
		if s.legacy() && (p.session != nil || s.client.Sole || s.pages.Take(p.server, id)) {
			s.notify(mcp.NoteElicitDone, params)
		}
	}
}
