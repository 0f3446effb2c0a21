package upstream

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// relistenAfter is how long to wait before a modern server is listened to
// again after it ended that request.
const relistenAfter = time.Second

// A filter is what we want to hear about from a modern server.
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// listen opens a request for everything we want to hear about, and then ends
// the ones before, so that nothing is missed in between.
func (c *conn) listen() {
	u := c.up
	f := filter{
		Tools:     capable(c.capabilities, "tools", "listChanged"),
		Prompts:   capable(c.capabilities, "prompts", "listChanged"),
		Resources: capable(c.capabilities, "resources", "listChanged"),
	}
	// One lock for all of this: of two requests, the later one knows more.
	u.mu.Lock()
	f.URIs = slices.Sorted(maps.Keys(u.subs))
	before := c.listening()
	var p *pending
	if (f.Tools || f.Prompts || f.Resources || len(f.URIs) > 0) && !u.closed {
		p = &pending{method: mcp.MethodListen, listens: true}
		if c.register(p) != nil {
			p = nil
		} else {
			u.work.Go(func() { c.relisten(p) })
		}
	}
	u.mu.Unlock()
	if p != nil {
		text, err := json.Marshal(f)
		if err != nil {
			panic(err) // strings can always be rendered
		}
		_ = c.post(c.ctx, p, c.withMeta(mcp.SetMember(nil, "notifications", text), c.revision))
	}
	for _, id := range before {
		c.endListen(id)
	}
}

// listening returns the ids of our listen requests.
func (c *conn) listening() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.listens))
}

// endListen ends one of our listen requests.
func (c *conn) endListen(id uint64) {
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	delete(c.listens, id)
	c.mu.Unlock()
	if p != nil {
		c.cancel(c.ctx, p, "")
		p.answer <- answer{err: errEnding}
	}
}

// relisten listens again when the server ended a listen request that we did
// not. A server that refuses to be listened to is believed.
func (c *conn) relisten(p *pending) {
	select {
	case a := <-p.answer:
		if a.err != nil || a.rpcError != nil {
			return
		}
	case <-c.ctx.Done():
		return
	}
	select {
	case <-time.After(relistenAfter):
		c.listen()
	case <-c.ctx.Done():
	}
}
