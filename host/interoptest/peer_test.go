package interoptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"
)

// An object is a JSON object that a test writes.
type object = map[string]any

// A message is a message that a peer received.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`

	raw string
	at  int // number of earlier messages
}

// An rpcError is the part of an error that tests check.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// failure returns the error of the message.
func (m message) failure(t testing.TB) rpcError {
	t.Helper()
	if m.Error == nil {
		t.Fatalf("an error was expected: %s", clip(m.raw))
	}
	var e rpcError
	decode(t, m.Error, &e)
	return e
}

// into decodes the result of the message.
func (m message) into(t testing.TB, v any) {
	t.Helper()
	if m.Result == nil {
		t.Fatalf("a result was expected: %s", clip(m.raw))
	}
	decode(t, m.Result, v)
}

// text returns the text of a tool's result.
func (m message) text(t testing.TB) string {
	t.Helper()
	var r struct {
		Content []struct{ Type, Text string }
	}
	m.into(t, &r)
	if len(r.Content) == 0 {
		t.Fatalf("content was expected: %s", clip(m.raw))
	}
	return r.Content[0].Text
}

func decode(t testing.TB, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%v: %s", err, clip(string(raw)))
	}
}

// A peer is the client's end of a conversation, in bytes. It keeps the received
// messages in order.
type peer struct {
	t       *testing.T
	out     io.Writer
	dialect dialect

	mu      sync.Mutex
	heard   []message     // guarded by mu
	over    bool          // guarded by mu; the other side has closed
	changed chan struct{} // guarded by mu; closed and replaced with heard
	last    int           // guarded by mu; last request id
	answers map[string]func(params json.RawMessage) string
	writing sync.Mutex
}

// newPeer returns a peer of a process. It is not initialized.
func newPeer(t *testing.T, p *process, d dialect) *peer {
	peer := &peer{t: t, out: p.stdin, dialect: d, changed: make(chan struct{}),
		answers: map[string]func(json.RawMessage) string{}}
	p.work.Go(func() { peer.listen(p.stdout) })
	return peer
}

// listen reads messages of the other side.
func (p *peer) listen(r io.Reader) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			p.hear(string(line[:len(line)-1]))
		}
		if err != nil {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *peer) hear(line string) {
	m := message{raw: line}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		p.t.Errorf("standard output has a line that is not a message: %s", clip(line))
		return
	}
	p.mu.Lock()
	m.at = len(p.heard)
	p.heard = append(p.heard, m)
	close(p.changed)
	p.changed = make(chan struct{})
	answer := p.answers[m.Method]
	p.mu.Unlock()
	if m.Method != "" && m.ID != nil && answer != nil {
		// The id comes first, because the answer may have any form.
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer(m.Params)))
	}
}

// on answers requests of the other side. f returns the member with the answer,
// such as `"result":{}`.
func (p *peer) on(method string, f func(params json.RawMessage) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[method] = f
}

// send writes one line.
func (p *peer) send(line string) {
	p.writing.Lock()
	defer p.writing.Unlock()
	// After an error the process has ended, which a waiting test notices.
	_, _ = io.WriteString(p.out, line+"\n")
}

// begin sends a request and returns its id.
func (p *peer) begin(method string, params object) string {
	p.t.Helper()
	p.mu.Lock()
	p.last++
	id := fmt.Sprint(p.last)
	p.mu.Unlock()
	b, err := json.Marshal(object{"jsonrpc": "2.0", "id": json.RawMessage(id),
		"method": method, "params": p.dialect.complete(params)})
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(string(b))
	return id
}

// call sends a request and waits for the answer.
func (p *peer) call(method string, params object) message {
	p.t.Helper()
	return p.answer(p.begin(method, params))
}

// tool calls a tool.
func (p *peer) tool(name string, arguments object) message {
	p.t.Helper()
	return p.call("tools/call", object{"name": name, "arguments": arguments})
}

// notify sends a notification.
func (p *peer) notify(method string, params object) {
	p.t.Helper()
	b, err := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(string(b))
}

// answer waits for the answer to a request.
func (p *peer) answer(id string) message {
	p.t.Helper()
	return p.until("the answer to "+id, 0, func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// unanswered checks that cancelled requests got no response so far.
func (p *peer) unanswered(ids ...string) {
	p.t.Helper()
	for _, m := range p.all("") {
		if slices.Contains(ids, string(m.ID)) {
			p.t.Errorf("a cancelled request was answered: %s", m.raw)
		}
	}
}

// note waits for a notification after a mark whose params fit.
func (p *peer) note(mark int, method string, fits func(params json.RawMessage) bool) message {
	p.t.Helper()
	return p.until(method, mark, func(m message) bool {
		return m.Method == method && m.ID == nil && (fits == nil || fits(m.Params))
	})
}

// until waits for the first message after a mark that fits.
func (p *peer) until(what string, mark int, fits func(message) bool) message {
	p.t.Helper()
	late := time.NewTimer(testTimeout)
	defer late.Stop()
	for {
		p.mu.Lock()
		heard, changed, over := p.heard, p.changed, p.over
		p.mu.Unlock()
		for ; mark < len(heard); mark++ {
			if fits(heard[mark]) {
				return heard[mark]
			}
		}
		if over {
			p.t.Fatalf("the other side ended before %s; last message: %s", what, lastOf(heard))
		}
		select {
		case <-changed:
		case <-late.C:
			p.t.Fatalf("%s did not arrive; last message: %s", what, lastOf(heard))
		}
	}
}

func lastOf(heard []message) string {
	text := ""
	for _, m := range heard[max(0, len(heard)-5):] {
		text += "\n  " + clip(m.raw)
	}
	return text
}

// mark returns the current position in the received messages.
func (p *peer) mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.heard)
}

// all returns the received messages of a method.
func (p *peer) all(method string) []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.heard), func(m message) bool { return m.Method != method })
}

// ended waits until the other side has closed.
func (p *peer) ended() {
	p.t.Helper()
	late := time.NewTimer(testTimeout)
	defer late.Stop()
	for {
		p.mu.Lock()
		changed, over := p.changed, p.over
		p.mu.Unlock()
		if over {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			p.t.Fatal("the other side did not close")
		}
	}
}
