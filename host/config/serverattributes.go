package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Server is one server block. Of a disabled server only Name, At, Enabled and
// Blocked are set, because the rest of its block is not evaluated. Package host makes the options
// of upstream and catalog from it; the tags reload say what a change of a field does to a running
// process.
type Server struct {
	Name  string          `reload:"none"`
	At    source.Position `reload:"none"`
	Layer int             `json:",omitempty" reload:"connection"` // 0: the strongest; i: Config.Under[i-1]
	// The block is the administrator's.
	Managed bool `json:",omitempty" reload:"view"`
	// Why a servers block does not allow it; empty: all do. It may be the block of a user or a project.
	Blocked       string `json:",omitempty" reload:"none"`
	BlockedByUser bool   `json:",omitempty" reload:"none"`

	// The first attribute, because no other one of a disabled server is read.
	Enabled  bool   `hcl:"enabled" default:"true" reload:"none" doc:"Nothing else in the block of a disabled server is evaluated."`
	Prefix   string `hcl:"prefix" accepts:"letters, digits, '_', '-'; at most 40 characters" unset:"the label" reload:"view" doc:"Tools and prompts are offered as 'PREFIX__NAME'. The prefix must not contain '__' or end in '_'. '\"\"' offers names without a prefix."`
	Protocol string `hcl:"protocol" words:"auto,2024-11-05,2025-03-26,2025-06-18,2025-11-25,2026-07-28" reload:"connection,cache" doc:"The revision of MCP. 'auto' finds out which revision the server speaks and remembers it."`
	Share    string `hcl:"share" words:"global,tenant,session" unset:"'\"global\"'; '\"tenant\"' if the 'auth' blocks of the gateway name several tenants" in:"defaults" reload:"connection,view" doc:"Which clients share a connection: all clients, those of one tenant, or none. See [Shared connections](#shared-connections)."`
	Idle     Idle   `hcl:"idle" words:"adaptive,never" accepts:"'\"adaptive\"', '\"never\"' or a duration, at most '24h'" unset:"'\"adaptive\"'" in:"defaults" reload:"connection" doc:"When an unused connection is closed. 'adaptive' waits one to five minutes, depending on use. A server that keeps something between calls, such as the page of a browser, a shell or a login in it, loses that: write '\"never\"'."`
	Required bool   `hcl:"required" reload:"none" doc:"'junctor serve' does not start if this server cannot be reached."`
	// In bytes.
	MaxMessage  int      `hcl:"max_message" format:"size" default:"16MiB" min:"64KiB" max:"256MiB" reload:"connection,cache" doc:"The size of one message in either direction. A larger message fails its call."`
	Registry    string   `hcl:"registry" accepts:"'\"NAME@VERSION\"'" unset:"none" reload:"none" doc:"The entry of an MCP registry that 'junctor add' made the block of. 'junctor update' uses it." json:",omitempty"`
	Describe    string   `hcl:"describe" words:"full,brief,verbatim" in:"defaults" reload:"view" doc:"How the server's descriptions reach clients. See [Descriptions](#descriptions)."`
	BadSchema   string   `hcl:"bad_schema" words:"replace,hide" in:"defaults" reload:"view" doc:"How a tool with a schema that Junctor refuses is offered. 'replace' offers it with a schema that accepts any object and without an output schema; 'hide' leaves it out."`
	Definitions string   `hcl:"definitions" words:"any,first_use,locked" in:"defaults" reload:"view" doc:"Whether a tool may change what it says about itself. See [lock.md](lock.md)."`
	LogLevel    string   `hcl:"log_level" words:"info,debug,notice,warning,error,critical,alert,emergency" in:"defaults" reload:"none" doc:"The least severe messages of the server that Junctor asks for and logs. See [Messages of servers](operate.md#messages-of-servers)."`
	Context     []string `hcl:"context" words:"subject,tenant,issuer,method,session,client" unset:"nothing" in:"defaults" reload:"none" doc:"What the server learns about the client with each request. See [Context](#context)." json:",omitempty"`
	Trace       string   `hcl:"trace" words:"on,off" in:"defaults" reload:"none" doc:"Whether the server gets the trace context and the id of each request. See [monitoring.md](monitoring.md#what-servers-get)."`

	Timeouts  Timeouts  `hcl:"timeouts,block" doc:"How long the start of the server, a call and the end of the server may take."`
	Resources Resources `hcl:"resources,block" doc:"Which resources clients may read."`
	Tools     Tools     `hcl:"tools,block" doc:"Which tools are offered, and how they may be called."`

	_ forEachValue   `hcl:"for_each" unset:"one server" doc:"Makes several servers of the block. See [Several servers from one block](#several-servers-from-one-block)."`
	_ transportBlock `hcl:"transport,block" doc:"How Junctor reaches the server. The label is the kind: 'stdio', 'http', 'sse', 'cli', or a required plugin."`
	_ authBlock      `hcl:"auth,block" doc:"How Junctor logs in to the server. The label is the provider: 'bearer', 'oauth', 'command', or a required plugin."`
	_ []viewBlock    `hcl:"tool,block" doc:"Changes how one tool is offered. The label is the server's own name of the tool."`

	// They have no tag reload, because their plugins decide, too, what a change of them does.
	Transport Block
	Auth      *Block // nil: no auth block

	Views []View `reload:"view"`
	Lock  string `json:",omitempty" reload:"view"` // the path of the lock file with the pins; empty if they may change

	written []Setting // the attributes that the configuration sets

	// Fingerprint is equal for two blocks exactly if a connection that was opened
	// for one also serves the other. Names and places do not change it. It has the attributes
	// with the word cache in the tag reload, and is also the key of cached lists.
	Fingerprint string `reload:"connection"`
}

// Timeouts bound the phases of an upstream. A server has two seconds from the end of its input
// to SIGTERM, and two more to SIGKILL.
type Timeouts struct {
	Start    time.Duration `hcl:"start" default:"10s" max:"10m" in:"defaults" reload:"connection" doc:"For the start of the server and the handshake. Each line that the server prints on standard error restarts it, up to 'timeouts.install' in total."`
	Install  time.Duration `hcl:"install" default:"5m" max:"1h" in:"defaults" reload:"connection" doc:"In place of 'timeouts.start' if the command is a launcher that may install the server first (see [How servers start](#how-servers-start)). It is never less than 'timeouts.start'."`
	Call     time.Duration `hcl:"call" default:"1m" max:"10m" in:"defaults" reload:"connection" doc:"For one call."`
	Shutdown time.Duration `hcl:"shutdown" default:"5s" max:"1m" in:"defaults" reload:"connection" doc:"For the server to end. It gets SIGTERM two seconds after the end of its input, and SIGKILL two seconds later. After a failed start it is ten seconds, with a launcher thirty."`
	Extends  bool          `hcl:"progress_extends" in:"defaults" reload:"connection" doc:"Each progress notification restarts the time of its call, at most a thousand times."`
}

// Validate implements [language.Validator]. A value of the block itself must be at least start;
// a default and an inherited value are raised to start.
func (t *Timeouts) Validate(r language.Reader) {
	if own := r.Body.Attributes["install"]; own != nil && r.IsRead("install") && t.Install < t.Start {
		r.ErrorAt(own.Expr.Range(), "", `"install" must be at least %s, which "start" is`,
			language.ShortDuration(t.Start))
	}
	t.Install = max(t.Install, t.Start)
}

// Resources says which resources of a server clients may read. Unlisted also
// allows resources that the server neither lists nor has a template for.
type Resources struct {
	Unlisted bool `hcl:"unlisted" reload:"none" doc:"Clients may also read and subscribe to resources that the server does not list. See [Resources](#resources)."`
}

// Tools says which tools of a server are offered and how they are classified. A
// nil Allow allows every tool; an empty Allow allows no tool.
type Tools struct {
	Allow      Patterns `hcl:"allow" accepts:"a list of globs" unset:"every tool" reload:"view" doc:"The tools that are offered. '[]' offers no tool."`
	Deny       Patterns `hcl:"deny" accepts:"a list of globs" unset:"no tool" reload:"view" doc:"The tools that are not offered, even if 'allow' matches."`
	Read       Patterns `hcl:"read" accepts:"a list of globs" unset:"no tool" reload:"view" doc:"A call may be sent again if the connection ended before the answer."`
	Write      Patterns `hcl:"write" accepts:"a list of globs" unset:"no tool" reload:"view" doc:"A call is never sent again."`
	Idempotent Patterns `hcl:"idempotent" accepts:"a list of globs" unset:"no tool" reload:"view" doc:"As 'read': a call may be sent again."`
	Confirm    Patterns `hcl:"confirm" accepts:"a list of globs" unset:"no tool" reload:"view" doc:"The tools that a person must approve before each call: short for a 'confirm' block of the policy about everyone."`
}

// Validate implements [language.Validator].
func (t *Tools) Validate(r language.Reader) {
	if haveCommon(t.Allow, t.Deny) {
		exclusive(r, "allow", "deny")
	}
	if haveCommon(t.Read, t.Write) {
		exclusive(r, "read", "write")
	}
}

// Done implements [language.Partial].
func (s *Server) Done() bool { return !s.Enabled }

// Validate implements [language.Validator].
func (s *Server) Validate(r language.Reader) {
	if r.IsRead("registry") && !originRule.MatchString(s.Registry) {
		r.ErrorAt(r.ValueAt("registry", r.Head), `write registry = "io.github.user/server@1.2.3"`,
			"%q is not the name and version of an entry", "registry")
	}
	s.checkPrefix(r)
}

var prefixRule = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

const maxPrefix = 40

// checkPrefix checks the prefix of exposed names, which is the label by default. Its grammar
// keeps all exposed names distinct, so that no exposed name has to be parsed.
func (s *Server) checkPrefix(r language.Reader) {
	set := r.IsRead("prefix")
	switch {
	case set && s.Prefix == "", !set && r.IsSkipped("prefix"):
		return
	case !set:
		s.Prefix = r.Label
	}
	var why string
	switch {
	case !set && !labelRule.MatchString(s.Prefix):
		// The label was reported.
	case !prefixRule.MatchString(s.Prefix):
		why = "may hold letters, digits, - and _ only"
	case strings.Contains(s.Prefix, "__"):
		why = `must not contain "__", which separates prefix and name`
	case strings.HasSuffix(s.Prefix, "_"):
		why = `must not end in "_"`
	case len(s.Prefix) > maxPrefix:
		why = fmt.Sprintf("must be at most %d characters long", maxPrefix)
	}
	switch {
	case why == "":
	case set:
		r.ErrorAt(r.ValueAt("prefix", r.Head), "", "a prefix %s", why)
	default:
		r.ErrorAt(r.LabelAt, `set prefix = "..." in the block`, "the server's name is also its prefix, which %s", why)
	}
}

// Idle says when an unused connection is closed. Exactly one field is set.
type Idle struct {
	Adaptive bool
	Never    bool
	After    time.Duration
}

const maxIdle = 24 * time.Hour

// ReadSetting implements [language.Setting]: "adaptive", "never" or a duration.
func (i *Idle) ReadSetting(r language.Reader, name string) {
	v, a, set := r.Value(name, cty.String)
	if !set {
		*i = Idle{Adaptive: true}
		return
	}
	word, marks := v.Unmark()
	text := word.AsString()
	switch text {
	case "adaptive":
		*i = Idle{Adaptive: true}
		return
	case "never":
		*i = Idle{Never: true}
		return
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		hint, got := language.UnlessSecret(marks, language.DurationHint(name, text)), language.GotText(text,
			len(marks) > 0)
		r.ErrorAt(a.Expr.Range(), hint, `%q must be "adaptive", "never" or a duration such as "5m"%s`, name, got)
	case d <= 0 || d > maxIdle:
		r.ErrorAt(a.Expr.Range(), `write idle = "never" to keep connections open`,
			"%q must be more than zero and at most %s", name, language.ShortDuration(maxIdle))
	}
	*i = Idle{After: d}
}

// Patterns are globs of the names of tools.
type Patterns []Pattern

// ReadSetting implements [language.Setting].
func (p *Patterns) ReadSetting(r language.Reader, name string) { *p = patternsOf(globs(r, name)) }

// Public returns the globs without their places.
func (p Patterns) Public() any { return globsOf(p) }

type (
	forEachValue   struct{}
	transportBlock struct{}
	authBlock      struct{}
)

// Values implements [language.Valued].
func (forEachValue) Values() language.Values {
	return language.Values{
		Accepts: "a map, or a list of texts; at most 100 elements",
		Schema:  map[string]any{"type": []string{"object", "array"}},
	}
}

// Role implements [language.Plugged].
func (transportBlock) Role() *language.Role { return &transports }

// Role implements [language.Plugged].
func (authBlock) Role() *language.Role { return &providers }
