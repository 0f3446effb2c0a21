package main

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/legacysse"
	"github.com/junctor-mcp/junctor/sdk"
)

// Variables, because tests on a busy machine use longer times.
var (
	streamTime = 500 * time.Millisecond // for the server's GET stream to open before calls are sent
	loseTime   = 500 * time.Millisecond // for other requests to fail after the session was lost
)

// A conn is one connection to a server: the messages of one session. Each
// message to the server is a separate HTTP request. All methods but
// Recv and Related may be called concurrently. Every goroutine of the connection counts in work or leaving:
// Close waits for them, and owns the client and the fallback. The fields that
// no comment says otherwise about do not change after newConn.
type conn struct {
	*jsonrpc.Inbox
	client *httpclient.Client
	log    hclog.Logger
	limit  int // maximum size of a message in bytes
	auto   bool
	old    legacysse.Options // for the fallback to the older transport
	params *params

	notCredential func(*http.Response) bool // see httpclient.Request

	ctx     context.Context // done when the connection ends
	end     context.CancelFunc
	work    sync.WaitGroup
	leaving sync.WaitGroup // cancellations and responses being sent
	slots   chan struct{}  // semaphore of HTTP connections for calls
	answers chan struct{}  // semaphore of responses being sent
	notes   chan *jsonrpc.Envelope
	next    chan *call    // to the goroutines that wait for a request
	idle    chan struct{} // semaphore of these goroutines
	closing sync.Once

	overlaps overlaps

	lived   atomic.Bool  // the server has sent a successful response
	used    atomic.Bool  // the server has answered a request of the session
	hearing atomic.Int32 // state of the GET stream of the session: notHearing, reopening or hearing
	dropped atomic.Uint64

	mu       sync.Mutex
	closed   bool             // guarded by mu; nothing more may be sent
	lost     error            // guarded by mu; the error of a lost session
	calls    map[string]*call // guarded by mu; by id
	session  session          // guarded by mu
	modern   string           // guarded by mu; revision of the last request of the modern era
	heard    chan struct{}    // guarded by mu; closed when the last listen request has a response
	fallback sdk.Conn         // guarded by mu; if set, carries all messages
}

// sending runs f in a goroutine that Close waits for. It returns false if the
// connection is closed.
func (c *conn) sending(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.leaving.Go(f)
	return true
}

// A session holds the headers for requests after the handshake, in revisions
// before 2026-07-28.
type session struct {
	id      string // empty: the server has no sessions
	version string // negotiated revision; empty before
	// gate is closed when the server has received notifications/initialized
	// and its GET stream is open. A server may reject requests sent before. It
	// is nil before a revision was negotiated.
	gate chan struct{}
	told bool

	headers *httpclient.Prepared // of messages without a revision of their own; nil: not built
}

// States of a call.
const (
	waiting int32 = iota // the server cannot have seen it
	sent
	dropped // cancelled before it was sent
)

// A call is a request of the host that has no response yet. conn.request makes it,
// and conn.serve runs it on one goroutine and then removes it from calls. Other
// goroutines use cancel, state and begun only.
type call struct {
	jsonrpc.Envelope
	conn   *conn
	ctx    context.Context // done when the host cancels the request
	cancel context.CancelFunc
	state  atomic.Int32 // waiting, sent or dropped
	begun  func()       // of a subscriptions/listen request; called when the response begins or fails

	// Used by the goroutine that runs the call.
	learned bool          // the tools were listed for this call
	lastID  string        // id of the last event of its stream
	delay   time.Duration // requested by the server before the stream is resumed
	lost    *failure      // its response says that the session is lost
	odd     string        // the last event of its stream that is not a message
	said    []string      // the beginning of that event
	alone   bool          // it is sent when no other request is open
	beside  bool          // other requests were open when it was sent
	number  uint64        // of the last attempt; see overlaps
}

// terminate ends the connection with an error.
func (c *conn) terminate(err error) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.End(err)
	c.end()
}

// finished removes a request that has ended.
func (c *conn) finished(k *call) {
	c.mu.Lock()
	if c.calls[string(k.ID)] == k {
		delete(c.calls, string(k.ID))
	}
	lost, last := c.lost, len(c.calls) == 0
	c.mu.Unlock()
	if lost != nil && last {
		c.terminate(lost)
	}
}

// loseSession ends a connection whose session the server no longer knows. It
// waits up to loseTime, because other requests then fail with the same error
// and can be sent again. Requests that are cut off cannot.
func (c *conn) loseSession(err error) {
	c.mu.Lock()
	first, idle := c.lost == nil, len(c.calls) == 0
	if first {
		c.lost = err
	}
	c.mu.Unlock()
	switch {
	case idle:
		c.terminate(err)
	case first:
		time.AfterFunc(loseTime, func() { c.terminate(err) })
	}
}

// settled ends the request whose response arrived on another stream.
func (c *conn) settled(msg []byte) {
	c.mu.Lock()
	k := c.calls[string(jsonrpc.Member(msg, "id"))]
	c.mu.Unlock()
	if k != nil {
		k.cancel()
	}
}
