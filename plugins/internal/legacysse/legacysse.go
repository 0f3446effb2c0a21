// Package legacysse implements the transport of revision 2024-11-05, HTTP with
// server-sent events. One stream carries all messages from the server. Its
// first event is the URL for posting messages to the server.
//
// legacysse.go opens and reads the stream; post.go sends messages. Plugins sse and http use the
// package. A [Conn] is an sdk.Conn: the host calls Send and Recv from one goroutine each.
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
	postsMost    = 64   // concurrent posts of requests, and as many of other messages
	requestsMost = 1024 // requests being posted or waiting for that
	endpointMost = 8 << 10
	flushTime    = 200 * time.Millisecond
)

// Options describe how to connect to a server.
type Options struct {
	Client *httpclient.Client
	Limit  int // maximum size of a message in bytes
	// Keepalive is the maximum silence of a server that has sent a comment on
	// its stream before; 0: no limit.
	Keepalive time.Duration
	Log       hclog.Logger
}

// A Conn is one connection. It ends with its stream, because the server's
// session ends with it too.
type Conn struct {
	*jsonrpc.Inbox
	o        Options
	endpoint *url.URL
	body     io.Closer

	ctx     context.Context
	end     context.CancelFunc
	work    sync.WaitGroup
	posts   chan struct{} // semaphore of requests being posted
	notes   chan struct{} // semaphore of other messages being posted
	closing sync.Once
	closed  atomic.Bool // set with mu held
	taken   atomic.Bool // the endpoint has accepted a message
	dropped atomic.Uint64

	mu       sync.Mutex
	gate     chan struct{}    // guarded by mu; closed when the last notification or response was delivered
	requests map[string]*post // guarded by mu; requests that the server has not accepted yet, by id
}

// Dial opens the stream and waits for the endpoint event, at most until ctx is
// done. The caller must call Close.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	c := &Conn{Inbox: jsonrpc.NewInbox(), o: o, posts: make(chan struct{}, postsMost),
		notes: make(chan struct{}, postsMost), requests: map[string]*post{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, c.end) // until the endpoint event
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
			return nil, &sdk.Error{Code: sdk.Deadline, Message: "the server did not send the endpoint event in time",
				Hint: transportHint}
		}
		return nil, err
	}
	c.work.Go(func() { c.hear(r) })
	return c, nil
}

func (c *Conn) open() (*sse.Reader, error) {
	res, _, err := c.o.Client.Do(c.ctx, httpclient.Request{Method: "GET",
		Header: http.Header{"Accept": {"text/event-stream"}, "Cache-Control": {"no-store"}}})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		e, _ := httpclient.ErrorResponse(res)
		if e.Reason == "http_status" && e.Hint == "" {
			e.Hint = "the server may have the newer transport: transport \"http\" finds out which one it has"
		}
		return nil, e
	}
	c.body = res.Body
	if kind := httpclient.ContentType(res.Header); kind != "text/event-stream" {
		return nil, &sdk.Error{
			Code: sdk.Unavailable, Reason: "bad_message",
			Message: fmt.Sprintf("the server answered GET with content of type %q, not with events", kind),
			Hint:    "check the path in url; many servers have this endpoint at /sse",
		}
	}
	r := sse.NewReader(res.Body, c.o.Limit)
	r.OnLine = c.watch()
	return r, nil
}

// transportHint is the hint for a server that does not begin as this transport requires.
const transportHint = "check the path in url; the server may have the newer transport, which transport \"http\" finds out"

// await waits for the endpoint event, which must be the first event.
func (c *Conn) await(r *sse.Reader) error {
	for {
		ev, err := r.Next()
		switch {
		case err != nil:
			return &sdk.Error{Code: sdk.Unavailable,
				Message: fmt.Sprintf("the server ended the stream before the endpoint event: %v", err),
				Hint:    transportHint}
		case len(ev.Data) == 0:
			continue
		case ev.Name != "endpoint":
			return &sdk.Error{Code: sdk.Unavailable, Reason: "bad_message",
				Message: fmt.Sprintf("the server's first event is %q, not \"endpoint\"", ev.Name), Hint: transportHint}
		}
		c.endpoint, err = endpoint(c.o.Client.URL, ev.Data)
		return err
	}
}

// endpoint parses the URL of an endpoint event. It must have the origin of the
// stream, because posts carry the credentials.
func endpoint(base *url.URL, text []byte) (*url.URL, error) {
	refused := func(why string) error {
		return &sdk.Error{Code: sdk.Denied, Reason: "redirect_refused", Message: "the server's endpoint event " + why,
			Path: "url", Hint: "write the address of the server itself into url; a proxy that rewrites paths must also rewrite this event"}
	}
	if len(text) > endpointMost {
		return nil, refused("is too long")
	}
	u, err := base.Parse(string(bytes.TrimSpace(text)))
	switch {
	case err != nil:
		return nil, refused("contains no valid URL")
	case !httpclient.SameOrigin(u, base) || u.User != nil:
		return nil, refused(fmt.Sprintf("leads to %s://%s", u.Scheme, u.Host))
	}
	u.Fragment = ""
	return u, nil
}

// watch returns a function to call for every line. After the first comment,
// silence of Keepalive ends the connection. Many servers send no comments.
func (c *Conn) watch() func(comment bool) {
	if c.o.Keepalive == 0 {
		return nil
	}
	silence := time.AfterFunc(time.Hour, func() {
		c.over(&sdk.Error{Code: sdk.Unavailable, Reason: "stream_ended",
			Message: fmt.Sprintf("the server was silent for %s", c.o.Keepalive)})
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

// hear delivers the messages of the stream until it ends.
func (c *Conn) hear(r *sse.Reader) {
	defer c.body.Close()
	for {
		ev, err := r.Next()
		if long, ok := errors.AsType[*sse.TooLongError](err); ok {
			c.dropped.Add(1)
			c.Report(c.ctx,
				&sdk.Dropped{Reason: "message_too_large", Size: long.Size, Limit: int64(long.Limit),
					Prefix: long.Prefix})
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
		if len(ev.Data) == 0 || !jsonrpc.Carries(ev.Name, ev.Data) {
			continue
		}
		data, _ := r.Owned(ev.Data)
		msg, err := ndjson.Message(data)
		if err != nil {
			c.dropped.Add(1)
			continue
		}
		c.Put(c.ctx, msg, nil)
	}
}

// over ends the connection with an error.
func (c *Conn) over(err error) {
	c.shut()
	c.End(err)
	c.end()
}

// shut rejects all further messages.
func (c *Conn) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed.Store(true)
}

// Status returns the number of dropped messages.
func (c *Conn) Status() sdk.ConnStatus {
	return sdk.ConnStatus{State: "sse", Dropped: c.dropped.Load()}
}

// Close ends the stream and thereby the session.
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

// flush waits up to flushTime for messages being posted, most of all
// cancellations.
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
