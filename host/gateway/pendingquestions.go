package gateway

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// pendingQuestions holds the requests of servers that a client has not answered yet.
type pendingQuestions struct {
	mu   sync.Mutex
	byID map[uint64]*pendingQuestion // guarded by mu
	last uint64                      // guarded by mu; the id of the last question
}

// A pendingQuestion is a request of a server that a client has not answered yet.
type pendingQuestion struct {
	answer chan *mcp.Message
	token  []byte // the server's progress token, nil for none
	server *upstream.Upstream
}

// add records a question and returns its id.
func (p *pendingQuestions) add(q *pendingQuestion) (id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[uint64]*pendingQuestion{}
	}
	p.last++
	p.byID[p.last] = q
	return p.last
}

// withoutNullAnswer returns the answer of a client without members that are null, which
// servers refuse.
func withoutNullAnswer(m *mcp.Message) (result, rpcErr []byte) {
	if m.Names.Nulls() {
		return mcp.WithoutNulls(m.Result), nil
	}
	return m.Result, m.Error
}

func (p *pendingQuestions) remove(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}

// deliver delivers a client's response to the question that it answers.
func (p *pendingQuestions) deliver(m *mcp.Message) {
	n, ok := m.ID.Number()
	if !ok {
		return
	}
	p.mu.Lock()
	q := p.byID[n]
	delete(p.byID, n)
	p.mu.Unlock()
	if q != nil {
		q.answer <- m // the only one: it has space
	}
}

// forwardProgress forwards the client's progress on a question to the server.
func (p *pendingQuestions) forwardProgress(params []byte) {
	n, ok := mcp.ID(mcp.Member(params, "progressToken")).Number()
	if !ok {
		return
	}
	p.mu.Lock()
	q := p.byID[n]
	p.mu.Unlock()
	if q != nil && q.token != nil {
		q.server.Notify(mcp.NoteProgress, mcp.SetMember(params, "progressToken", q.token))
	}
}
