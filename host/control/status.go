package control

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/usage"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// A Status describes a running process. Package host fills it, telemetry makes metrics of it,
// and junctor status --json prints it: members are added only. It is made anew for each request
// and belongs to its receiver.
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

	Tools *int `json:"tools,omitempty"`
	// Tools that are held back, because their definitions were not accepted.
	HeldTools int             `json:"held_tools,omitempty"`
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
