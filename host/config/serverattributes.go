package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// A Server is one server block. Of a disabled server only Name, At, Enabled and
// Blocked are set, because the rest of its block is not evaluated.
type Server struct {
	Name          string
	Prefix        string // of exposed tool names; empty: names are not prefixed
	At            Position
	Layer         int  `json:",omitempty"` // 0: the strongest; i: Config.Under[i-1]
	Managed       bool `json:",omitempty"` // the block is the administrator's
	Enabled       bool
	Registry      string `json:",omitempty"` // NAME@VERSION of the entry that the block came from; for junctor update
	Blocked       string `json:",omitempty"` // why a servers block does not allow it; empty: all do
	BlockedByUser bool   `json:",omitempty"` // it is the block of a user or a project
	Required      bool
	Protocol      string // "auto" or a revision of MCP
	Share         string // "global", "tenant" or "session"
	Idle          Idle
	Timeouts      Timeouts
	MaxMessage    int // bytes of one message, in either direction

	Transport Block
	Auth      *Block // nil: no auth block
	Tools     Tools
	Views     []View
	Resources Resources

	LogLevel  string   // the least severe messages of the server that are logged: a level of MCP
	Describe  string   // how descriptions are passed on: "full", "brief" or "verbatim"
	Context   []string `json:",omitempty"` // what the server learns about clients: "subject", "tenant", "issuer", "method", "session", "client"
	Trace     string   // "on", or "off": the server learns nothing of traces and ids of requests
	BadSchema string   // how a tool with an unsafe schema is offered: "replace" or "hide"

	Definitions string // whether definitions of tools may change: "any", "first_use" or "locked"
	Lock        string `json:",omitempty"` // the path of the lock file with the pins; empty if they may change

	written []Setting // the attributes that the configuration sets

	// Fingerprint is equal for two blocks exactly if a connection that was opened
	// for one also serves the other. Names and places do not change it.
	Fingerprint string
}

// logLevels are the levels of MCP for the messages of servers, with the default first.
var logLevels = []string{"info", "debug", "notice", "warning", "error", "critical", "alert", "emergency"}

// Idle says when an unused connection is closed. Exactly one field is set.
type Idle struct {
	Adaptive bool
	Never    bool
	After    time.Duration
}

// Timeouts bound the phases of an upstream.
type Timeouts struct {
	Start, Call, Shutdown time.Duration
	Install               time.Duration // in place of Start, if the start installs the server
	Extends               bool          // a progress notification restarts the time of its call
}

// Tools says which tools of a server are offered and how they are classified. A
// nil Allow allows every tool; an empty Allow allows no tool.
type Tools struct{ Allow, Deny, Read, Write, Idempotent, Confirm []Pattern }

// Resources says which resources of a server clients may read. Unlisted also
// allows resources that the server neither lists nor has a template for.
type Resources struct{ Unlisted bool }

// A serverAttribute is one attribute of a server block, or of one of its blocks.
type serverAttribute struct {
	block string // the block inside the server block, such as "timeouts"; empty: none
	name  string
	serverValue
	inDefaults    bool   // the defaults block may set it for all servers
	inFingerprint bool   // it is part of Server.Fingerprint, which is also the key of cached lists
	doc           string // Markdown, one or more sentences
}

// serverAttributes is the table of the attributes whose values the host decodes. It
// is the only list of their names. The accepted attributes of a block, their decoders
// and defaults, and the table in docs/configuration.md come from it. "enabled" is the
// first, because no other attribute of a disabled server is read. "start" precedes
// "install", because it is the lower bound of "install".
var serverAttributes = []serverAttribute{
	{name: "enabled", serverValue: boolean(func(s *Server) *bool { return &s.Enabled }, true),
		doc: "Nothing else in the block of a disabled server is evaluated."},
	{name: "prefix", serverValue: serverValue{
		read:   func(r blockReader, _ string, d *draft) { d.Prefix = r.prefix(d) },
		get:    func(s *Server) any { return s.Prefix },
		values: language.Texts("letters, digits, `_`, `-`; at most 40 characters"), unset: "the label"},
		doc: "Tools and prompts are offered as `PREFIX__NAME`. The prefix must not contain `__` or end in `_`. `\"\"` offers names without a prefix."},
	{name: "protocol", serverValue: oneOf(func(s *Server) *string { return &s.Protocol }, append([]string{"auto"}, revisions...)...), inFingerprint: true,
		doc: "The revision of MCP. `auto` finds out which revision the server speaks and remembers it."},
	{name: "share", serverValue: serverValue{
		read:   func(r blockReader, _ string, d *draft) { d.Share, d.shareAt = r.share() },
		get:    func(s *Server) any { return s.Share },
		values: language.Words(shareGlobal, shareTenant, shareSession), unset: "`\"global\"`; `\"tenant\"` if the `auth` blocks of the gateway name several tenants"},
		inDefaults: true, doc: "Which clients share a connection: all clients, those of one tenant, or none. See [Shared connections](#shared-connections)."},
	{name: "idle", serverValue: serverValue{
		read:   func(r blockReader, _ string, d *draft) { d.Idle = r.idle() },
		get:    func(s *Server) any { return s.Idle },
		values: language.WordsOr("`\"adaptive\"`, `\"never\"` or a duration, at most `24h`", "adaptive", "never"), unset: "`\"adaptive\"`"},
		inDefaults: true, doc: "When an unused connection is closed. `adaptive` waits one to five minutes, depending on use. A server that keeps something between calls, such as the page of a browser, a shell or a login in it, loses that: write `\"never\"`."},
	{name: "required", serverValue: boolean(func(s *Server) *bool { return &s.Required }, false),
		doc: "`junctor serve` does not start if this server cannot be reached."},
	{name: "max_message", serverValue: byteSize(func(s *Server) *int { return &s.MaxMessage }, ndjson.DefaultLimit, leastMessage, mostMessage), inFingerprint: true,
		doc: "The size of one message in either direction. A larger message fails its call."},
	{name: "registry", serverValue: serverValue{
		read:   func(r blockReader, _ string, d *draft) { d.Registry = r.origin() },
		get:    func(s *Server) any { return s.Registry },
		values: language.Texts("`\"NAME@VERSION\"`"), unset: "none"},
		doc: "The entry of an MCP registry that `junctor add` made the block of. `junctor update` uses it."},
	{name: "describe", serverValue: oneOf(func(s *Server) *string { return &s.Describe }, "full", "brief", "verbatim"),
		inDefaults: true, doc: "How the server's descriptions reach clients. See [Descriptions](#descriptions)."},
	{name: "bad_schema", serverValue: oneOf(func(s *Server) *string { return &s.BadSchema }, "replace", "hide"),
		inDefaults: true, doc: "How a tool with a schema that Junctor refuses is offered. `replace` offers it with a schema that accepts any object and without an output schema; `hide` leaves it out."},
	{name: "definitions", serverValue: oneOf(func(s *Server) *string { return &s.Definitions }, DefinitionsAny, DefinitionsFirstUse, DefinitionsLocked),
		inDefaults: true, doc: "Whether a tool may change what it says about itself. See [lock.md](lock.md)."},

	{name: "log_level", serverValue: oneOf(func(s *Server) *string { return &s.LogLevel }, logLevels...),
		inDefaults: true, doc: "The least severe messages of the server that Junctor asks for and logs. See [Messages of servers](operate.md#messages-of-servers)."},
	{name: "context", serverValue: wordList(func(s *Server) *[]string { return &s.Context }, "nothing", "subject", "tenant", "issuer", "method", "session", "client"),
		inDefaults: true, doc: "What the server learns about the client with each request. See [Context](#context)."},

	{name: "trace", serverValue: oneOf(func(s *Server) *string { return &s.Trace }, "on", "off"),
		inDefaults: true, doc: "Whether the server gets the trace context and the id of each request. See [monitoring.md](monitoring.md#what-servers-get)."},

	{block: "timeouts", name: "start", serverValue: duration(func(s *Server) *time.Duration { return &s.Timeouts.Start }, 10*time.Second, maxStart), inDefaults: true,
		doc: "For the start of the server and the handshake. Each line that the server prints on standard error restarts it, up to `timeouts.install` in total."},
	{block: "timeouts", name: "install", serverValue: serverValue{
		read:   func(r blockReader, _ string, d *draft) { d.Timeouts.Install = r.install(d.Timeouts.Start) },
		get:    func(s *Server) any { return s.Timeouts.Install },
		values: language.Durations(maxInstall), unset: language.CodeText(language.ShortDuration(defaultInstall))},
		inDefaults: true, doc: "In place of `timeouts.start` if the command is a launcher that may install the server first (see [How servers start](#how-servers-start)). It is never less than `timeouts.start`."},
	{block: "timeouts", name: "call", serverValue: duration(func(s *Server) *time.Duration { return &s.Timeouts.Call }, 60*time.Second, maxCall), inDefaults: true,
		doc: "For one call."},
	// A server has two seconds from the end of its input to SIGTERM, and two more
	// to SIGKILL.
	{block: "timeouts", name: "shutdown", serverValue: duration(func(s *Server) *time.Duration { return &s.Timeouts.Shutdown }, 5*time.Second, maxShutdown), inDefaults: true,
		doc: "For the server to end. It gets SIGTERM two seconds after the end of its input, and SIGKILL two seconds later. After a failed start it is ten seconds, with a launcher thirty."},
	{block: "timeouts", name: "progress_extends", serverValue: boolean(func(s *Server) *bool { return &s.Timeouts.Extends }, false), inDefaults: true,
		doc: "Each progress notification restarts the time of its call, at most a thousand times."},

	{block: "resources", name: "unlisted", serverValue: boolean(func(s *Server) *bool { return &s.Resources.Unlisted }, false),
		doc: "Clients may also read and subscribe to resources that the server does not list. See [Resources](#resources)."},

	{block: "tools", name: "allow", serverValue: patternList(func(s *Server) *[]Pattern { return &s.Tools.Allow }, "every tool"),
		doc: "The tools that are offered. `[]` offers no tool."},
	{block: "tools", name: "deny", serverValue: patternList(func(s *Server) *[]Pattern { return &s.Tools.Deny }, "no tool"),
		doc: "The tools that are not offered, even if `allow` matches."},
	{block: "tools", name: "read", serverValue: patternList(func(s *Server) *[]Pattern { return &s.Tools.Read }, "no tool"),
		doc: "A call may be sent again if the connection ended before the answer."},
	{block: "tools", name: "write", serverValue: patternList(func(s *Server) *[]Pattern { return &s.Tools.Write }, "no tool"),
		doc: "A call is never sent again."},
	{block: "tools", name: "idempotent", serverValue: patternList(func(s *Server) *[]Pattern { return &s.Tools.Idempotent }, "no tool"),
		doc: "As `read`: a call may be sent again."},
	{block: "tools", name: "confirm", serverValue: patternList(func(s *Server) *[]Pattern { return &s.Tools.Confirm }, "no tool"),
		doc: "The tools that a person must approve before each call: short for a `confirm` block of the policy about everyone."},
}

// A serverValue says how the value of an attribute is decoded and documented.
type serverValue struct {
	read   func(r blockReader, name string, d *draft) // sets the field; reports what is wrong
	get    func(s *Server) any                        // for the fingerprint and for Server.PublicSettings
	values language.Values
	unset  string // Markdown: the default
}

// valueOfField is a serverValue that decode reads into a field.
func valueOfField[T any](field func(*Server) *T, values language.Values, unset string, decode func(r blockReader, name string) T) serverValue {
	return serverValue{
		read:   func(r blockReader, name string, d *draft) { *field(d.Server) = decode(r, name) },
		get:    func(s *Server) any { return *field(s) },
		values: values, unset: unset,
	}
}

// boolean is true or false.
func boolean(field func(*Server) *bool, unset bool) serverValue {
	return valueOfField(field, language.Booleans, fmt.Sprintf("`%t`", unset),
		func(r blockReader, name string) bool { return r.Boolean(name, unset) })
}

// oneOf is one of several words. The first word is the default.
func oneOf(field func(*Server) *string, all ...string) serverValue {
	return valueOfField(field, language.Words(all...), language.CodeText(all[0]),
		func(r blockReader, name string) string { return r.Choice(name, all...) })
}

// duration is a duration of more than zero and at most longest.
func duration(field func(*Server) *time.Duration, unset, longest time.Duration) serverValue {
	return valueOfField(field, language.Durations(longest), language.CodeText(language.ShortDuration(unset)),
		func(r blockReader, name string) time.Duration { return r.Duration(name, unset, longest) })
}

// byteSize is a number of bytes from least to most.
func byteSize(field func(*Server) *int, unset, least, most int) serverValue {
	return valueOfField(field, language.Sizes(least, most), language.CodeText(language.SizeText(unset)),
		func(r blockReader, name string) int { return r.Size(name, unset, least, most) })
}

// patternList is a list of glob patterns. It also keeps them with their ranges
// in the draft, for the checks that compare two lists.
func patternList(field func(*Server) *[]Pattern, unset string) serverValue {
	return serverValue{
		read: func(r blockReader, name string, d *draft) {
			d.globs[name] = r.globs(name)
			*field(d.Server) = patterns(d.globs[name])
		},
		get:    func(s *Server) any { return globsOf(*field(s)) },
		values: language.TextLists("a list of globs"), unset: unset,
	}
}

// wordList is a list of different words.
func wordList(field func(*Server) *[]string, unset string, words ...string) serverValue {
	return valueOfField(field, language.WordLists(words...), unset, func(r blockReader, name string) (list []string) {
		for _, e := range r.Texts(name) {
			switch {
			case !slices.Contains(words, e.Text):
				r.ErrorAt(e.At, language.NearHint(e.Text, words), "%q may list %s%s", name, language.Quoted(words), language.GotText(e.Text, false))
			case slices.Contains(list, e.Text):
				r.ErrorAt(e.At, "", "%q lists %q twice", name, e.Text)
			default:
				list = append(list, e.Text)
			}
		}
		return list
	})
}

// path is the name of the attribute with that of its block: timeouts.call.
func (a serverAttribute) path() string {
	if a.block == "" {
		return a.name
	}
	return a.block + "." + a.name
}

// serverEntries returns the entries of the attributes of a block in the order of the table.
func serverEntries(block string, inDefaults bool) []language.Entry {
	var entries []language.Entry
	for _, a := range serverAttributes {
		if a.block == block && (a.inDefaults || !inDefaults) {
			entries = append(entries, language.Entry{Name: a.name, Values: a.values, Unset: a.unset, Doc: a.doc})
		}
	}
	return entries
}

// serverBlockDocs describe the blocks that hold attributes of the table.
var serverBlockDocs = map[string]string{
	"timeouts":  "How long the start of the server, a call and the end of the server may take.",
	"resources": "Which resources clients may read.",
	"tools":     "Which tools are offered, and how they may be called.",
}

// serverBlocks returns the shapes of the blocks that hold attributes of the table.
func serverBlocks(inDefaults bool) map[string]language.Shape {
	blocks := map[string]language.Shape{}
	for _, name := range attributeBlocks(inDefaults) {
		blocks[name] = language.Shape{Doc: serverBlockDocs[name], Body: &language.Form{Entries: serverEntries(name, inDefaults)}}
	}
	return blocks
}

// attributeBlocks lists the blocks that hold attributes of the table.
func attributeBlocks(inDefaults bool) []string {
	var blocks []string
	for _, a := range serverAttributes {
		if a.block != "" && (a.inDefaults || !inDefaults) && !slices.Contains(blocks, a.block) {
			blocks = append(blocks, a.block)
		}
	}
	return blocks
}

// readAttributes decodes the attributes of a block into a draft. r is the block
// itself. After "enabled" of a disabled server it reads no other attribute.
func (r blockReader) readAttributes(d *draft, block string, inDefaults bool) {
	for _, a := range serverAttributes {
		if a.block != block || inDefaults && !a.inDefaults {
			continue
		}
		a.read(r, a.name, d)
		r.note(d, a)
		if !d.Enabled {
			return
		}
	}
}

// readAttributeBlocks decodes the blocks inside a server or defaults block.
func (r blockReader) readAttributeBlocks(d *draft, inDefaults bool) {
	for _, name := range attributeBlocks(inDefaults) {
		b := r.blockOrEmpty(name)
		b.Fallback = r.defaultsOf(name)
		b.Check(&language.Form{Entries: serverEntries(name, inDefaults)})
		b.readAttributes(d, name, inDefaults)
	}
}
