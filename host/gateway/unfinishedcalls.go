package gateway

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

const (
	// maxUnfinished bounds the calls whose events wait. Beyond it, each request of a call
	// has an event of its own.
	maxUnfinished = 4096
	// unfinishedTime is how long an event waits for its client to continue the call. A
	// suspended call is abandoned before.
	unfinishedTime = suspendTime + 10*time.Second
	// keptArguments bounds the arguments that wait with an event, in bytes.
	keptArguments = 8 << 10
	// maxQuestion bounds the results that are searched for a question, in bytes.
	maxQuestion = 256 << 10
)

// unfinishedCalls holds the events of calls that have asked their clients something. The request that continues
// a call has the same state and the same arguments, from the same principal. A call that its client does not
// continue is recorded as timed out. The record has one. Its methods may be called concurrently. It owns an
// event from add until a request takes it, its time is over, or stop; then the recorder gets it. count is the
// number of calls, for any, which takes no lock.
type unfinishedCalls struct {
	to    audit.Recorder
	count atomic.Int64

	mu    sync.Mutex
	calls map[callKey]*unfinishedCall // guarded by mu
}

// A callKey identifies a call across its requests.
type callKey [sha256.Size]byte

type unfinishedCall struct {
	event *audit.Event
	timer *time.Timer
}

func newUnfinishedCalls(to audit.Recorder) *unfinishedCalls {
	return &unfinishedCalls{to: to, calls: map[callKey]*unfinishedCall{}}
}

// any reports whether a request may continue a call.
func (u *unfinishedCalls) any() bool { return u.count.Load() > 0 }

// suspends reports whether the result of a request asks its client something, and returns
// the state that continues the call.
func suspends(u *use, resp response, err error) (state string, ok bool) {
	if !u.modern() || err != nil || len(resp.result) > maxQuestion || !era.IsInputRequired(resp.result) {
		return "", false
	}
	state, _ = mcp.TextMember(resp.result, "requestState")
	return state, true
}

// keyOfCall returns the key of the call of a request, with a state.
func keyOfCall(u *use, state string) callKey {
	return sha256.Sum256(append(u.stateBinding("", u.request.params), state...))
}

// add keeps the event of a call until a request continues it. It returns false if there are too many calls.
func (u *unfinishedCalls) add(by *use, state string, e *audit.Event) bool {
	key := keyOfCall(by, state)
	e.Result, e.ResultSize, e.Outcome = nil, 0, ""
	e.Rounds = max(e.Rounds, 1)
	e.Arguments = bytes.Clone(e.Arguments)
	if len(e.Arguments) > keptArguments {
		e.Arguments = nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.calls) >= maxUnfinished || u.calls[key] != nil {
		e.Outcome = audit.OK
		return false
	}
	c := &unfinishedCall{event: e}
	c.timer = time.AfterFunc(unfinishedTime, func() { u.expire(key, c) })
	u.calls[key] = c
	u.count.Add(1)
	return true
}

// resume merges the event of a request that continues a call with those before: the call
// began with the first one.
func (u *unfinishedCalls) resume(by *use, e *audit.Event) {
	if !by.continues {
		return
	}
	first := u.take(keyOfCall(by, by.state))
	if first == nil {
		return
	}
	e.Time, e.RequestID, e.TraceID, e.Rounds = first.Time, first.RequestID, first.TraceID, first.Rounds+1
	e.Approval = cmp.Or(e.Approval, first.Approval)
	if e.Decision == "" {
		e.Decision, e.Rule = first.Decision, first.Rule
	}
}

func (u *unfinishedCalls) take(key callKey) *audit.Event {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.calls[key]
	if c == nil {
		return nil
	}
	u.remove(key, c)
	return c.event
}

// remove removes a call. The caller holds mu.
func (u *unfinishedCalls) remove(key callKey, c *unfinishedCall) {
	delete(u.calls, key)
	u.count.Add(-1)
	c.timer.Stop()
}

// expire records a call that its client has not continued.
func (u *unfinishedCalls) expire(key callKey, c *unfinishedCall) {
	u.mu.Lock()
	if u.calls[key] != c {
		u.mu.Unlock()
		return
	}
	u.remove(key, c)
	u.mu.Unlock()
	u.give(c.event, audit.Timeout, fault.CallTimeout, "the client did not come back with an answer")
}

// stop records all calls as cancelled.
func (u *unfinishedCalls) stop() {
	u.mu.Lock()
	var left []*audit.Event
	for key, c := range u.calls {
		u.remove(key, c)
		left = append(left, c.event)
	}
	u.mu.Unlock()
	for _, e := range left {
		u.give(e, audit.Cancelled, fault.CallCanceled, "junctor ended while the client was asked something")
	}
}

func (u *unfinishedCalls) give(e *audit.Event, o audit.Outcome, code fault.Code, message string) {
	e.Outcome, e.Code, e.Message, e.DurationMS = o, string(code), message, audit.Milliseconds(time.Since(e.Time))
	u.to.End(e)
}
