// Package control lets other processes of the same user ask a running Junctor for
// its status and tell it to reload, over a unix socket.
//
// The protocol is HTTP with JSON bodies: GET /v1/status returns a [Status], and POST
// /v1/reload returns a [Reloaded] or, with status 422, a [Failure]. GET /v1/approvals
// returns [Approvals], and POST /v1/approvals/ID/approve, /deny or /revoke, with an [Answering] or nothing, an [Approval] or a
// [Failure]. GET /v1/view returns a [plan.View] of the configuration in effect, of at most
// [plan.MaxItems] items and [plan.MaxBytes] bytes; its member left_out counts the items
// beyond that. POST /v1/console/link returns a [ConsoleLink] or a [Failure]. GET /v1/logs
// returns a [LogLine] a line, as a [LogQuery] in the URL says: follow=true, level=warn,
// server=NAME (repeatable), since=10m or a time. GET /v1/events returns an [EventLine] a
// line, with follow=true also those to come; with kind=calls, which needs follow=true, it
// returns the beginnings and ends of calls from then on. Streams end with the process; at most 8 are
// followed at a time, and the next gets status 503. POST /v1/servers/NAME/restart, /connect or
// /disconnect returns a [Restarted], POST /v1/servers/NAME/login a [LoginPage] and GET the same a [LoginDone] at the end of the login, and PUT /v1/log-level with a [LogLevel] returns the same, or both a [Failure]
// with status 422. A wrong query or body gets a [Failure] with status 400.
//
// Fields are only added to version 1. The socket belongs to the user alone. A peer is
// refused if it is a process of another user, except root, or if it descends from a Junctor
// process: MCP servers run as the same user and must not control their host.
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
	"github.com/junctor-mcp/junctor/host/usage"
	"github.com/junctor-mcp/junctor/host/visible"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// LocalUser is how records name a peer on the socket: it is always of the user who runs Junctor.
const LocalUser = "the user who runs junctor"

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
	return by == "" || len(by) <= MostBy && visible.HasLetter(by) && !strings.ContainsFunc(by, func(r rune) bool { return !unicode.IsPrint(r) })
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

// A Status describes a running process.
type Status struct {
	Instance  string    `json:"instance,omitempty"` // names the process for --instance; see [Instance]
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	Started   time.Time `json:"started"`
	Uptime    int64     `json:"uptime_s"`
	Transport string    `json:"transport"`         // of the clients: "stdio", "http" or "http+stdio"
	Address   string    `json:"address,omitempty"` // listening address
	Console   string    `json:"console,omitempty"` // address of the console; empty: it is off
	Directory string    `json:"directory,omitempty"`

	Memory     Memory     `json:"memory"`
	Generation Generation `json:"generation"`
	Servers    []*Server  `json:"servers"`
	Plugins    []Plugin   `json:"plugins"`
	Sessions   Sessions   `json:"sessions"`
	Limits     []ToolUse  `json:"limits,omitempty"` // of tools, those in use most first
	Waiting    int        `json:"approvals_waiting,omitempty"`
	LogLevel   string     `json:"log_level,omitempty"`
	Audit      *Audit     `json:"audit,omitempty"` // nil: nothing is recorded
	// Clients says what principals use at the moment, those with most requests and
	// sessions first. It has at most MaxClients.
	Clients  []ClientUse `json:"clients,omitempty"`
	Activity Activity    `json:"activity"`
	// Sandbox is what this kernel can enforce for wrapped programs.
	Sandbox sandbox.Support `json:"sandbox"`
	Notices *Notices        `json:"notices,omitempty"` // absent without a notify block

	Certificates []Certificate `json:"certificates,omitempty"` // of the listeners with TLS
	Issuers      []Issuer      `json:"issuers,omitempty"`      // of tokens that clients present
	Logins       []Login       `json:"logins,omitempty"`       // that all clients share; checked every half hour
	// Refused counts requests of clients that were refused before they were read, by reason.
	Refused map[string]uint64 `json:"refused,omitempty"`
}

// A Certificate is a file of certificates that a listener uses.
type Certificate struct {
	Listener string    `json:"listener"` // gateway or console
	Kind     string    `json:"kind"`     // cert or client_ca
	File     string    `json:"file"`
	Ends     time.Time `json:"ends"`
	Error    string    `json:"error,omitempty"` // why the file as it is now is not in use
}

// An Issuer is a source of the keys that verify tokens of clients.
type Issuer struct {
	Source string     `json:"source"` // URL or file
	Usable bool       `json:"usable"` // tokens can be verified
	Read   *time.Time `json:"read,omitempty"`
	Error  string     `json:"error,omitempty"` // of the last attempt to read the keys
}

// A Login is the state of the login at a server.
type Login struct {
	Server string     `json:"server"`
	State  string     `json:"state"`          // ready, needs_login or unknown
	Ends   *time.Time `json:"ends,omitempty"` // when a person must log in again, if that is known
}

// An Activity has the numbers of a process that belong to no server or client alone.
type Activity struct {
	Suspended     int        `json:"suspended_calls"`
	Streams       int        `json:"streams"` // open for messages to clients
	Reloads       uint64     `json:"reloads"` // that succeeded
	FailedReloads uint64     `json:"failed_reloads"`
	LastReload    *time.Time `json:"last_reload,omitempty"` // that succeeded
	SchemaHits    uint64     `json:"schema_cache_hits"`
	SchemaMisses  uint64     `json:"schema_cache_misses"`
}

// Audit is the state of the audit log.
type Audit struct {
	File    string `json:"file,omitempty"` // empty: it is written to standard output or error
	Backlog int    `json:"backlog"`        // events that are not written yet
	Dropped int    `json:"dropped"`        // events that were not recorded, since the start
	Failing bool   `json:"failing"`        // the last attempt to write failed
	// Refusing is whether requests are refused, because they cannot be recorded.
	Refusing bool `json:"refusing"`
	// CopiesDropped are the rows that targets of forward did not get, since the start.
	CopiesDropped int `json:"copies_dropped"`
	CopiesFailing int `json:"copies_failing"` // targets of forward whose last attempt failed
}

// Notices counts the notices of the notify block since the process started.
type Notices struct {
	Queued int    `json:"queued"`
	Sent   int    `json:"sent"`
	Lost   int    `json:"lost"`
	Error  string `json:"error,omitempty"` // of the last attempt; absent: it succeeded
}

// MaxClients is the largest number of principals that a status lists.
const MaxClients = 50

// A ClientUse says what a principal uses of the limits that clients share.
type ClientUse struct {
	Tenant      string `json:"tenant"`
	Subject     string `json:"subject"`
	Method      string `json:"method"` // of authentication
	Requests    int64  `json:"requests"`
	Streams     int64  `json:"streams"`
	Sessions    int64  `json:"sessions"`
	Connections int64  `json:"connections"`
	Memory      int64  `json:"memory_bytes"` // of messages; 0 without shares
}

// A ToolUse says how much of the limits of a tool a tenant uses.
type ToolUse struct {
	Tenant  string  `json:"tenant"`
	Server  string  `json:"server"`
	Tool    string  `json:"tool"`
	Used    float64 `json:"used"` // share of the limit, from 0 to 1
	Running int     `json:"running"`
	Waiting int     `json:"waiting"`
}

// A Memory is the memory of the host process, in bytes.
type Memory struct {
	Resident    uint64  `json:"resident_bytes,omitempty"` // 0: not known
	CPU         float64 `json:"cpu_s,omitempty"`          // seconds that the process has used
	Messages    int64   `json:"messages_bytes"`           // held for messages now
	MaxMessages int64   `json:"max_messages_bytes,omitempty"`
}

// A Generation describes the configuration in effect.
type Generation struct {
	Number int       `json:"number"` // 1 for the one that the process started with
	Loaded time.Time `json:"loaded"`
	Path   string    `json:"path"` // absolute
	Files  []string  `json:"files"`
	Policy string    `json:"policy,omitempty"` // a digest of the rules, as in the audit log; empty: there are none
	// Failed is the last reload if it had an error.
	Failed *FailedReload `json:"failed_reload,omitempty"`
}

// A FailedReload is a reload that changed nothing.
type FailedReload struct {
	At    time.Time       `json:"at"`
	Error *fault.Document `json:"error"`
}

// A Server describes an MCP server of the configuration. Counters begin with the
// process and are zero where nothing counts.
type Server struct {
	Server    string `json:"server"`
	OK        bool   `json:"ok"`
	State     string `json:"state"` // one of ServerStates
	Step      string `json:"step,omitempty"`
	Required  bool   `json:"required,omitempty"`
	Transport string `json:"transport"`
	Plugin    string `json:"plugin,omitempty"`
	At        string `json:"at"`

	Latency    int64           `json:"latency_ms,omitempty"` // of a connection made for this status
	Revision   string          `json:"protocol,omitempty"`
	ServerInfo json.RawMessage `json:"server_info,omitempty"`
	PID        int             `json:"pid,omitempty"`
	Memory     uint64          `json:"memory_bytes,omitempty"` // resident, of PID and its descendants
	CPU        float64         `json:"cpu_s,omitempty"`        // seconds that PID and its descendants have used
	LogLevel   string          `json:"log_level,omitempty"`    // of the messages of the server

	Connections int     `json:"connections,omitempty"` // open now; several unless all clients share one
	Connects    int     `json:"connects,omitempty"`    // of the connection that all clients share
	Calls       uint64  `json:"calls"`
	Errors      uint64  `json:"errors"`           // of Calls
	P50         float64 `json:"p50_ms,omitempty"` // half of Calls took at most this, or up to a quarter less
	P99         float64 `json:"p99_ms,omitempty"`
	// Durations counts those of Calls that have ended, as pairs: milliseconds, and the
	// number of calls that took less, but not less than the milliseconds of the pair before.
	Durations     usage.Durations `json:"durations,omitzero"`
	InFlight      int             `json:"in_flight,omitempty"`
	Subscriptions int             `json:"subscriptions,omitempty"`
	LastUsed      *time.Time      `json:"last_used,omitempty"`
	Retry         *time.Time      `json:"retry,omitempty"` // earliest time of the next attempt to connect

	// Tenants are those with connections of their own, by name; at most 100.
	Tenants []TenantUse `json:"tenants,omitempty"`

	Tools     *int            `json:"tools,omitempty"`
	HeldTools int             `json:"held_tools,omitempty"` // tools that are held back, because their definitions were not accepted
	Resources *int            `json:"resources,omitempty"`
	Prompts   *int            `json:"prompts,omitempty"`
	Listed    *time.Time      `json:"listed,omitempty"`
	Notes     []string        `json:"notes,omitempty"`
	Settings  json.RawMessage `json:"settings,omitempty"`
	Error     *fault.Document `json:"error,omitempty"`
}

// A TenantUse is what a server has for one tenant, beside the connection that all clients
// share.
type TenantUse struct {
	Tenant      string          `json:"tenant"`
	Connections int             `json:"connections"`
	State       string          `json:"state"` // of the connection that is worst off
	Revision    string          `json:"protocol,omitempty"`
	PIDs        []int           `json:"pids,omitempty"`         // at most 20
	Memory      uint64          `json:"memory_bytes,omitempty"` // resident, of the processes and their descendants
	CPU         float64         `json:"cpu_s,omitempty"`
	Error       *fault.Document `json:"error,omitempty"`
}

// The states of servers without a connection: none was needed yet, or it was closed because
// nothing used it.
const (
	NotStarted = "not_started"
	Idle       = "idle"
)

// Disconnected is the state of a server that an operator has disconnected.
const Disconnected = "disconnected"

// ServerStates are the states of servers.
var ServerStates = []string{"disabled", NotStarted, Idle, "starting", "ready", "failed", "needs_auth", Disconnected}

// StateText returns the state for people.
func (s *Server) StateText() string { return strings.ReplaceAll(s.State, "_", " ") }

// A Plugin describes a plugin process.
type Plugin struct {
	Plugin      string          `json:"plugin"`
	Servers     string          `json:"servers,omitempty"` // that may use the process; empty: all
	Version     string          `json:"version,omitempty"`
	State       string          `json:"state"`
	PID         int             `json:"pid,omitempty"`
	Memory      uint64          `json:"memory_bytes,omitempty"` // resident
	CPU         float64         `json:"cpu_s,omitempty"`        // seconds used
	Connections int             `json:"connections"`
	Restarts    int             `json:"restarts"`
	Retry       *time.Time      `json:"retry,omitempty"`
	Error       *fault.Document `json:"error,omitempty"`
}

// Sessions describes the clients that stay connected. Modern requests over HTTP need
// no session, except to listen.
type Sessions struct {
	Count int `json:"count"`
	// Stored are further sessions that are valid: their clients have sent nothing since the
	// process started.
	Stored int       `json:"stored,omitempty"`
	List   []Session `json:"list"` // at most MaxSessions of them, the oldest first
}

// MaxSessions is the largest number of sessions that a status lists.
const MaxSessions = 100

// A Session describes one connected client.
type Session struct {
	Client        string    `json:"client,omitempty"` // name and version, as the client says
	Subject       string    `json:"subject,omitempty"`
	Tenant        string    `json:"tenant,omitempty"`
	Revision      string    `json:"protocol,omitempty"`
	Since         time.Time `json:"since"`
	InFlight      int       `json:"in_flight"`
	Subscriptions int       `json:"subscriptions,omitempty"`
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
