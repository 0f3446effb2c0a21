// Package event keeps what happened in a running process, for programs that watch it.
//
// event.go has the events, and calls.go those of calls, which are made only while a program follows
// them. Package host makes one [Stream], the gateway and others add to it, and the control socket
// and the console read. The JSON of an [Event] is what "junctor events" prints for scripts.
package event

import (
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/feed"
)

// A Type says what happened.
type Type string

// The types.
const (
	ProcessStarted  Type = "process.started"  // it serves clients
	ProcessStopping Type = "process.stopping" // it begins to end
	StartFinished   Type = "start.finished"   // the servers that were needed first are ready or have failed

	ReloadOK     Type = "reload.ok"
	ReloadFailed Type = "reload.failed" // the configuration in effect stays

	ServerStarting  Type = "server.starting" // a connection is being made
	ServerReady     Type = "server.ready"
	ServerFailed    Type = "server.failed"     // no connection could be made, or it ended
	ServerNeedsAuth Type = "server.needs_auth" // only credentials lack
	ServerStopped   Type = "server.stopped"    // it was idle, or is not needed
	ServerRestarted Type = "server.restarted"  // at the request of an operator

	ServerDisconnected Type = "server.disconnected" // by an operator
	ServerConnected    Type = "server.connected"    // by an operator, also with an error

	PluginStarted     Type = "plugin.started"
	PluginCrashed     Type = "plugin.crashed"
	PluginQuarantined Type = "plugin.quarantined" // after several crashes

	SessionOpened Type = "session.opened"
	SessionClosed Type = "session.closed"

	ToolsChanged Type = "tools.changed" // of a server

	ApprovalWaiting Type = "approval.waiting"
	ApprovalDecided Type = "approval.decided"

	LoginBegun    Type = "login.begun"
	LoginFinished Type = "login.finished" // with an error, or well

	CallBegun Type = "call.begun" // see [Stream.FollowCalls]
	CallEnded Type = "call.ended"
)

// An Event is something that happened. The members that do not apply are absent.
type Event struct {
	Seq  uint64    `json:"seq"` // counts the events of a process
	Time time.Time `json:"time"`
	Type Type      `json:"type"`

	Server string `json:"server,omitempty"`
	Plugin string `json:"plugin,omitempty"`
	// Principal is the client that the event is about. Of the connection of a tenant only
	// the tenant is known.
	Principal *Principal `json:"principal,omitempty"`
	Client    string     `json:"client,omitempty"` // name and version of its program, as it says

	Approval string     `json:"approval,omitempty"` // id
	State    string     `json:"state,omitempty"`    // of the approval: waiting, approved or denied
	Kind     string     `json:"kind,omitempty"`     // of the item
	Item     string     `json:"item,omitempty"`     // of the server, that is to be used
	Rule     string     `json:"rule,omitempty"`     // that wants the approval, with its place
	Expires  *time.Time `json:"expires,omitempty"`  // of the approval
	Decided  string     `json:"decided_by,omitempty"`

	Generation int      `json:"generation,omitempty"` // of the configuration
	Added      []string `json:"added,omitempty"`      // servers, or tools of the server
	Changed    []string `json:"changed,omitempty"`
	Removed    []string `json:"removed,omitempty"`
	Held       []string `json:"held,omitempty"` // tools that are held back

	Start *Start `json:"start,omitempty"` // of start.finished

	Request  string  `json:"request_id,omitempty"`  // of a call, as in the audit log
	Outcome  string  `json:"outcome,omitempty"`     // of a call
	Duration float64 `json:"duration_ms,omitempty"` // of a call, or of the start

	Code  string `json:"code,omitempty"` // of the error
	Error string `json:"error,omitempty"`

	// Omitted counts the session events before this one that are not kept.
	Omitted int `json:"omitted,omitempty"`
}

// A Start counts servers at the end of the start of a process, and their tools.
type Start struct {
	Ready      int `json:"ready"`
	Failed     int `json:"failed"`
	NeedsAuth  int `json:"needs_auth"`
	NotStarted int `json:"not_started"` // servers are started when they are first needed
	Tools      int `json:"tools"`       // that are known, also from earlier processes
}

// A Principal is the identity of a client.
type Principal struct {
	Tenant  string `json:"tenant,omitempty"`
	Subject string `json:"subject,omitempty"`
	Method  string `json:"method,omitempty"` // of authentication
}

// By returns what an event says of a principal.
func By(p authn.Principal) *Principal {
	return &Principal{Tenant: p.Tenant, Subject: p.Subject, Method: p.Method}
}

// The limits of a Stream.
const (
	maxEvents  = 1000
	maxBytes   = 1 << 20
	eventBytes = 300 // approximate bytes of an event without its lists and its error

	maxNames = 50   // in each list of an event
	maxError = 2048 // bytes

	// Clients open and close sessions at will. Their events must not push out the others.
	sessionsPerSecond = 2
	sessionsAtOnce    = 200
)

// A Stream keeps the newest events of a process. Its methods may be called concurrently;
// Add never waits. A nil Stream keeps nothing.
type Stream struct {
	events *feed.Feed[Event]
	hide   func(string) string
	watch  func(Event) // nil: see Watch

	calls callFeed

	sessions *rate.Limiter
	omitted  atomic.Int64 // session events since the last one that was kept
}

// NewStream returns an empty Stream. hide masks secrets in texts that clients and servers
// chose; nil: there are none.
func NewStream(hide func(string) string) *Stream {
	if hide == nil {
		hide = func(text string) string { return text }
	}
	return &Stream{events: feed.New(maxEvents, maxBytes, sizeOf), hide: hide,
		sessions: rate.NewLimiter(sessionsPerSecond, sessionsAtOnce)}
}

// Watch sets a function that gets each event, without its Seq. It must not wait. Watch must
// be called before anything else.
func (s *Stream) Watch(f func(Event)) { s.watch = f }

// Add adds an event with the time of now. It shortens long lists and errors, and counts the
// events of sessions beyond their limit.
func (s *Stream) Add(e Event) {
	if s == nil {
		return
	}
	if e.Type == SessionOpened || e.Type == SessionClosed {
		if !s.sessions.Allow() {
			s.omitted.Add(1)
			return
		}
		e.Omitted = int(s.omitted.Swap(0))
	}
	e.Time = time.Now()
	for _, list := range []*[]string{&e.Added, &e.Changed, &e.Removed, &e.Held} {
		*list = slices.Clone((*list)[:min(len(*list), maxNames)])
		for i, name := range *list {
			(*list)[i] = s.hide(name)
		}
	}
	e.Client, e.Item, e.Error = s.hide(e.Client), s.hide(e.Item), s.hide(e.Error)
	e.Error = e.Error[:min(len(e.Error), maxError)]
	s.events.Add(e)
	if s.watch != nil {
		s.watch(e)
	}
}

// Read returns a reader of the events. Their Seq is zero; the number of an item is the
// one of its event.
func (s *Stream) Read() *feed.Reader[Event] { return s.events.Read() }

func sizeOf(e Event) int {
	n := eventBytes + len(e.Client) + len(e.Item) + len(e.Rule) + len(e.Error)
	for _, list := range [][]string{e.Added, e.Changed, e.Removed, e.Held} {
		for _, name := range list {
			n += len(name) + 16
		}
	}
	return n
}
