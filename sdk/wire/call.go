package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// calls is the side of a conversation that answers: it gives each call a
// context that ends with its timeout, a Cancel, or the conversation, and
// keeps a panic from taking the process down.
type calls struct {
	log  func(stack string) // told of a panic; may be nil
	most int                // how many may run at a time; 0: any number

	mu      sync.Mutex
	running map[uint64]context.CancelFunc // guarded by mu
	early   map[uint64]bool               // guarded by mu; cancelled before they came
	ended   bool                          // guarded by mu
}

// earlyKept bounds how many Cancels may come before their calls: net/rpc runs
// every request in a goroutine of its own, so order is not kept.
const earlyKept = 1024

// do runs f for one call.
func (c *calls) do(call Call, f func(context.Context) error) (status Status) {
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
	defer func() {
		if v := recover(); v != nil {
			stack := debug.Stack()
			if c.log != nil {
				c.log(string(stack))
			}
			status = panicked(v, stack)
		}
	}()
	return StatusOf(f(ctx))
}

func (c *calls) enter(id uint64, cancel context.CancelFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.early[id] {
		delete(c.early, id)
		return context.Canceled
	}
	switch {
	case c.most > 0 && len(c.running) >= c.most:
		return &sdk.Error{Code: sdk.Unavailable, Reason: "overloaded", Message: fmt.Sprintf("%d calls are being answered already", c.most)}
	case c.most > 0 && c.running[id] != nil: // it would not be counted
		return sdk.Errorf(sdk.Internal, "call %d is being answered already", id)
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

// cancel ends one call.
func (c *calls) cancel(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel, ok := c.running[id]; ok {
		cancel()
		return
	}
	if c.early == nil || len(c.early) >= earlyKept {
		c.early = map[uint64]bool{}
	}
	c.early[id] = true
}

// end cancels every call, now and later.
func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, cancel := range c.running {
		cancel()
	}
}

// caller is the side of a conversation that asks.
type caller struct {
	rpc    *rpc.Client
	prefix string // of every method's name
	last   atomic.Uint64
}

// begin fills in what stands in every call's arguments.
func (c *caller) begin(ctx context.Context) Call {
	call := Call{ID: c.last.Add(1)}
	if deadline, ok := ctx.Deadline(); ok {
		call.Timeout = max(1, int64(time.Until(deadline)))
	}
	return call
}

// A LateError is the end of a context that a call did not outlive. The other
// side has been told, and may still be busy with the call.
type LateError struct {
	err  error
	done chan *rpc.Call
}

func (e *LateError) Error() string { return e.err.Error() }

func (e *LateError) Unwrap() error { return e.err }

// Answered reports whether the other side answers after all before ctx ends.
// One goroutine may ask, once.
func (e *LateError) Answered(ctx context.Context) bool {
	select {
	case <-e.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// invoke calls a method of the other side. It never outlives ctx: when ctx
// ends first, the other side is told and a late answer goes nowhere.
func invoke[R any](ctx context.Context, c *caller, method string, call Call, args any) (*R, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reply := new(R) // the late answer's too, so that it cannot race with anything
	done := make(chan *rpc.Call, 1)
	// Sending waits, too, when the other side has stopped reading.
	go c.rpc.Go(c.prefix+"."+method, args, reply, done)
	select {
	case rc := <-done:
		if rc.Error != nil {
			return nil, lost(rc.Error)
		}
		return reply, nil
	case <-ctx.Done():
		go c.rpc.Go(c.prefix+".Cancel", CancelArgs{ID: call.ID}, new(Reply), make(chan *rpc.Call, 1))
		return nil, &LateError{err: ctx.Err(), done: done}
	}
}

// lost turns an error of net/rpc, which is about the conversation and never
// about the call, into ours.
func lost(err error) error {
	if server, ok := errors.AsType[rpc.ServerError](err); ok {
		return &sdk.Error{Code: sdk.Unimplemented, Reason: "protocol", Message: string(server)}
	}
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "plugin_gone", Message: "the connection between the host and the plugin broke"}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, rpc.ErrShutdown) {
		e.Message += ": " + err.Error()
	}
	return e
}
