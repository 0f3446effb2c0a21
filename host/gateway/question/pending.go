package question

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Pending holds the requests of servers that a client has not answered yet. A gateway.Session
// has one. The zero value is empty. Its methods may be called concurrently and do not wait.
type Pending struct {
	mu   sync.Mutex
	byID map[uint64]*Waiting // guarded by mu
	last uint64              // guarded by mu; the id of the last question
}

// A Waiting is a request of a server that a client has not answered yet. The goroutine of the
// question makes it and reads Answer; Deliver sends at most one message.
type Waiting struct {
	Answer chan *mcp.Message // has space for one
	Token  []byte            // the server's progress token, nil for none
	Server *upstream.Upstream
}

// Add records a question and returns its id.
func (p *Pending) Add(q *Waiting) (id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[uint64]*Waiting{}
	}
	p.last++
	p.byID[p.last] = q
	return p.last
}

// WithoutNulls returns the answer of a client without members that are null, which
// servers refuse.
func WithoutNulls(m *mcp.Message) (result, rpcErr []byte) {
	if m.Names.Nulls() {
		return mcp.WithoutNulls(m.Result), nil
	}
	return m.Result, m.Error
}

// Remove removes a question whose answer is not wanted any longer. The goroutine that called
// Add calls it in any case.
func (p *Pending) Remove(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}

// Deliver delivers a client's response to the question that it answers. The goroutine that
// reads the client's messages calls Deliver and ForwardProgress.
func (p *Pending) Deliver(m *mcp.Message) {
	n, ok := m.ID.Number()
	if !ok {
		return
	}
	p.mu.Lock()
	q := p.byID[n]
	delete(p.byID, n)
	p.mu.Unlock()
	if q != nil {
		q.Answer <- m // the only one: it has space
	}
}

// ForwardProgress forwards the client's progress on a question to the server.
func (p *Pending) ForwardProgress(params []byte) {
	n, ok := mcp.ID(mcp.Member(params, "progressToken")).Number()
	if !ok {
		return
	}
	p.mu.Lock()
	q := p.byID[n]
	p.mu.Unlock()
	if q != nil && q.Token != nil {
		q.Server.Notify(mcp.NoteProgress, mcp.SetMember(params, "progressToken", q.Token))
	}
}
