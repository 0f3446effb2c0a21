package gateway

import (
	"context"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A post is one request over HTTP, with a stream of its own on which the answer
// is the last message.
type post struct {
	*testClient
	drop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	dropped bool // guarded by mu
}

// post makes a request over HTTP: a modern one stands for itself, one without
// _meta is of the client's session.
func (d *fixture) post(of *testClient, text string) *post {
	m, err := mcp.Parse([]byte(expand(text)))
	if err != nil {
		panic(err)
	}
	p := &post{testClient: newClient(), done: make(chan struct{})}
	var ctx context.Context
	ctx, p.drop = context.WithCancel(context.Background())
	x := Exchange{Out: p.box}
	go func() {
		defer close(p.done)
		defer p.box.Close()
		var a *Answer
		if _, modern := mcp.TextMember(m.Params, "_meta", mcp.MetaVersion); modern {
			who := of.Principal()
			x.Principal = &who
			a = d.Answer(ctx, m, x)
		} else {
			a = of.Answer(m, x)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.dropped && !a.Empty() {
			_ = p.box.Push(a.Message)
		}
	}()
	return p
}

// disconnect closes the request's connection: its messages are not read any longer.
func (p *post) disconnect() {
	p.mu.Lock()
	p.dropped = true
	p.mu.Unlock()
	p.drop()
}

// end waits for the end of a request.
func (p *post) end() {
	p.disconnect()
	<-p.done
}

// flipped is a sealed state with one bit of it changed.
func flipped(state string) string {
	if i := len(state) - 5; i > 0 {
		other := "A"
		if strings.HasPrefix(state[i:], other) {
			other = "B"
		}
		return state[:i] + other + state[i+1:]
	}
	return state
}
