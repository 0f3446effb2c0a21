// Package legacysse speaks the transport of revision 2024-11-05, HTTP with
// server-sent events: everything from the server comes on one stream, whose
// first event says where to post what is for it.
package legacysse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

const (
	postsMost    = 64   // of requests, and as many of what has no answer, under way at once
	requestsMost = 1024 // that are being posted or wait for it
	endpointMost = 8 << 10
	flushTime    = 200 * time.Millisecond
)

// Options say how to reach a server.
type Options struct {
	Client *httpclient.Client
	Limit  int // of a message
	// Keepalive is how long a server may be silent that has shown that it sends
	// signs of life; 0: for ever.
	Keepalive time.Duration
	Log       hclog.Logger
}

// A Conn is one connection. It is over when its stream is: what the server knew
// of the session is lost with it.
type Conn struct {
	*jsonrpc.Inbox
	o        Options
	endpoint *url.URL
	body     io.Closer

	ctx     context.Context
	end     context.CancelFunc
	work    sync.WaitGroup
	posts   chan struct{} // one for each request being posted
	notes   chan struct{} // one for each message without an answer being posted
	closing sync.Once
	closed  atomic.Bool // set with mu held
	dropped atomic.Uint64

	mu       sync.Mutex
	gate     chan struct{}    // guarded by mu; closed when the last message that others wait for has arrived
	requests map[string]*post // guarded by mu; not yet taken by the server; by id
}

// Dial opens the stream and waits until the server says where to post. ctx
// bounds that.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	c := &Conn{Inbox: jsonrpc.NewInbox(), o: o, posts: make(chan struct{}, postsMost), notes: make(chan struct{}, postsMost), requests: map[string]*post{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, c.end) // until it is open
	r, err := c.open()
	if err == nil {
		err = c.await(r)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.end()
		if c.body != nil {
			_ = c.body.Close()
		}
		if ctx.Err() != nil {
			return nil, sdk.Errorf(sdk.Deadline, "the server did not say in time where to post")
		}
		return nil, err
	}
	c.work.Go(func() { c.hear(r) })
	return c, nil
}

func (c *Conn) open() (*sse.Reader, error) {
	res, _, err := c.o.Client.Do(c.ctx, httpclient.Request{Method: "GET", Header: http.Header{"Accept": {"text/event-stream"}, "Cache-Control": {"no-store"}}})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		e, _ := httpclient.Refusal(res)
		if e.Reason == "http_status" && e.Hint == "" {
			e.Hint = "the server may have the newer transport: transport \"http\" finds out which one it has"
		}
		return nil, e
	}
	c.body = res.Body
	if kind := httpclient.ContentType(res.Header); kind != "text/event-stream" {
		return nil, &sdk.Error{
			Code: sdk.Unavailable, Reason: "bad_message", Message: fmt.Sprintf("the server answered GET with content of type %q, not with events", kind),
			Hint: "check the path in url; many servers have this endpoint at /sse",
		}
	}
	r := sse.NewReader(res.Body, c.o.Limit)
	r.OnLine = c.watch()
	return r, nil
}

// await reads the first event.
func (c *Conn) await(r *sse.Reader) error {
	for {
		ev, err := r.Next()
		switch {
		case err != nil:
			return sdk.Errorf(sdk.Unavailable, "the server ended the stream before it said where to post: %v", err)
		case len(ev.Data) == 0:
			continue
		case ev.Name != "endpoint":
			return &sdk.Error{Code: sdk.Unavailable, Reason: "bad_message", Message: fmt.Sprintf("the server's first event is %q, not \"endpoint\"", ev.Name)}
		}
		c.endpoint, err = endpoint(c.o.Client.URL, ev.Data)
		return err
	}
}

// endpoint reads where to post. It must be where the stream is: another place
// would get the credentials.
func endpoint(base *url.URL, text []byte) (*url.URL, error) {
	refused := func(why string) error {
		return &sdk.Error{Code: sdk.Denied, Reason: "redirect_refused", Message: "the server's endpoint event " + why, Path: "url"}
	}
	if len(text) > endpointMost {
		return nil, refused("is too long")
	}
	u, err := base.Parse(string(bytes.TrimSpace(text)))
	switch {
	case err != nil:
		return nil, refused("holds no URL")
	case !httpclient.SameOrigin(u, base) || u.User != nil:
		return nil, refused(fmt.Sprintf("leads to %s://%s", u.Scheme, u.Host))
	}
	u.Fragment = ""
	return u, nil
}

// watch returns what is called for every line: once a server has sent a sign of
// life that says nothing else, silence means that it is gone. Many send none.
func (c *Conn) watch() func(comment bool) {
	if c.o.Keepalive == 0 {
		return nil
	}
	silence := time.AfterFunc(time.Hour, func() {
		c.over(&sdk.Error{Code: sdk.Unavailable, Reason: "stream_ended", Message: fmt.Sprintf("the server was silent for %s", c.o.Keepalive)})
	})
	silence.Stop()
	context.AfterFunc(c.ctx, func() { silence.Stop() })
	alive := false
	return func(comment bool) {
		if alive = alive || comment; alive && c.ctx.Err() == nil {
			silence.Reset(c.o.Keepalive)
		}
	}
}

// hear delivers what comes on the stream until it ends.
func (c *Conn) hear(r *sse.Reader) {
	defer c.body.Close()
	for {
		ev, err := r.Next()
		if long, ok := errors.AsType[*sse.TooLongError](err); ok {
			c.dropped.Add(1)
			c.Report(c.ctx, &sdk.Dropped{Reason: "message_too_large", Size: long.Size, Limit: int64(long.Limit), Prefix: long.Prefix})
			continue
		}
		if err != nil {
			e := &sdk.Error{Code: sdk.Unavailable, Reason: "stream_ended", Message: "the server ended its stream"}
			if err != io.EOF {
				e.Message += ": " + err.Error()
			}
			c.over(e)
			return
		}
		if len(ev.Data) == 0 || ev.Name != "" && ev.Name != "message" {
			continue
		}
		msg, err := ndjson.Message(bytes.Clone(ev.Data))
		if err != nil {
			c.dropped.Add(1)
			continue
		}
		c.Put(c.ctx, msg, nil)
	}
}

// over ends the connection.
func (c *Conn) over(err error) {
	c.shut()
	c.End(err)
	c.end()
}

// shut makes sure that nothing begins any more.
func (c *Conn) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed.Store(true)
}

// Status says how the connection is.
func (c *Conn) Status() sdk.ConnStatus {
	return sdk.ConnStatus{State: "sse", Dropped: c.dropped.Load()}
}

// Close ends the stream, and with it the session.
func (c *Conn) Close(ctx context.Context) error {
	c.closing.Do(func() {
		c.shut()
		c.flush(ctx)
		c.over(nil)
		c.work.Wait()
		c.o.Client.Close()
	})
	return nil
}

// flush waits a moment for what is being posted, cancellations most of all.
func (c *Conn) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	for range postsMost {
		select {
		case c.notes <- struct{}{}:
		case <-ctx.Done():
			return
		case <-c.ctx.Done():
			return
		}
	}
}
