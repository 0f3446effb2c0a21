package upstream

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// Limits of what is kept about unmatched responses.
const (
	keptUnmatched = 4   // different responses for each connection
	unmatchedID   = 40  // bytes of an id
	unmatchedText = 300 // bytes of the message of an error
)

// unmatched keeps the responses of one connection that match no request. Such a response
// may be meant for a request that gets no other, so the error of that request names it.
// The zero value is empty. A conn has one. It may be used concurrently.
type unmatched struct {
	mu     sync.Mutex
	total  int     // guarded by mu
	newest []stray // guarded by mu; different responses, oldest first
}

// A stray is one kept response.
type stray struct {
	text string
	at   int // the value of total after its newest occurrence
}

// addID adds a response with an id that no request had, and returns a text about it.
// isNew is false if the text is among the kept ones.
func (u *unmatched) addID(id mcp.ID) (text string, isNew bool) {
	text = "a response with the unknown id " + truncate.Bytes(string(id), unmatchedID)
	return text, u.add(text)
}

// addError is addID for an error without an id.
func (u *unmatched) addError(rpcError []byte) (text string, isNew bool) {
	text = "an error without an id: " + errorText(rpcError)
	return text, u.add(text)
}

func (u *unmatched) add(text string) (isNew bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	kept := len(u.newest)
	u.newest = slices.DeleteFunc(u.newest, func(s stray) bool { return s.text == text })
	isNew = len(u.newest) == kept
	u.total++
	u.newest = append(u.newest, stray{text, u.total})
	u.newest = u.newest[max(0, len(u.newest)-keptUnmatched):]
	return isNew
}

// count returns the number of responses so far.
func (u *unmatched) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.total
}

// since describes the responses after the first n, or returns "" if there are none.
func (u *unmatched) since(n int) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var texts []string
	for _, s := range u.newest {
		if s.at > n {
			texts = append(texts, s.text)
		}
	}
	switch count := u.total - n; {
	case count <= 0:
		return ""
	case count == 1:
		return "the server sent 1 response that matches no request: " + texts[0]
	default:
		return fmt.Sprintf("the server sent %d responses that match no request, such as %s",
			count, strings.Join(texts, "; "))
	}
}

// explain adds the responses after the first n to the error of a request that got no
// response. It leaves f unchanged if there are none.
func (u *unmatched) explain(f *fault.Error, n int) *fault.Error {
	strays := u.since(n)
	if strays == "" {
		return f
	}
	copied := *f
	copied.Message += "; " + strays
	return copied.WithHint("%s: a response must have the id of its request", authorHint)
}

// errorText returns the message and the code of a JSON-RPC error, on one line.
func errorText(rpcError []byte) string {
	var e struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if mcp.Decode(rpcError, &e) != nil || e.Message == "" {
		return truncate.Bytes(string(rpcError), unmatchedText)
	}
	return fmt.Sprintf("%s (%d)", truncate.Bytes(strings.Join(strings.Fields(e.Message), " "), unmatchedText), e.Code)
}

// explainEnd is unmatched.explain for a request whose context ended, if that was a
// timeout.
func (c *conn) explainEnd(err error, p *pending) error {
	if f := fault.As(err); f.Code == fault.CallTimeout {
		return c.unmatched.explain(f, p.unmatched)
	}
	return err
}

// handleUnmatched handles a response whose id is not that of a request in flight. The methods
// of dispatcher in this file run on the reading goroutine.
func (d *dispatcher) handleUnmatched(m *mcp.Message) {
	d.conn.ignored.Add(1)
	switch {
	case m.Error != nil && (m.ID == nil || m.ID.Null()):
		d.handleErrorWithoutID(m.Error)
		return
	case d.conn.table.issued(m.ID): // a duplicate, or too late
		return
	}
	text, isNew := d.conn.unmatched.addID(m.ID)
	d.logUnmatched(text, isNew)
	d.suspect(fault.New(fault.UpstreamBadMessage, "the server sent %s", text).WithHint(authorHint))
}

// errorGrace is how long the only request in flight waits after an error without an id. The
// server may have sent the error before it read the request.
const errorGrace = 100 * time.Millisecond

// answerSoon answers a request with an error, unless its own response arrives first.
func (d *dispatcher) answerSoon(p *pending, rpcError []byte) {
	if !p.suspected.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(errorGrace, func() {
		if d.conn.table.take(p) {
			p.answer <- answer{reply: &Reply{Error: rpcError}}
		}
	})
}

// handleErrorWithoutID makes an error the answer to the only request in flight, which it is
// about. It may also be about a notification: then the request keeps suspectGrace, or all of
// its time if the server just does not know the method.
func (d *dispatcher) handleErrorWithoutID(rpcError []byte) {
	text, isNew := d.conn.unmatched.addError(rpcError)
	d.logUnmatched(text, isNew)
	p := d.conn.table.soleRequest()
	switch {
	case p == nil || !p.sent.Load():
	case !d.conn.table.excuses():
		d.answerSoon(p, bytes.Clone(rpcError))
	case !isMethodNotFound(rpcError):
		d.suspect(fault.New(fault.UpstreamBadMessage, "the server sent %s", text).WithHint(authorHint))
	}
}

func (d *dispatcher) logUnmatched(text string, isNew bool) {
	if isNew {
		d.conn.up.opts.Lines.Log(hclog.Warn, d.conn.up.opts.Name, "a message of the server matches no request",
			"message", text)
	}
}

func isMethodNotFound(rpcError []byte) bool {
	var code int
	return mcp.Decode(mcp.Member(rpcError, "code"), &code) == nil && code == mcp.CodeMethodNotFound
}

// suspectGrace is how long the only request in flight waits after a response with an
// unknown id. The server may have sent it by mistake and may still answer.
const suspectGrace = 5 * time.Second

// suspect fails the only request in flight after suspectGrace. The response that had an
// unknown id was probably meant for it.
func (d *dispatcher) suspect(err error) {
	if p := d.conn.table.soleRequest(); p != nil && p.suspected.CompareAndSwap(false, true) {
		time.AfterFunc(suspectGrace, func() { d.failPending(p, err) })
	}
}

// failPending fails a request unless it has been answered.
func (d *dispatcher) failPending(p *pending, err error) {
	if p != nil && d.conn.table.take(p) {
		p.answer <- answer{err: err}
	}
}
