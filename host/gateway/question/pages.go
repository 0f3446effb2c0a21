package question

import (
	"slices"
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A server reports the end of a URL elicitation by the id of the question. On a
// connection that clients share, only the client that was asked is notified.

const (
	// maxPages bounds the pages of a session that the user may not be done with;
	// the oldest is forgotten first.
	maxPages = 100
	// maxElicitationID bounds an id that is remembered, in bytes.
	maxElicitationID = 1 << 10
)

// Pages holds the pages that servers sent the user of a client to. A gateway.Session has one.
// The zero value is empty. Its methods may be called concurrently and do not wait.
type Pages struct {
	mu  sync.Mutex
	all []page // guarded by mu; the oldest first
}

// A page is a page that a server sent the user to.
type page struct{ server, id string }

// Remember takes note of a page that the client is about to be told of.
func (p *Pages) Remember(server string, elicitation []byte) {
	id, ok := mcp.TextMember(elicitation, "elicitationId")
	if !ok || len(id) > maxElicitationID {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) == maxPages {
		p.all = slices.Delete(p.all, 0, 1)
	}
	p.all = append(p.all, page{server, id})
}

// Take reports, once, whether the client was told of a page.
func (p *Pages) Take(server, id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.all, page{server, id})
	if i < 0 {
		return false
	}
	p.all = slices.Delete(p.all, i, i+1)
	return true
}
