package upstream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A Link is an open channel to the server.
type Link interface {
	// Read returns the next message. An error is the end and says how it came,
	// except for a [Cut] and an [Unanswered].
	Read() ([]byte, error)
	Write(parts ...[]byte) error
	Flush() error
	// Close ends the channel, politely within grace.
	Close(grace time.Duration)
}

// A Diagnoser is a Link that knows what its server printed besides messages: its
// last lines on standard error, and how many lines on standard output were no
// messages.
type Diagnoser interface {
	Said(ctx context.Context) (stderr []string, junk uint64)
}

// A Cut is an error of Link.Read for one message that was not delivered; the
// channel goes on. It returns how the message began and ended, as far as that is
// known, and why it is missing.
type Cut interface {
	error
	Cut() (prefix, suffix []byte, why string)
}

// An Admitter is a Link that asks before a message takes memory. The goroutine of
// Read calls admit; a message that is not admitted is a [Cut] for "overloaded".
type Admitter interface {
	Admit(admit func(size int) bool)
}

// An Unanswered is an error of Link.Read for one request that will not be
// answered. It returns which and why, whether the server may have begun to act
// on it, and whether the channel ends because of it.
type Unanswered interface {
	error
	Unanswered() (id []byte, err error, delivered, ends bool)
}

// A Watcher is a Link that wants to know how many requests wait for an answer.
// It calls inFlight from any goroutine, and when Read fails.
type Watcher interface {
	Watch(inFlight func() int)
}

// A Relater is a Link that knows to which of our requests the message that Read
// returned last belongs; nil where it does not.
type Relater interface {
	Related() []byte
}

// A Peer is told what the server says on its own account. Its methods must not
// wait, most of all for the goroutine that reads the connection, which calls
// them; but for ServerRequest, which has a goroutine of its own.
type Peer interface {
	// Capabilities are what to offer the server: a JSON object, at least {}.
	Capabilities() []byte
	// ServerRequest answers a request of the server, with a result or an error
	// object. about is that of the call in the course of which the server asks,
	// nil where nobody can tell.
	ServerRequest(ctx context.Context, u *Upstream, about any, method string, params []byte) (result, rpcError []byte)
	// ServerNotification takes note of something.
	ServerNotification(u *Upstream, about any, method string, params []byte)
	// Connected is called after each handshake, Disconnected after its end.
	Connected(u *Upstream)
	Disconnected(u *Upstream, err error)
}

// Memory keeps the revision a server spoke last, so that it is not probed
// again.
type Memory interface {
	Revision() mcp.Revision // empty: not known
	Remember(mcp.Revision)
}

// Options are what an upstream needs to know.
type Options struct {
	Name     string
	Open     func(ctx context.Context) (Link, error)
	Peer     Peer
	Memory   Memory
	Log      hclog.Logger
	Version  string        // of Junctor, to tell the server
	Revision mcp.Revision  // the only one to speak; empty: find out
	Start    time.Duration // to connect
	Install  time.Duration // the same where the server may have to be installed first
	// Launcher is the program that may install the server before it starts it,
	// such as npx; empty: none.
	Launcher string
	// Starts bounds how many servers start at the same time; nil: no bound.
	Starts *StartQueue
	// Diagnose returns what a failed start's last lines mean, and what to do about
	// it; empty: nothing known. It may be nil.
	Diagnose func(stderr []string) (meaning, hint string)
	Call     time.Duration
	Shutdown time.Duration
	Extends  bool // progress of a call begins its time anew
	Idle     Idle
	// Changed is a stamp of the credentials, where the server wants some: when it
	// differs, an attempt that failed is repeated at once. nil: there are none.
	Changed func() string
	// MaxMessage is what the link takes, in bytes; 0: 16 MiB.
	MaxMessage int
	// Budget limits the bytes of messages in memory; nil: no limit.
	Budget *limit.Memory
	// Lines takes the log lines about messages of the server; nil: a limit of the
	// upstream's own.
	Lines *limit.Lines
}

// An Upstream is one MCP server. Its methods may be called concurrently.
type Upstream struct {
	opts Options
	ctx  context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	state    State         // guarded by mu
	changed  chan struct{} // guarded by mu; closed and replaced when state changes
	conn     *conn         // guarded by mu; valid when ready
	err      error         // guarded by mu; why it is not ready
	retry    time.Time     // guarded by mu; no attempt before that, unless Changed
	stamp    string        // guarded by mu; what Changed said after the last attempt
	delays   *backoff.ExponentialBackOff
	starts   starts
	priority Priority                // guarded by mu; the highest of those who wait for a start
	place    *place                  // guarded by mu; in the start queue; nil: no start goes on
	clock    *startClock             // guarded by mu; of the start that goes on; nil: none, or it waits for its place
	ending   chan struct{}           // guarded by mu; closed when the process of the last failed start has ended; nil: there is none
	connects int                     // guarded by mu
	users    int                     // guarded by mu; who have or want the connection
	closed   bool                    // guarded by mu
	outdated bool                    // guarded by mu; the connection is to be dropped
	subs     map[topic]*subscription // guarded by mu
	level    string                  // guarded by mu; of log messages; empty: the server's own
	idle     idleClock
	older    atomic.Bool // see PreferOld
}

// A State is where an upstream is in its life.
type State string

// The states.
const (
	Stopped  State = "stopped"  // not needed so far, or idle
	Starting State = "starting" // being connected
	Ready    State = "ready"
	Failed   State = "failed" // the last attempt failed, or the server ended
)

// After an attempt that failed, the next one waits, so that a server that is
// broken is not started for every call.
const (
	retryFirst = 500 * time.Millisecond
	retryMost  = 30 * time.Second
	retrySoon  = 100 * time.Millisecond // what is so near is waited for
)

// New makes an upstream that is not connected.
func New(o Options) *Upstream {
	if o.MaxMessage == 0 {
		o.MaxMessage = defaultMessage
	}
	if o.Lines == nil {
		o.Lines = limit.NewLines(o.Log, "server")
	}
	ctx, end := context.WithCancel(context.Background())
	delays := &backoff.ExponentialBackOff{
		InitialInterval: retryFirst, MaxInterval: retryMost, Multiplier: 2, RandomizationFactor: 0.2,
	}
	delays.Reset()
	return &Upstream{
		opts: o, ctx: ctx, end: end, state: Stopped, changed: make(chan struct{}), delays: delays,
		subs: map[topic]*subscription{}, idle: idleClock{rule: o.Idle},
	}
}

// Name is the label of the server's block.
func (u *Upstream) Name() string { return u.opts.Name }

// set changes the state. The caller holds mu.
func (u *Upstream) set(s State) {
	u.state = s
	close(u.changed)
	u.changed = make(chan struct{})
}

// Status is how an upstream is at one moment.
type Status struct {
	State        State
	Revision     mcp.Revision
	ServerInfo   []byte
	Capabilities []byte
	Instructions string
	Offered      []byte // of the client's capabilities, to a server of the old era
	InFlight     int
	// Subscriptions are the resources and tasks that somebody is subscribed to,
	// connected or not.
	Subscriptions int
	Connects      int
	Ignored       uint64 // messages that were not valid, or answered nothing
	Retry         time.Time
	Start         StartStatus
	Err           error
	Link          Link // nil when not connected
}

// Status says how the upstream is.
func (u *Upstream) Status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := Status{State: u.state, Connects: u.connects, Err: u.err, Subscriptions: len(u.subs)}
	switch u.state {
	case Failed:
		s.Retry = u.retry
	case Starting:
		s.Start = u.startStatus()
	}
	if c := u.conn; c != nil {
		s.Revision, s.ServerInfo, s.Capabilities, s.Instructions = c.revision, c.serverInfo, c.capabilities, c.instructions
		s.Offered = c.offered
		s.InFlight, s.Ignored, s.Link = c.inFlight(), c.ignored.Load(), c.link
	}
	return s
}

// Close ends the connection, politely, and makes every call fail. It returns
// when nothing is left.
func (u *Upstream) Close() {
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		u.work.Wait()
		return
	}
	u.closed = true
	c := u.conn
	u.conn, u.err = nil, fault.New(fault.UpstreamStopped, "junctor is shutting down")
	u.idle.stop()
	u.set(Stopped)
	u.mu.Unlock()
	u.end()
	if c != nil {
		c.close("junctor is shutting down", u.opts.Shutdown)
	}
	u.work.Wait()
}
