package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A modern server is listened to by requests that stay open. One request could
// name everything, and be replaced when that changes; but servers made with the
// Go SDK, when a request to listen ends, forget what a newer one names as well.
// So the lists have one request and every resource has its own. Such a server
// then still forgets the lists when the request for a resource ends, and so they
// are listened to anew afterwards.

const (
	// relistenAfter is how long to wait before a server is listened to again
	// that ended the request; doubled, up to relistenMost, as long as that does
	// not last.
	relistenAfter = time.Second
	relistenMost  = 30 * time.Second
	// lastWord is how long a server may take to answer a request to listen
	// that was cancelled. Many do not answer it.
	lastWord = 200 * time.Millisecond
)

// A filter is what a request to listen names.
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
	Tasks     []string `json:"taskIds,omitempty"`
}

// A listening is something to be listened to until it is over.
type listening struct {
	filter filter
	over   chan struct{}   // closed when nobody wants it any longer
	anew   chan struct{}   // takes one; asks for a new request in place of the one there is
	begun  func(err error) // told once what became of the first request
	missed func()          // told when a new request follows a time of not listening
	lost   func()          // told when no new request is agreed to; nil: nobody needs to know
	ended  atomic.Bool     // nothing more will be heard: it was about a task, whose end was told
}

// changeable are the lists of the server that may change.
func (c *conn) changeable() filter {
	return filter{
		Tools:     capable(c.capabilities, "tools", "listChanged"),
		Prompts:   capable(c.capabilities, "prompts", "listChanged"),
		Resources: capable(c.capabilities, "resources", "listChanged"),
	}
}

// changed tells that lists may have changed meanwhile.
func (c *conn) changed(f filter) {
	tell := func(may bool, method string) {
		if may {
			c.up.opts.Peer.ServerNotification(c.up, nil, method, nil)
		}
	}
	tell(f.Tools, mcp.NoteToolsChanged)
	tell(f.Prompts, mcp.NotePromptsChanged)
	tell(f.Resources, mcp.NoteResChanged)
}

// updated tells that a resource may have changed meanwhile.
func (c *conn) updated(uri string) {
	c.up.opts.Peer.ServerNotification(c.up, nil, mcp.NoteResUpdated, mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri)))
}

// missed tells of everything that an old server may have said while nobody could
// hear it.
func (c *conn) missed() {
	if c.era.Load() != legacyEra {
		return // a modern one is listened to by requests, each of which knows
	}
	c.changed(c.changeable())
	c.up.mu.Lock()
	topics := slices.SortedFunc(maps.Keys(c.up.subs), topic.compare)
	c.up.mu.Unlock()
	for _, t := range topics {
		if t.uri != "" {
			c.updated(t.uri)
		}
	}
}

// listenToLists listens to every list of the server that may change.
func (c *conn) listenToLists() {
	f := c.changeable()
	if !f.Tools && !f.Prompts && !f.Resources {
		return
	}
	c.lists = &listening{
		filter: f, over: make(chan struct{}), anew: make(chan struct{}, 1), begun: func(error) {}, missed: func() { c.changed(f) },
	}
	c.listen(c.lists)
}

// listenTo listens to a resource or a task.
func (c *conn) listenTo(t topic, begun func(error)) *listening {
	l := &listening{filter: filter{URIs: []string{t.uri}}, over: make(chan struct{}), begun: begun, missed: func() { c.updated(t.uri) }}
	if t.task != "" {
		l.filter, l.missed = filter{Tasks: []string{t.task}}, func() { c.askAbout(t.task) }
		l.lost = func() { c.loseTask(t.task) }
	}
	c.listen(l)
	return l
}

// listen begins to listen. It does not wait.
func (c *conn) listen(l *listening) {
	p := c.askToListen(l)
	c.goes("listening", func() { c.keep(l, p) })
}

func (c *conn) askToListen(l *listening) *pending {
	p := &pending{method: mcp.MethodListen, acknowledged: make(chan []byte, 1)}
	if err := c.register(p); err != nil {
		p.answer <- answer{err: errEnding}
		return p
	}
	text, err := json.Marshal(l.filter)
	if err != nil {
		panic(err) // strings can always be rendered
	}
	params := mcp.SetMember(nil, "notifications", text)
	if l.filter.Tasks != nil {
		params = knowingTasks(params)
	}
	c.push(p, c.withMeta(params, c.revision))
	return p
}

// keep keeps something listened to, although the server may end a request.
func (c *conn) keep(l *listening, p *pending) {
	err := c.agreed(l, p)
	l.begun(err)
	listened, wait := err == nil, relistenAfter
	for err == nil || c.broken(err) {
		begun := time.Now()
		how := overByServer
		if err == nil {
			how = c.ended(l, p)
		}
		switch how {
		case overByUs:
			c.withdraw(p)
			c.renewLists(l)
			return
		case overAnew:
			c.withdraw(p)
		case overByServer:
			if l.ended.Load() {
				return
			}
			if time.Since(begun) > relistenMost {
				wait = relistenAfter
			}
			select {
			case <-time.After(wait):
			case <-l.over:
				return
			case <-c.ctx.Done():
				return
			}
			wait = min(2*wait, relistenMost)
		}
		if c.ctx.Err() != nil {
			return
		}
		p = c.askToListen(l)
		if err = c.agreed(l, p); err == nil {
			l.missed()
		}
	}
	c.up.opts.Log.Debug("not listened to", "server", c.up.opts.Name, "error", err)
	if listened && l.lost != nil {
		l.lost()
	}
}

// broken reports whether a request to listen failed for a reason that may pass
// while the connection lasts.
func (c *conn) broken(err error) bool {
	return c.ctx.Err() == nil && (away(err) || ended(err) && !errors.Is(err, errEnding))
}

// agreed waits until the server says that it will tell us. One that refuses is
// believed.
func (c *conn) agreed(l *listening, p *pending) error {
	ctx, cancel := context.WithTimeout(c.ctx, c.up.opts.Call)
	defer cancel()
	select {
	case params := <-p.acknowledged:
		if agreed := mcp.Member(params, "notifications"); agreed != nil && mcp.Empty(agreed) {
			c.withdraw(p)
			return fault.New(fault.UpstreamUnsupported, "the server agreed to tell nothing")
		}
		return nil
	case a := <-p.answer:
		switch {
		case a.err != nil && c.ctx.Err() != nil:
			return c.gone()
		case a.err != nil:
			return a.err
		case a.rpcError != nil:
			message, _ := mcp.TextMember(a.rpcError, "message")
			return fault.New(fault.UpstreamError, "%s: %s", p.method, message)
		}
		return fault.New(fault.UpstreamUnsupported, "the server ended the request to listen at once")
	case <-l.over:
		c.withdraw(p)
		return errEnding
	case <-ctx.Done():
		if c.ctx.Err() != nil {
			return c.gone()
		}
		c.withdraw(p)
		return fault.New(fault.CallTimeout, "%s was not answered", p.method)
	}
}

// How a request to listen ends.
const (
	overByServer = iota
	overByUs
	overAnew
)

func (c *conn) ended(l *listening, p *pending) int {
	select {
	case <-l.over:
		return overByUs
	case <-l.anew:
		return overAnew
	case <-p.answer:
	case <-c.ctx.Done():
	}
	return overByServer
}

// withdraw cancels a request to listen and waits, for a while, until the server
// is done with it.
func (c *conn) withdraw(p *pending) {
	c.cancel(p, "")
	if p.sent.Load() {
		select {
		case <-p.answer:
		case <-time.After(lastWord):
		case <-c.ctx.Done():
		}
	}
	c.forget(p)
}

// renewLists listens to the lists anew after another request has ended.
func (c *conn) renewLists(after *listening) {
	if c.lists == nil || after == c.lists {
		return
	}
	select {
	case c.lists.anew <- struct{}{}:
	default: // it is about to
	}
}

// acknowledged takes note of what the server agreed to.
func (c *conn) acknowledged(params []byte) {
	n, ok := mcp.ID(mcp.Member(params, "_meta", mcp.MetaSubscription)).Number()
	if !ok {
		c.ignored.Add(1)
		return
	}
	c.mu.Lock()
	p := c.pending[n]
	c.mu.Unlock()
	if p == nil || p.acknowledged == nil {
		c.ignored.Add(1)
		return
	}
	select {
	case p.acknowledged <- append([]byte(nil), params...):
	default:
		c.ignored.Add(1)
	}
}
