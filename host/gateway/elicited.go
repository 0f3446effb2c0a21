package gateway

import (
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A server says when the user is done with a page, by the id of the question
// that the page was in. Over a connection that clients share only the one who was
// asked hears of it: the id is nobody else's business.

const (
	// mostPages bounds the pages of a session that the user may not be done with;
	// the oldest is forgotten first.
	mostPages = 100
	// maxPage bounds an id that is remembered, in bytes.
	maxPage = 1 << 10
)

// A pageOf is a page that a server sent the user to.
type pageOf struct{ server, id string }

// sent takes note of a page that the client is about to be told of.
func (s *Session) sent(server string, elicitation []byte) {
	id, ok := mcp.TextMember(elicitation, "elicitationId")
	if !ok || len(id) > maxPage {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.visits) == mostPages {
		s.visits = slices.Delete(s.visits, 0, 1)
	}
	s.visits = append(s.visits, pageOf{server, id})
}

// sentAll takes note of the pages in an error that the client is about to get.
func (r *request) sentAll(rpcErr []byte) {
	if string(mcp.Member(rpcErr, "code")) != fmt.Sprint(mcp.CodeVisit) {
		return
	}
	s := r.session
	s.mu.Lock()
	server := r.server
	s.mu.Unlock()
	for e := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		s.sent(server, e)
	}
}

// wasSent reports, once, whether the client was told of a page.
func (s *Session) wasSent(server, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.visits, pageOf{server, id})
	if i < 0 {
		return false
	}
	s.visits = slices.Delete(s.visits, i, i+1)
	return true
}

// done passes on that the user is done with a page.
func (l *line) done(params []byte) {
	id, _ := mcp.TextMember(params, "elicitationId")
	for _, s := range l.audience() {
		if s.legacy() && (l.session != nil || s.client.Sole || s.wasSent(l.server, id)) {
			s.tell(mcp.NoteElicitDone, params)
		}
	}
}
