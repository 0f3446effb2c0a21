package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

// calls runs the calls that one side of a connection serves: those of the host in a plugin, and
// those of a plugin to the services of the host. The context of a call ends with its timeout, with
// Cancel or with the connection. A panic fails the call and not the process. Its methods may be called
// concurrently; mu is not held while a call runs.
type calls struct {
	log     hclog.Logger // receives panics; may be nil
	limit   int          // maximum number of concurrent calls; 0: no limit
	mu      sync.Mutex
	running map[uint64]context.CancelFunc // guarded by mu
	early   map[uint64]bool               // guarded by mu; calls that were cancelled and are not running
	ended   bool                          // guarded by mu
}

// maxEarly is the maximum number of Cancels kept for calls that have not
// arrived. When there are so many, all are forgotten, and those calls run until their timeout.
// A Cancel may come first, because both sides run every request in a goroutine of its own.
const maxEarly = 1024

// do runs f for one [Call] and returns its status. A panic of f is a status, too.
func (c *calls) do(call Call, f func(context.Context) error) Status {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if call.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(call.Timeout))
		defer stop()
	}
	if err := c.enter(call.ID, cancel); err != nil {
		return StatusOf(err)
	}
	defer c.leave(call.ID)
	err := withRecover(c.log, func() error { return f(ctx) })
	if p, ok := errors.AsType[*panicError](err); ok {
		return p.status
	}
	return StatusOf(err)
}

// enter registers a running call. It fails if the call is cancelled already or
// exceeds the limit.
func (c *calls) enter(id uint64, cancel context.CancelFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.early[id] {
		delete(c.early, id)
		return context.Canceled
	}
	switch {
	case c.limit > 0 && len(c.running) >= c.limit:
		return &sdk.Error{Code: sdk.Unavailable, Reason: "overloaded",
			Message: fmt.Sprintf("concurrency limit reached: %d calls are running", c.limit)}
	case c.limit > 0 && c.running[id] != nil: // a second call with this id would escape the limit
		return sdk.Errorf(sdk.Internal, "call %d is running already", id)
	}
	if c.running == nil {
		c.running = map[uint64]context.CancelFunc{}
	}
	c.running[id] = cancel
	return nil
}

func (c *calls) leave(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, id)
}

// cancel cancels a call that is running or has not arrived yet.
func (c *calls) cancel(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel, ok := c.running[id]; ok {
		cancel()
		return
	}
	if c.early == nil || len(c.early) >= maxEarly {
		c.early = map[uint64]bool{}
	}
	c.early[id] = true
}

// end cancels all running calls and rejects later ones.
func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, cancel := range c.running {
		cancel()
	}
}

// caller is the side of a connection that makes calls.
type caller struct {
	rpc    *rpc.Client
	prefix string // of the names of methods, such as "Plugin"
	last   atomic.Uint64
}

// begin returns the Call for the arguments of a new call, with the next id and
// the timeout of ctx in nanoseconds. It is at least 1, because 0 stands for none.
func (c *caller) begin(ctx context.Context) Call {
	call := Call{ID: c.last.Add(1)}
	if deadline, ok := ctx.Deadline(); ok {
		call.Timeout = max(1, int64(time.Until(deadline)))
	}
	return call
}

// A LateError is the error of a call whose context ended first. The call was
// cancelled, but the other side may still be processing it.
type LateError struct {
	err  error
	done chan *rpc.Call
}

func (e *LateError) Error() string { return e.err.Error() }

func (e *LateError) Unwrap() error { return e.err }

// Answered waits for the late answer until ctx is done. It reports whether the answer arrived or
// the connection broke. It may be called once.
func (e *LateError) Answered(ctx context.Context) bool {
	select {
	case <-e.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// invoke calls a method of the other side with args, which contain call. It returns at the latest
// when ctx is done. It then sends Cancel and discards a late answer. Its goroutines, one or two,
// end when the other side reads, or with the connection.
func invoke[R any](ctx context.Context, c *caller, method string, call Call, args any) (*R, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reply := new(R) // not shared with the caller, so a late answer causes no data race
	done := make(chan *rpc.Call, 1)
	// The send blocks, too, if the other side does not read.
	go c.rpc.Go(c.prefix+"."+method, args, reply, done)
	select {
	case rc := <-done:
		if rc.Error != nil {
			return nil, rpcError(rc.Error)
		}
		return reply, nil
	case <-ctx.Done():
		go c.rpc.Go(c.prefix+".Cancel", CancelArgs{ID: call.ID}, new(Reply), make(chan *rpc.Call, 1))
		return nil, &LateError{err: ctx.Err(), done: done}
	}
}

// rpcError converts an error of net/rpc to an [sdk.Error]. Such an error is about the connection, or
// about a method that the other side lacks: calls report their own errors in Status.
func rpcError(err error) error {
	if server, ok := errors.AsType[rpc.ServerError](err); ok {
		return &sdk.Error{Code: sdk.Unimplemented, Reason: "protocol", Message: string(server)}
	}
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "plugin_gone",
		Message: "the connection between the host and the plugin broke"}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, rpc.ErrShutdown) {
		e.Message += ": " + err.Error()
	}
	return e
}
