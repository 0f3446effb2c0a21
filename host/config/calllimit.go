package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// Limits is the limits block. Package host makes the limiters of host/limit from it.
//
// Tools and PerTool bound the calls of tools by clients of
// the gateway, for each tenant and each tool alone: the first entry of Tools that matches
// a call counts, and else PerTool.
type Limits struct {
	Tools []CallLimit `json:",omitempty"`
	// PerTool is nil for no limit.
	PerTool *CallLimit `hcl:"per_tool,block" doc:"Limits the calls of each tool by each tenant." json:",omitempty"`
	// Connections to one server; 0: limit.DefaultConnections.
	Connections  int    `hcl:"connections" unset:"'1000'" min:"1" max:"10000" doc:"Connections to one server that not all clients share, such as those of 'share = \"tenant\"' and '\"session\"'. Each may be a process." json:",omitempty"`
	PerTenant    Shares `hcl:"per_tenant,block" doc:"What the clients of one tenant may use at one time. Without the block half, for one of several. See [Shares](gateway.md#shares)." json:",omitzero"`
	PerPrincipal Shares `json:",omitzero"`
	// PrincipalCalls is part of the per_principal block.
	PrincipalCalls PrincipalCalls `json:",omitzero"`

	_ []toolLimit    `hcl:"tool,block" refers:"server and tool" doc:"Other values for some tools. The label is 'SERVER/TOOL', with '*'. The first block that matches counts. What it leaves out is that of 'per_tool', or no limit. See [Limits](gateway.md#limits)."`
	_ principalLimit `hcl:"per_principal,block" doc:"What one principal may use at one time. Without the block half of the tenant's part, for one of several."`
}

// PrincipalCalls bound the calls of one principal, of all tools together.
type PrincipalCalls struct {
	Rate  float64 `hcl:"rate" unset:"no limit" max:"1000000" doc:"Calls a second, of all tools together. 0 is no limit."`
	Burst int     `hcl:"burst" unset:"twice the rate" min:"1" max:"2000000" doc:"Calls at once."`
	// Concurrent is nil if it was not set.
	Concurrent *int          `hcl:"concurrent" unset:"no limit" min:"0" max:"10000" doc:"Calls at a time, of all tools together. 0 is no limit, and no part of 'per_tool' is kept for others either." json:",omitempty"`
	Wait       time.Duration `hcl:"wait" default:"5s" min:"0s" max:"1m" doc:"How long a call waits for its turn. '\"0s\"': not at all."`
}

// A principalLimit is a per_principal block.
type principalLimit struct {
	PrincipalCalls
	Shares
}

// Validate implements [language.Validator].
func (l *principalLimit) Validate(r language.Reader) {
	l.Shares.Validate(r)
	switch c := &l.PrincipalCalls; {
	case c.Rate == 0 && (c.Concurrent == nil || *c.Concurrent == 0):
		c.Burst, c.Wait = 0, 0
	case c.Burst == 0:
		c.Burst = twice(c.Rate)
	}
}

// A CallLimit is a per_tool block or a tool block.
type CallLimit struct {
	Server, Tool Pattern       // of a tool block
	Roles        []string      `json:",omitempty"` // nil: for all clients
	Rate         float64       `hcl:"rate" default:"100" max:"1000000" doc:"Calls a second. 0 is no limit."`
	Burst        int           `hcl:"burst" default:"200" unset:"twice the rate" min:"1" max:"2000000" doc:"Calls at once."`
	Concurrent   int           `hcl:"concurrent" default:"10" min:"0" max:"10000" doc:"Calls at a time. 0 is no limit."`
	Wait         time.Duration `hcl:"wait" default:"5s" min:"0s" max:"1m" doc:"How long a call waits for its turn. '\"0s\"': not at all."`
	OneCall      time.Duration `hcl:"timeout" unset:"that of the server" max:"10m" doc:"For one call, in place of 'timeouts.call' of the server." json:"-"`
	Timeout      CallTimeout   `json:",omitzero"` // of OneCall
	Block        string        `json:"-"`         // such as limits { per_tool }, for errors
}

// Validate implements [language.Validator].
func (c *CallLimit) Validate(r language.Reader) {
	if r.IsSet("rate") && c.Rate > 0 && !r.IsSet("burst") {
		c.Burst = twice(c.Rate)
	}
	c.Block = fmt.Sprintf("limits { %s }", r.What)
	if r.IsRead("timeout") {
		c.Timeout = CallTimeout{Limit: c.OneCall, Block: c.Block, At: source.StartOf(r.ValueAt("timeout", r.Head))}
	}
}

// A toolLimit is a tool block.
type toolLimit struct {
	Label     string   `hcl:"label,label"`
	Roles     []string `hcl:"roles" accepts:"a list of roles" unset:"all clients" refers:"role" doc:"The block counts for clients with one of these roles."`
	CallLimit `unset:"that of 'per_tool'"`
}

// A CallTimeout is the timeout of calls; zero: that of the server.
type CallTimeout struct {
	Limit time.Duration
	Block string // that sets it, such as limits { per_tool }
	At    source.Position
}

// Calls returns the entries of Tools and PerTool. The first that matches a call counts.
func (l Limits) Calls() []CallLimit {
	if l.PerTool == nil {
		return l.Tools
	}
	return append(slices.Clip(l.Tools), *l.PerTool)
}

// Match reports whether the limit is for a tool, by the server's own name of it.
func (c CallLimit) Match(server, tool string) bool {
	return c.Server.Match(server) && c.Tool.Match(tool)
}

// maxCallLimits bounds the tool blocks.
const maxCallLimits = 1000

// Validate implements [language.Validator]. It also reads the tool blocks, which have the values
// of per_tool for what they do not set.
func (l *Limits) Validate(r language.Reader) {
	if p, found := r.Block("per_principal"); found {
		var one principalLimit
		language.Decode(p, &one)
		l.PerPrincipal, l.PrincipalCalls = one.Shares, one.PrincipalCalls
	}
	general := CallLimit{Wait: language.Defaults[CallLimit]().Wait}
	if l.PerTool != nil {
		l.PerTool.Server, l.PerTool.Tool = Pattern{Glob: "*"}, Pattern{Glob: "*"}
		general = *l.PerTool
	}
	blocks := r.Labelled("tool")
	if len(blocks) > maxCallLimits {
		r.ErrorAt(blocks[maxCallLimits].TypeRange, "combine them with *",
			`"limits" has more than %d tool blocks`, maxCallLimits)
		return
	}
	for _, b := range blocks {
		l.Tools = append(l.Tools, readToolLimit(r.Nested(b), general))
	}
}

// readToolLimit reads a tool block.
func readToolLimit(r language.Reader, general CallLimit) CallLimit {
	t := toolLimit{CallLimit: general}
	language.Override(r, &t)
	server, tool, both := strings.Cut(t.Label, "/")
	if !both || server == "" || tool == "" || len(t.Label) > 256 {
		r.ErrorAt(r.LabelAt,
			`write the server's label and the server's own name of the tool, such as "github/create_*" or "*/search"`,
			"a tool block of limits is labelled SERVER/TOOL, not %q", t.Label)
	}
	limit := t.CallLimit
	limit.Server, limit.Tool = Pattern{Glob: server, At: source.StartOf(r.LabelAt)},
		Pattern{Glob: tool, At: source.StartOf(r.LabelAt)}
	limit.Roles = t.Roles
	if t.Roles != nil && len(t.Roles) == 0 {
		r.ErrorAt(r.ValueAt("roles", r.Head), "omit the attribute for all clients",
			`"roles" is empty, so the block is for no client`)
	}
	return limit
}
