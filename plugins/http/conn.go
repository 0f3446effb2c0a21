package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/legacysse"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	callsMost = 1024 // begun and not answered, streams to listen included
	notesMost = 256  // notifications that wait to be sent
	sentMost  = 64   // answers to the server that are being sent
	noteTime  = 10 * time.Second
	heedTime  = time.Second     // for an older server to take note of a cancellation
	closeTime = 2 * time.Second // to end the session
	flushTime = 200 * time.Millisecond
)

// A conn is one connection: nothing but the messages of one session, each of
// which is an HTTP request of its own.
type conn struct {
	*jsonrpc.Inbox
	client *httpclient.Client
	log    hclog.Logger
	limit  int // of a message
	auto   bool
	old    legacysse.Options // to fall back to
	params *params

	ctx     context.Context // ends with the connection
	end     context.CancelFunc
	work    sync.WaitGroup
	leaving sync.WaitGroup // cancellations and answers being sent
	slots   chan struct{}  // one for each socket that a call may use
	answers chan struct{}  // one for each answer that is being sent
	notes   chan *jsonrpc.Envelope
	closing sync.Once

	lived   atomic.Bool // the server has answered something
	dropped atomic.Uint64

	mu       sync.Mutex
	closed   bool             // guarded by mu; nothing begins any more
	lost     error            // guarded by mu; the server no longer knows the session
	calls    map[string]*call // guarded by mu; by id
	session  session          // guarded by mu
	modern   string           // guarded by mu; the revision of the last request of that era
	heard    chan struct{}    // guarded by mu; closed when the last request to listen has begun to be answered
	fallback sdk.Conn         // guarded by mu; everything goes there once it is set
}

func newConn(client *httpclient.Client, server *sdk.Server, auto bool, old legacysse.Options) *conn {
	c := &conn{
		Inbox: jsonrpc.NewInbox(), client: client, log: server.Log, limit: server.MaxMessage, auto: auto, old: old,
		params: newParams(server.Cache, client.URL.String()), slots: make(chan struct{}, httpclient.Sockets),
		answers: make(chan struct{}, sentMost), notes: make(chan *jsonrpc.Envelope, notesMost), calls: map[string]*call{},
	}
	c.ctx, c.end = context.WithCancel(context.Background())
	c.work.Go(c.sendNotes)
	return c
}

var errClosed = sdk.Errorf(sdk.Canceled, "the connection is closed")

// Send begins to send a message. What becomes of it arrives in Recv.
func (c *conn) Send(msg []byte) error {
	c.mu.Lock()
	closed, fallback := c.closed, c.fallback
	c.mu.Unlock()
	switch {
	case closed:
		return errClosed
	case fallback != nil:
		return fallback.Send(msg)
	}
	e := jsonrpc.Open(append([]byte(nil), msg...))
	switch {
	case e.Kind == jsonrpc.Request:
		return c.request(e)
	case e.Kind == jsonrpc.Response:
		return c.answer(&e)
	case e.Kind == jsonrpc.Notification && e.Method == jsonrpc.Cancelled:
		c.cancel(&e)
	case e.Kind == jsonrpc.Notification:
		select {
		case c.notes <- &e:
		case <-c.ctx.Done():
			return errClosed
		}
	default:
		return sdk.Errorf(sdk.Internal, "the host sent what is not a message")
	}
	return nil
}

// request begins a request of the host's.
func (c *conn) request(e jsonrpc.Envelope) error {
	k := &call{Envelope: e, conn: c}
	k.ctx, k.cancel = context.WithCancel(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		k.cancel()
		return errClosed
	}
	full := len(c.calls) >= callsMost
	if !full {
		c.calls[string(e.ID)] = k
	}
	if v := e.Version(); v != "" {
		c.modern = v
	}
	if e.Method == jsonrpc.Listen && !full {
		heard := make(chan struct{})
		c.heard, k.begun = heard, sync.OnceFunc(func() { close(heard) })
		time.AfterFunc(streamTime, k.begun) // a server may take its time
	}
	c.work.Go(func() {
		defer k.cancel()
		if full {
			k.fail(&failure{err: sdk.Errorf(sdk.Unavailable, "%d requests are open already", callsMost)})
			return
		}
		k.run()
		c.finished(k)
	})
	return nil
}

// answer sends an answer to the server. Where it asks and asks, and does not take
// the answers, the host waits rather than that they pile up here.
func (c *conn) answer(e *jsonrpc.Envelope) error {
	select {
	case c.answers <- struct{}{}:
	case <-c.ctx.Done():
		return errClosed
	}
	if !c.sending(func() {
		defer func() { <-c.answers }()
		c.note(e)
	}) {
		return errClosed
	}
	return nil
}

// sending runs f, which Close waits for; false when that is too late.
func (c *conn) sending(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.leaving.Go(f)
	return true
}

// cancel ends a request. A modern server sees that by the end of the stream; an
// older one has to be told, because there it means nothing.
func (c *conn) cancel(e *jsonrpc.Envelope) {
	c.mu.Lock()
	k := c.calls[string(e.Cancels())]
	c.mu.Unlock()
	switch {
	case k == nil:
	case k.Version() != "" || k.turn.CompareAndSwap(waiting, dropped):
		k.cancel()
	default:
		c.sending(func() {
			defer k.cancel()
			defer time.AfterFunc(heedTime, k.cancel).Stop()
			c.note(e)
		})
	}
}

// sendNotes sends notifications in order.
func (c *conn) sendNotes() {
	for {
		select {
		case e := <-c.notes:
			ok := c.note(e)
			if e.Method == jsonrpc.Initialized {
				c.initialized(ok)
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// note sends a message that has no answer. One that fails is only logged: the
// host does not wait for it.
func (c *conn) note(e *jsonrpc.Envelope) bool {
	ctx, cancel := context.WithTimeout(c.ctx, noteTime)
	defer cancel()
	res, _, err := c.client.Do(ctx, httpclient.Request{Method: "POST", Header: c.header(e), Body: e.Raw})
	if err != nil {
		c.log.Debug("a notification was not delivered", "method", e.Method, "error", err)
		return false
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		_ = res.Body.Close()
		return true
	}
	refusal, _ := httpclient.Refusal(res)
	c.log.Debug("a notification was refused", "method", e.Method, "error", refusal)
	return false
}

// Status says how the server is spoken to.
func (c *conn) Status() sdk.ConnStatus {
	c.mu.Lock()
	fallback := c.fallback
	c.mu.Unlock()
	if s, ok := fallback.(sdk.Statuser); ok {
		return s.Status()
	}
	return sdk.ConnStatus{State: "streamable", Dropped: c.dropped.Load()}
}

// asError makes an *sdk.Error of what web says.
func asError(err error) *sdk.Error {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e
	}
	return sdk.Errorf(sdk.Unavailable, "%v", err)
}
