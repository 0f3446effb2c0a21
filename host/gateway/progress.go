package gateway

import (
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
)

// progressEvery is the shortest interval between progress notifications of a request.
const progressEvery = 20 * time.Millisecond

// resultAfter is the shortest time between the last progress notification and the result. The
// MCP SDK for TypeScript drops progress that it reads together with the result: it handles
// notifications later than results.
const resultAfter = 5 * time.Millisecond

// A progress forwards the progress notifications of one request. It forwards at most one in progressEvery,
// always the last one, and none after the result. A pendingRequest has one. It may be used concurrently: the
// reader of the server's connection reports, a timer flushes and the goroutine of the request ends it. send is
// set by begin, and gw, too; both are read under mu. send must not wait.
type progress struct {
	mu    sync.Mutex
	token []byte // guarded by mu; the client's
	send  func(params []byte)
	gw    *Gateway    // counts notifications that are dropped; nil: nothing does
	last  time.Time   // guarded by mu; when the last notification was sent
	held  []byte      // guarded by mu; the notification to send next
	timer *time.Timer // guarded by mu
	over  bool        // guarded by mu
}

// progressToken returns the progress token in the params of a request, or nil.
func progressToken(params []byte) []byte {
	token := mcp.Member(params, "_meta", "progressToken")
	if string(token) == "null" {
		return nil
	}
	return token
}

// begin sets the token and the destination of progress. It is called before the first report. gw may be nil.
func (p *progress) begin(gw *Gateway, token []byte, send func(params []byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gw, p.token, p.send = gw, token, send
}

// report takes one notification from the server. It does not wait.
func (p *progress) report(params []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.send == nil { // a request that goes on with one may not want it
		return
	}
	wait := progressEvery - time.Since(p.last)
	switch {
	case wait <= 0 && p.held == nil:
		p.pass(params)
		return
	case p.held == nil && p.timer == nil:
		p.timer = time.AfterFunc(wait, p.flush)
	case p.held == nil:
		p.timer.Reset(wait)
	case p.gw != nil:
		p.gw.count(Progress, "", outcome.Overloaded)
	}
	p.held = params
}

func (p *progress) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sendHeld()
}

// sendHeld sends the held notification. The caller holds mu.
func (p *progress) sendHeld() {
	if p.held != nil && !p.over {
		p.pass(p.held)
	}
	p.held = nil
}

// pass sends a notification under the client's token. The caller holds mu.
func (p *progress) pass(params []byte) {
	p.last = time.Now()
	p.send(mcp.SetMember(mcp.WithoutOwnMeta(params), "progressToken", p.token))
}

// discard drops the held notification and all later ones.
func (p *progress) discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.over = nil, true
}

// end sends the held notification and drops all later ones. It returns when resultAfter has
// passed since the last notification. The goroutine of the request calls it before the answer
// is sent, and blocks for resultAfter at most.
func (p *progress) end() {
	time.Sleep(resultAfter - p.close())
}

// close sends the held notification, drops all later ones, and returns how long ago the last one was sent.
func (p *progress) close() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sendHeld()
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
	return time.Since(p.last)
}
