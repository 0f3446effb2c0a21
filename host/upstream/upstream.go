package upstream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A Link is an open transport to the server. Package host implements it with plugin.Open and
// the streams of a plugin. One goroutine reads and one writes; Close may be called from other
// goroutines, and more than once.
type Link interface {
	// Read returns the next message. Any error ends the link, except for a [Cut]
	// or an [Unanswered].
	Read() ([]byte, error)
	Write(parts ...[]byte) error
	Flush() error
	// Close closes the link. It lets the server exit within grace first.
	Close(grace time.Duration)
}

// A Diagnoser is a Link that records the server's other output: its last lines on
// standard error, and the number of invalid lines on standard output. The methods of this and
// the other optional interfaces of a Link may be called concurrently with Read.
type Diagnoser interface {
	Output(ctx context.Context) (stderr []string, junk uint64)
}

// A Cut is an error of Link.Read for one dropped message; the link stays open. Cut
// returns the beginning and the end of the message, as far as known, and the reason.
type Cut interface {
	error
	Cut() (prefix, suffix []byte, why string)
}

// An Admitter is a Link that requests permission before a message takes memory. It
// calls admit in the goroutine of Read. A rejected message becomes a [Cut] with the
// reason "overloaded".
type Admitter interface {
	Admit(admit func(size int) bool)
}

// An Unanswered is an error of Link.Read for one request that gets no response. It
// returns the request's id, the cause, whether the server may have received the
// request, and whether the link ends.
type Unanswered interface {
	error
	Unanswered() (id []byte, delivered, ends bool, err error)
}

// A Watcher is a Link that needs the number of unanswered requests. It may call
// inFlight in any goroutine, and when Read fails.
type Watcher interface {
	Watch(inFlight func() int)
}

// A Relater is a Link that attributes messages to requests. Related returns the id of
// the request that the last message of Read belongs to, or nil.
type Relater interface {
	Related() []byte
}

// A Peer receives the server's own requests and notifications. The reading goroutine
// calls its methods, so they must not block. ServerRequest may block, because it runs
// in its own goroutine.
type Peer interface {
	// Capabilities returns the client capabilities for the server as a JSON object.
	Capabilities() []byte
	// ServerRequest answers a request of the server with a result or an error object.
	// about is the Call.About of the call that the request belongs to, or nil if
	// unknown.
	ServerRequest(ctx context.Context, u *Upstream, about any, method string, params []byte) (result, rpcError []byte)
	// ServerNotification handles a notification. about is as for ServerRequest.
	ServerNotification(u *Upstream, about any, method string, params []byte)
	// Connected is called after each handshake. Disconnected is called after the
	// connection ends, and after a failed attempt.
	Connected(u *Upstream)
	Disconnected(u *Upstream, err error)
}

// RevisionStore stores the last known revision of a server, so that the next process can
// skip the probe. Package host implements it; the methods may be called concurrently.
type RevisionStore interface {
	Revision() mcp.Revision // "" if unknown
	Remember(mcp.Revision)
}

// Options configure an upstream. They do not change after New. Functions run on goroutines of
// the upstream, and several may run at a time.
type Options struct {
	Name string
	Open func(ctx context.Context) (Link, error)
	// Prepare runs before each start, whose timeout begins after it. A person may take long to
	// answer what it asks. It may be nil.
	Prepare   func(ctx context.Context) error
	Peer      Peer
	Revisions RevisionStore
	Log       hclog.Logger
	Version   string        // Junctor's version, sent to the server
	Revision  mcp.Revision  // the required revision; "" to negotiate
	Start     time.Duration // timeout of a start
	Install   time.Duration // timeout of a start that may install the server
	// Launcher is the program that may install the server before it starts it,
	// such as npx, or "".
	Launcher string
	Program  bool // the server is a program, whose messages are on its standard output
	// Starts limits the number of concurrent starts; nil means no limit.
	Starts *StartQueue
	// Diagnose explains the last output lines of a failed start and returns a hint.
	// Empty results mean that the cause is unknown. Diagnose may be nil.
	Diagnose func(stderr []string) (meaning, hint string)
	// Delay returns the error for a start that timed out because of something other
	// than the server, or nil. Delay may be nil.
	Delay    func() *fault.Error
	Call     time.Duration
	Shutdown time.Duration
	Extends  bool // progress restarts the timeout of a call
	Idle     Idle
	// Changed returns a stamp of the server's credentials. After a failed attempt, a
	// new stamp allows another one at once. It is nil without credentials.
	Changed func() string
	// MaxMessage is the largest message for the link, in bytes; 0 means 16 MiB.
	MaxMessage int
	// Budget limits the memory of messages; nil means no limit.
	Budget *limit.Memory
	// Observe is called with each change of the state, and with the reason of a failure.
	// It must neither wait nor call the upstream. It may be nil.
	Observe func(s State, why error)
	// Place returns the position of a setting in the configuration, given its path. It
	// may be nil.
	Place func(path string) string
	// Lines limits the log lines about the server's messages; nil means a limit of
	// this upstream's own.
	Lines *limit.Lines
}

// An Upstream is one MCP server. Its methods may be called concurrently. The maker must call
// Close. Parts of it are in other files: starts in start.go and connect.go, the idle time in
// idle.go, subscriptions in subscribe.go.
type Upstream struct {
	opts Options
	ctx  context.Context // canceled by Close
	end  context.CancelFunc
	work sync.WaitGroup

	mu           sync.Mutex
	state        State         // guarded by mu
	changed      chan struct{} // guarded by mu; closed and replaced when state changes
	conn         *conn         // guarded by mu; valid when ready
	err          error         // guarded by mu; why the upstream is not ready
	retries      retries       // guarded by mu
	priority     Priority      // guarded by mu; the highest priority among the callers
	place        *place        // guarded by mu; place in the start queue; nil without a start
	clock        *startClock   // guarded by mu; clock of the current start; nil without one, or while it is queued
	ending       chan struct{} // guarded by mu; closed when the process of the last failed start has exited; may be nil
	connects     int           // guarded by mu
	users        int           // guarded by mu; number of callers that use or await the connection
	closed       bool          // guarded by mu
	retired      bool          // guarded by mu; see Retire
	outdated     bool          // guarded by mu; drop the connection when it becomes idle
	subs         *subscriptions
	level        string // guarded by mu; log level; "" means the server's default
	idle         idleClock
	preferLegacy atomic.Bool // see PreferLegacy
}

// A State is the connection state of an upstream.
type State string

// The states.
const (
	Stopped  State = "stopped"  // not needed yet, or idle
	Starting State = "starting" // connecting
	Ready    State = "ready"
	Failed   State = "failed" // the last attempt failed, or the connection ended
)

// New returns an upstream that is not connected.
func New(o Options) *Upstream {
	if o.MaxMessage == 0 {
		o.MaxMessage = defaultMessage
	}
	if o.Lines == nil {
		o.Lines = limit.NewLines(o.Log, "server")
	}
	ctx, end := context.WithCancel(context.Background())
	u := &Upstream{
		opts:    o,
		ctx:     ctx,
		end:     end,
		state:   Stopped,
		changed: make(chan struct{}),
		retries: newRetries(),
		idle:    idleClock{rule: o.Idle},
	}
	u.subs = &subscriptions{up: u, byTopic: map[topic]*subscription{}, leaving: map[topic]*pending{}}
	return u
}

// Name returns the label of the server's block.
func (u *Upstream) Name() string { return u.opts.Name }

// set changes the state and wakes the waiting goroutines. The caller holds mu.
func (u *Upstream) set(s State) {
	if u.opts.Observe != nil && u.state != s {
		u.opts.Observe(s, u.err)
	}
	u.state = s
	close(u.changed)
	u.changed = make(chan struct{})
}

// Status is a snapshot of an upstream. It is a copy, but for the Link.
type Status struct {
	State        State
	Revision     mcp.Revision
	ServerInfo   []byte
	Capabilities []byte
	Instructions string
	Offered      []byte // client capabilities sent to a legacy server
	InFlight     int
	// Subscriptions is the number of resources and tasks with subscribers, whether
	// connected or not.
	Subscriptions int
	Connects      int
	Ignored       uint64 // messages that were invalid or matched no request
	Retry         time.Time
	Start         StartStatus
	Err           error
	Link          Link // nil if not connected
}

// Status returns a snapshot of the upstream.
func (u *Upstream) Status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := Status{State: u.state, Connects: u.connects, Err: u.err, Subscriptions: len(u.subs.byTopic)}
	switch u.state {
	case Failed:
		s.Retry = u.retries.next
	case Starting:
		s.Start = u.clock.status(u.opts.Launcher)
	}
	if c := u.conn; c != nil {
		s.Revision, s.ServerInfo, s.Capabilities, s.Instructions = c.revision, c.serverInfo, c.capabilities,
			c.instructions
		s.Offered = c.offered
		s.InFlight, s.Ignored, s.Link = c.table.inFlight(), c.ignored.Load(), c.link
	}
	return s
}

// Retire records that the configuration replaced or removed the server. It is the reason
// of Close from then on; without it, the reason is that Junctor is shutting down.
func (u *Upstream) Retire() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.retired = true
}

// closeReason returns why the upstream is closed. The caller holds mu.
func (u *Upstream) closeReason() string {
	if u.retired {
		return "the configuration replaced or removed the server"
	}
	return "junctor is shutting down"
}

// Close closes the connection and fails all calls. It returns when all goroutines of
// the upstream have ended. It may be called more than once.
func (u *Upstream) Close() {
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		u.work.Wait()
		return
	}
	u.closed = true
	c := u.conn
	reason := u.closeReason()
	u.conn, u.err = nil, fault.New(fault.UpstreamStopped, "%s", reason)
	u.idle.stop()
	u.set(Stopped)
	u.mu.Unlock()
	u.end()
	if c != nil {
		c.close(reason, u.opts.Shutdown)
	}
	u.work.Wait()
}
