package main

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/legacysse"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	maxCalls   = 1024 // requests without a response, including listen requests
	maxNotes   = 256  // notifications waiting to be sent
	maxAnswers = 64   // responses to the server being sent
	noteTime   = 10 * time.Second
	cancelTime = time.Second // for an older server to process a cancellation
	maxIdle    = 16          // goroutines that wait for the next request
	flushTime  = 200 * time.Millisecond
)

func newConn(client *httpclient.Client, server *sdk.Server, auto bool, old legacysse.Options) *conn {
	c := &conn{
		Inbox: jsonrpc.NewInbox(), client: client, log: server.Log, limit: server.MaxMessage, auto: auto, old: old,
		params: newParams(server.Cache, client.URL.String()), slots: make(chan struct{}, httpclient.Sockets),
		answers: make(chan struct{}, maxAnswers), notes: make(chan *jsonrpc.Envelope, maxNotes),
		calls: map[string]*call{},
		next:  make(chan *call), idle: make(chan struct{}, maxIdle),
	}
	c.notCredential = c.refusesSession
	c.ctx, c.end = context.WithCancel(context.Background())
	c.work.Go(c.sendNotes)
	return c
}

var errClosed = sdk.Errorf(sdk.Canceled, "the connection is closed")

// Send starts to send a message. Recv reports the outcome. Send copies the message. It
// blocks while too many notifications or responses wait.
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
		return sdk.Errorf(sdk.Internal, "the host sent data that is not a message")
	}
	return nil
}

// request starts a request of the host.
func (c *conn) request(e jsonrpc.Envelope) error {
	k := &call{Envelope: e, conn: c}
	k.ctx, k.cancel = context.WithCancel(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		k.cancel()
		return errClosed
	}
	full := len(c.calls) >= maxCalls
	if !full {
		c.calls[string(e.ID)] = k
	}
	if v := e.Version(); v != "" {
		c.modern = v
	}
	if e.Method == jsonrpc.Listen && !full {
		heard := make(chan struct{})
		c.heard, k.begun = heard, sync.OnceFunc(func() { close(heard) })
		time.AfterFunc(streamTime, k.begun) // do not wait longer for a slow server
	}
	if full {
		c.work.Go(func() {
			defer k.cancel()
			k.fail(&failure{err: sdk.Errorf(sdk.Unavailable, "limit reached: %d requests are open", maxCalls)})
		})
		return nil
	}
	select {
	case c.next <- k:
	default:
		c.work.Go(func() { c.serve(k) })
	}
	return nil
}

// serve runs a request, and then those that come while it waits. A request needs a
// deep stack, which is expensive to grow for each. It is the body of a goroutine,
// which ends with the connection, or when maxIdle others wait.
func (c *conn) serve(k *call) {
	for {
		k.run()
		c.finished(k)
		k.cancel()
		select {
		case c.idle <- struct{}{}:
		default:
			return
		}
		select {
		case k = <-c.next:
			<-c.idle
		case <-c.ctx.Done():
			return
		}
	}
}

// answer sends a response to the server. It blocks while too many responses are
// being sent, so that they do not pile up if the server does not accept them.
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

// cancel cancels a request. A modern server recognizes that by the end of the
// stream. An older server gets notifications/cancelled, because there the end
// of a stream has no meaning.
func (c *conn) cancel(e *jsonrpc.Envelope) {
	c.mu.Lock()
	k := c.calls[string(e.Cancels())]
	c.mu.Unlock()
	switch {
	case k == nil:
	case k.Version() != "" || k.state.CompareAndSwap(waiting, dropped):
		k.cancel()
	default:
		c.sending(func() {
			defer k.cancel()
			defer time.AfterFunc(cancelTime, k.cancel).Stop()
			c.note(e)
		})
	}
}

// sendNotes sends notifications one after the other, in order. It is the body of a
// goroutine that ends with the connection.
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

// note sends a notification or a response. The host does not wait for the
// result, so an error is only logged.
func (c *conn) note(e *jsonrpc.Envelope) bool {
	ctx, cancel := context.WithTimeout(c.ctx, noteTime)
	defer cancel()
	res, _, err := c.client.Do(ctx, c.httpRequest(e))
	if err != nil {
		c.log.Debug("a notification was not delivered", "method", e.Method, "error", err)
		return false
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		_ = res.Body.Close()
		return true
	}
	rejection, _ := httpclient.ErrorResponse(res)
	c.log.Debug("a notification was rejected", "method", e.Method, "error", rejection)
	return false
}

// Status returns the transport in use and the number of dropped messages.
func (c *conn) Status() sdk.ConnStatus {
	c.mu.Lock()
	fallback := c.fallback
	c.mu.Unlock()
	if s, ok := fallback.(sdk.Statuser); ok {
		return s.Status()
	}
	return sdk.ConnStatus{State: "streamable", Dropped: c.dropped.Load()}
}

// Close ends the session and all requests, and waits for their goroutines.
func (c *conn) Close(ctx context.Context) error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		fallback := c.fallback
		c.mu.Unlock()
		c.flush(ctx)
		c.deleteSession(ctx)
		c.end()
		if fallback != nil {
			_ = fallback.Close(ctx)
		}
		c.End(nil)
		c.leaving.Wait()
		c.work.Wait()
		c.client.Close()
	})
	return nil
}

// flush waits up to flushTime for messages being sent, most of all
// cancellations.
func (c *conn) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	sent := make(chan struct{})
	go func() { defer close(sent); c.leaving.Wait() }()
	select {
	case <-sent:
	case <-ctx.Done():
	}
}
