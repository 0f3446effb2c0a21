// Package control lets other processes of the same user ask a running Junctor for
// its status and tell it to reload, over a unix socket.
//
// The protocol is HTTP with JSON bodies: GET /v1/status returns a [Status], and POST
// /v1/reload returns a [Reloaded] or, with status 422, a [Failure]. GET /v1/approvals
// returns [Approvals], and POST /v1/approvals/ID/approve, /deny or /revoke, with an [Answering] or nothing,
// an [Approval] or a [Failure]. GET /v1/view returns a [plan.View] of the configuration in effect, of at most
// [plan.MaxItems] items and [plan.MaxBytes] bytes; its member left_out counts the items beyond that. POST
// /v1/console/link returns a [ConsoleLink] or a [Failure]. GET /v1/logs returns a [LogLine] a line, as a
// [LogQuery] in the URL says: follow=true, level=warn, server=NAME (repeatable), since=10m or a time. GET
// /v1/events returns an [EventLine] a line, with follow=true also those to come; with kind=calls, which needs
// follow=true, it returns the beginnings and ends of calls from then on. Streams end with the process; at
// most 8 are followed at a time, and the next gets status 503. POST /v1/servers/NAME/restart, /connect or
// /disconnect returns a [Restarted], POST /v1/servers/NAME/login a [LoginPage] and GET the same a [LoginDone]
// at the end of the login, and PUT /v1/log-level with a [LogLevel] returns the same, or both a [Failure] with
// status 422. A wrong query or body gets a [Failure] with status 400.
//
// Fields are only added to version 1. The socket belongs to the user alone. A peer is
// refused if it is a process of another user, except root, or if it descends from a Junctor
// process: MCP servers run as the same user and must not control their host.
//
// The verb serve calls Serve with a Process of its own; the verbs that ask running processes
// use [Find] and the methods of [Instance]. Server, client and the types of the answers are in
// this package so that they change together. net/http calls the handlers concurrently, and an
// Instance may be used concurrently.
//
// server.go, stream.go, listener.go and peer*.go are the socket; find.go, client.go and
// follow.go its clients; api.go and status.go the JSON, and use.go what processes use of the
// machine. Verbs of another version read the JSON, and --json prints it: members are added
// only.
//
// Files, from the top: follow.go, client.go, server.go, stream.go, listener.go, find.go, peer.go,
// peerended_linux.go, peerended_other.go, api.go, status.go, use.go.
package control

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/plan"
	"github.com/junctor-mcp/junctor/host/visible"
)

// LocalUser is how records name a peer on the socket: it is always of the user who runs Junctor.
const LocalUser = "the user who runs junctor"

// viewTime is the time for a process to describe its lists, which may be large.
const viewTime = time.Minute

// A Process answers the requests on a control socket. Its methods may be called
// concurrently.
type Process interface {
	Loginer
	Operator
	Recorder
	Status(ctx context.Context) *Status
	// Reload reads the configuration again. Exactly one of the results is not nil.
	// It ends early when ctx does, and changes nothing then.
	Reload(ctx context.Context) (*Reloaded, *Failure)
	// Approvals returns what waits for an approval, and what was approved or denied.
	Approvals() []Approval
	// Answer approves, denies or revokes what is known under an id. Exactly one of the
	// results is not nil.
	Answer(id string, a Answering) (*Approval, *Failure)
	// View returns what clients see of the configuration in effect, or nil if ctx ends
	// first.
	View(ctx context.Context) *plan.View
	// ConsoleLink returns a new link to the console. Exactly one of the results is not nil.
	ConsoleLink() (*ConsoleLink, *Failure)
}

// An Answering is what an operator says about an approval.
type Answering struct {
	Verb string `json:"-"` // "approve", "deny" or "revoke"
	// By is the person for whom the user of the process answers, as a chat relay knows
	// them; empty: the user.
	By string `json:"by,omitempty"`
	// Reason says why: at most 300 bytes of printable text with a letter or a digit.
	Reason string `json:"reason,omitempty"`
}

// AnswerVerbs are the verbs of an [Answering].
var AnswerVerbs = []string{"approve", "deny", "revoke"}

// MostBy bounds the name of a person, in bytes.
const MostBy = 128

// ValidBy reports whether a text can be the name of a person in an [Answering]: "" for none, or a
// text with a letter or a digit that people see.
func ValidBy(by string) bool {
	return by == "" || len(by) <= MostBy && visible.HasLetter(by) &&
		!strings.ContainsFunc(by, func(r rune) bool { return !unicode.IsPrint(r) })
}

// A ConsoleLink is the answer to POST /v1/console/link.
type ConsoleLink struct {
	URL string `json:"url"`
	// Expires is when the link ends, which also works only once. It is nil if URL is the
	// address of the console alone: other machines reach it, and a person signs in there.
	Expires *time.Time `json:"expires,omitempty"`
}

// An Operator changes a running process until it ends.
type Operator interface {
	// Restart closes the connections to a server and connects again. Exactly one of the
	// results is not nil.
	Restart(ctx context.Context, server string) (*Restarted, *Failure)
	// Disconnect leaves a server out until Connect. Exactly one of the results is not nil.
	Disconnect(server string) (*Restarted, *Failure)
	// Connect connects a server now. Exactly one of the results is not nil.
	Connect(ctx context.Context, server string) (*Restarted, *Failure)
	// SetLogLevel sets the level of the log. Exactly one of the results is not nil.
	SetLogLevel(LogLevel) (*LogLevel, *Failure)
}

// A Loginer logs the user in to servers.
type Loginer interface {
	// BeginLogin begins a login to a server that ends with ctx, or joins the one in progress.
	// Exactly one of the results is not nil.
	BeginLogin(ctx context.Context, server string) (*LoginPage, *Failure)
	// AwaitLogin waits for the end of the login until ctx ends. Exactly one of the results is
	// not nil.
	AwaitLogin(ctx context.Context, server string) (*LoginDone, *Failure)
}

// A Recorder has the newest records of the log and the newest events.
type Recorder interface {
	Records() *logbuffer.Buffer
	Events() *event.Stream
}

// A Restarted is a server that was restarted, connected or disconnected.
type Restarted struct {
	Instance string `json:"instance,omitempty"`
	Server   string `json:"server"`
	Took     int64  `json:"took_ms"`
	PID      int    `json:"pid,omitempty"` // of its process
}

// A LoginPage is the page of a login, for a browser on the machine of the process.
type LoginPage struct {
	Instance string `json:"instance,omitempty"`
	Server   string `json:"server"`
	URL      string `json:"url"`
}

// A LoginDone is a login that succeeded.
type LoginDone struct {
	Instance string `json:"instance,omitempty"`
	Server   string `json:"server"`
	Account  string `json:"account,omitempty"` // if the provider says so
}

// A LogLevel is the level of the log: of the process, one of off, error, warn, info, debug
// and trace, or with Server of the messages of that server, one of the levels of MCP.
type LogLevel struct {
	Instance string `json:"instance,omitempty"`
	Level    string `json:"level"`
	Server   string `json:"server,omitempty"`
}

// An Approval is a use of an item that the policy wants to be approved.
type Approval struct {
	Instance string    `json:"instance,omitempty"`
	ID       string    `json:"id"`
	State    string    `json:"state"` // waiting, approved, denied or used
	Since    time.Time `json:"since"`
	Expires  time.Time `json:"expires"`
	Times    int       `json:"times"` // how often the client has sent it

	Subject string `json:"subject"`
	Tenant  string `json:"tenant"`
	Method  string `json:"method"`
	Issuer  string `json:"issuer,omitempty"`
	Client  string `json:"client,omitempty"` // as it says

	Server    string `json:"server"`
	Kind      string `json:"kind"`
	Item      string `json:"item"`
	Arguments string `json:"arguments,omitempty"` // for a person: secrets are masked
	Covers    string `json:"covers"`              // call, tool or server
	Rule      string `json:"rule"`
	By        string `json:"by,omitempty"` // who approved or denied it

	Needs   string  `json:"needs,omitempty"` // more than one operator, in words
	Count   int     `json:"count"`           // people who must approve
	Given   []Given `json:"given,omitempty"` // what they said
	Reason  bool    `json:"reason_required,omitempty"`
	Refusal string  `json:"refusal,omitempty"` // why the reader of this cannot approve it
	Hidden  bool    `json:"arguments_hidden,omitempty"`
}

// A Given is what one person said about an approval.
type Given struct {
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// Approvals is the answer to GET /v1/approvals.
type Approvals struct {
	Approvals []Approval `json:"approvals"`
}

// A Reloaded says what a reload changed.
type Reloaded struct {
	Instance   string   `json:"instance,omitempty"`
	Generation int      `json:"generation"`
	Added      []string `json:"added"`
	Changed    []string `json:"changed"`
	Removed    []string `json:"removed"`
	// Restart holds the settings that the reload changed in the configuration, but that
	// take effect after a restart only.
	Restart []Pending `json:"needs_restart"`
	// Warnings are the warnings about the configuration, in the form of validate.
	Warnings []json.RawMessage `json:"warnings,omitempty"`
	// Text shows the warnings for a person.
	Text string `json:"text,omitempty"`
}

// A Pending is a setting that takes effect after a restart only.
type Pending struct {
	Setting string `json:"setting"`
	Effect  string `json:"effect"` // of its change until the restart
}

// A Failure says why a request changed nothing.
type Failure struct {
	Error *fault.Document `json:"error"`
	// Diagnostics are the problems of the configuration, in the form of validate.
	Diagnostics []json.RawMessage `json:"diagnostics,omitempty"`
	// Text shows the diagnostics for a person. It is empty if none of them is Error.
	Text string `json:"text,omitempty"`
}
