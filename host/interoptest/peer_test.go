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

// A message is one that a peer heard.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`

	raw string
	at  int // how many came before
}

// rpcError is what a test wants to know of an error.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// failure decodes the message's error.
func (m message) failure(t testing.TB) rpcError {
	t.Helper()
	if m.Error == nil {
		t.Fatalf("an error was expected: %s", clip(m.raw))
	}
	var e rpcError
	decode(t, m.Error, &e)
	return e
}

// into decodes the message's result.
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

// A peer is the client's end of a conversation, in bytes: what the other side
// says is kept in the order it came.
type peer struct {
	t       *testing.T
	out     io.Writer
	dialect dialect

	mu      sync.Mutex
	heard   []message     // guarded by mu
	over    bool          // guarded by mu; the other side will say no more
	changed chan struct{} // guarded by mu; closed and replaced with heard
	last    int           // guarded by mu; id
	answers map[string]func(params json.RawMessage) string
	writing sync.Mutex
}

// newPeer speaks with a process. Greet it first, or do not.
func newPeer(t *testing.T, p *process, d dialect) *peer {
	peer := &peer{t: t, out: p.stdin, dialect: d, changed: make(chan struct{}), answers: map[string]func(json.RawMessage) string{}}
	p.work.Go(func() { peer.listen(p.stdout) })
	return peer
}

// listen takes in what the other side says.
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
		p.t.Errorf("standard output carries something that is no message: %s", clip(line))
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
		// The answer's id stands in front, whatever the answer is.
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer(m.Params)))
	}
}

// on answers requests of the other side: f returns the member that holds the
// answer, such as `"result":{}`.
func (p *peer) on(method string, f func(params json.RawMessage) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[method] = f
}

// send writes one line.
func (p *peer) send(line string) {
	p.writing.Lock()
	defer p.writing.Unlock()
	// An error means that the process ended, which whoever waits finds out.
	_, _ = io.WriteString(p.out, line+"\n")
}

// begin sends a request and returns its id.
func (p *peer) begin(method string, params object) string {
	p.t.Helper()
	p.mu.Lock()
	p.last++
	id := fmt.Sprint(p.last)
	p.mu.Unlock()
	b, err := json.Marshal(object{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": p.dialect.complete(params)})
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

// note waits for a notification whose params hold what is asked for, among
// what was heard from the mark on.
func (p *peer) note(mark int, method string, fits func(params json.RawMessage) bool) message {
	p.t.Helper()
	return p.until(method, mark, func(m message) bool {
		return m.Method == method && m.ID == nil && (fits == nil || fits(m.Params))
	})
}

// until waits for the first message from the mark on that fits.
func (p *peer) until(what string, mark int, fits func(message) bool) message {
	p.t.Helper()
	late := time.NewTimer(patience)
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
			p.t.Fatalf("the other side ended before %s; heard last: %s", what, lastOf(heard))
		}
		select {
		case <-changed:
		case <-late.C:
			p.t.Fatalf("no sign of %s; heard last: %s", what, lastOf(heard))
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

// mark is now, for those who wait for what comes after.
func (p *peer) mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.heard)
}

// all returns what was heard of a method so far.
func (p *peer) all(method string) []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.heard), func(m message) bool { return m.Method != method })
}

// ended waits until the other side says no more.
func (p *peer) ended() {
	p.t.Helper()
	late := time.NewTimer(patience)
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
			p.t.Fatal("the other side does not end")
		}
	}
}
