package console

import (
	"context"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/usage"
)

// Sources are the interfaces through which the pages reach the process: what the pages show and
// change. All methods may be called concurrently. Audit may be nil; all others are set. Package
// host sets them once. Implementations are in console/source and in host/consolesources.go.
type Sources struct {
	Process   Process
	Servers   Servers
	Pins      Pins
	Tools     Tools
	Items     ItemSource
	Policy    Policy
	Approvals Approvals
	Logins    Logins
	Programs  Programs
	Traffic   Traffic
	Journal   Journal

	Configuration Configuration
	Audit         Audit // nil: there is no audit log
}

// A Process describes itself.
type Process interface {
	Status(ctx context.Context) *control.Status
}

// Servers act on the servers of the configuration.
type Servers interface {
	// Restart closes the connections to a server, also those in use, connects again and
	// asks for the lists of the server. by names the admin, for the audit log.
	Restart(server, by string) error
	// LastLines returns the last lines that a connected server printed on standard error.
	LastLines(ctx context.Context, server string) []string
	// Changes returns the newest changes of the tools of a server, the newest first.
	Changes(server string) []catalog.Change
	// Instructions returns what a server tells models about itself, as it was last known.
	Instructions(server string) string
}

// Pins decide which tools are held back, because their definitions were not accepted.
type Pins interface {
	// Pinned compares the tools of a server with the accepted ones. It contacts no server.
	Pinned(server string) Pinned
	// Held counts the tools that are held back, by server. A server without any is absent.
	Held() map[string]int
	// AcceptTools accepts definitions of tools that are held back. digests are those that a
	// person has seen, by tool: if one is another now, the method fails and changes nothing.
	// by names the admin, for the audit log.
	AcceptTools(server string, digests map[string]string, by string) error
}

// Pinned is how the tools of a server differ from the accepted ones.
type Pinned struct {
	Definitions string // the attribute of the server: "any", "first_use" or "locked"
	// Differences are the tools that are held back, and then accepted ones that the server has
	// no longer. There are none with "any", and while the tools are not known.
	Differences []pins.Difference
}

// Tools are the tools of the catalog.
type Tools interface {
	// List returns all tools in the order of the catalog. The slice must not be changed.
	List() []*catalog.Tool
	// Find returns the tool with an exposed name.
	Find(exposed string) (*catalog.Tool, bool)
	// Call calls a tool as a client of the gateway does.
	Call(ctx context.Context, c Caller, t *catalog.Tool, args []byte) (Result, error)
}

// ItemSource has the resources and prompts of the catalog.
type ItemSource interface {
	// Items returns all of them. The slices must not be changed.
	Items() Items
	// Read reads a resource of a server as a client of the gateway does.
	Read(ctx context.Context, c Caller, server, uri string) (Result, error)
	// Prompt gets a prompt as a client of the gateway does.
	Prompt(ctx context.Context, c Caller, p *catalog.Prompt, args map[string]string) (Result, error)
}

// Items are the resources and the prompts of the catalog, in its order.
type Items struct {
	Resources []*catalog.Item
	Templates []*catalog.Template
	Prompts   []*catalog.Prompt
}

// A Caller is the person who calls a tool, reads a resource or gets a prompt.
type Caller struct {
	Principal authn.Principal
	Address   string // of the browser without a port, or "unknown" behind a proxy
}

// A Result is the result of such a request.
type Result struct {
	JSON   []byte
	Failed bool        // the tool says so
	Hold   *limit.Hold // memory of the result and its page; released when the page is written
}

// A Policy explains its decisions.
type Policy interface {
	// Principal returns the principal with a subject, as far as the configuration knows it.
	Principal(subject, tenant string) authn.Principal
	// Explain returns the decision about a use. The error says which member of it is not valid.
	Explain(u Use) (policy.Explanation, error)
	// Named returns the principals that the configuration names.
	Named() []NamedPrincipal
	// Decide returns the decision about a tool in a list, for requests from anywhere.
	Decide(who *authn.Principal, t *catalog.Tool) policy.Decision
}

// A Use is the use of a tool that a person describes. Address, Client and Time may be empty:
// the decision is then one for any, or says that it depends on them. For the command line
// they are its own.
type Use struct {
	Who     authn.Principal
	Tool    *catalog.Tool
	Args    []byte // nil: it is about a list
	Address string
	Client  string // name of the program
	Time    string // such as 2026-03-01T22:30, in the time zone of the policy
}

// A NamedPrincipal is a principal that the configuration names: the command line, a subject,
// a group or a role.
type NamedPrincipal struct {
	Name string // for people
	Who  authn.Principal
}

// Approvals are the calls that wait for a person.
type Approvals interface {
	// Calls returns what a person may see.
	Calls(who approval.Person, viewer bool) []control.Approval
	// Answer approves or denies the call with an id.
	Answer(id string, a approval.Answer) (*control.Approval, error)
	// Revoke takes back an approval.
	Revoke(id string, who approval.Person) (*control.Approval, error)
}

// Logins are the logins to servers.
type Logins interface {
	Logins(ctx context.Context) []Login
	// Begin begins a login, or returns the page of one that is in progress.
	Begin(ctx context.Context, server string) (page string, err error)
}

// A Login is the state of the login to a server.
type Login struct {
	Server  string
	Kind    string // of the auth block
	State   string // "ready", "needs_login", "refused", "failed" or "unknown"
	Reason  string // why State is not "ready"; may be empty
	Account string
	Stored  string // the store that holds the credential; may be empty
	Expires time.Time
	Page    string // to open in a browser, of a login in progress
	Failed  string // why the last login on a page failed; may be empty
}

// Programs are the programs of plugins.
type Programs interface {
	Programs() []Program
	// AcceptProgram pins the program that a plugin has on disk, if it has this digest. by says
	// who accepts it.
	AcceptProgram(plugin, digest, by string) error
}

// A Program is the program of a plugin.
type Program struct {
	Plugin  string
	Source  string
	Version string
	Path    string
	SHA256  string
	Pinned  bool // the configuration or the lock file has a digest

	// Of a plugin that the lock file may pin:
	Lockable bool
	Pin      string // the digest in the lock file; empty: it has none
	OnDisk   string // the digest of the file now
	Problem  string // why OnDisk is not known
}

// Traffic has counters of the requests to each server since the start of the process.
type Traffic interface {
	Totals() map[string]usage.Totals
}

// A Configuration is the one in effect.
type Configuration interface {
	Configured() Configured
	// Settings returns the settings of a server, without secrets.
	Settings(server string) []Setting
	// Reload reads the configuration again. by names the person or program that asks. Both results are nil if
	// the reload takes longer than ReloadTime: it goes on then.
	Reload(ctx context.Context, by string) (*control.Reloaded, *control.Failure)
}

// Configured is what the configuration consists of.
type Configured struct {
	Files   []string
	Servers []ConfiguredServer
	Blocks  []Detail // settings of blocks about the whole process, without secrets
}

// A ConfiguredServer is a server block.
type ConfiguredServer struct {
	Name     string
	State    string // "enabled", "disabled" or "blocked"
	Why      string // it is blocked
	At       string
	Replaces []string // places of blocks of weaker layers
}

// A Setting is a setting of a server.
type Setting struct {
	Name  string
	Value string
	Given bool   // false: it has its default
	From  string // where it is given
}

// A Journal has the newest records of the log and the newest events of the process, the
// latest first. The slices belong to the caller.
type Journal interface {
	Records() []*logbuffer.Record
	Events() []event.Event
}

// ErrAuditOff means that there is no audit log that can be searched.
var ErrAuditOff = errors.New("the audit log is off")

// An Audit searches the audit log.
type Audit interface {
	// Search returns the latest selected rows first. The error is ErrAuditOff if the
	// configuration has no log in a file.
	Search(ctx context.Context, f AuditFilter) (AuditPage, error)
}

// An AuditFilter selects rows. Empty fields select all. In What, Server, Item and Subject an
// asterisk stands for any text.
type AuditFilter struct {
	Since, Until time.Time
	What         string // the method of a request, or the kind of another event
	Server, Item string
	Subject      string
	Errors       bool  // every outcome but ok
	Denied       bool  // outcomes of the policy and of approvals
	Uses         bool  // no requests for lists and the like that succeeded
	Before       int64 // rows with a smaller sequence number; 0: all
	Limit        int   // of the rows
}

// An AuditPage is a part of the selected rows.
type AuditPage struct {
	Rows []AuditRow
	More bool // there are older ones
}

// An AuditRow is a row of the log.
type AuditRow struct {
	Seq      int64
	Time     time.Time
	What     string // the method of a request, or the kind of another event
	Subject  string
	Tenant   string
	Server   string
	Item     string
	Outcome  string // "ok", or what went wrong
	Code     string
	Message  string // why it went wrong
	Rule     string
	Duration time.Duration
	Details  []Detail // everything else, in the order to show
}

// A Detail is a further value of a row.
type Detail struct{ Name, Value string }
