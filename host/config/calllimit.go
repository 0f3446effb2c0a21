package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/limit"
)

// Limits is the limits block. Tools and PerTool bound the calls of tools by clients of
// the gateway, for each tenant and each tool alone: the first entry of Tools that matches
// a call counts, and else PerTool.
type Limits struct {
	Tools        []CallLimit `json:",omitempty"`
	PerTool      *CallLimit  `json:",omitempty"` // nil: no limit
	Connections  int         `json:",omitempty"` // to one server; 0: limit.DefaultConnections
	PerTenant    Shares      `json:",omitzero"`
	PerPrincipal Shares      `json:",omitzero"`
	// PrincipalCalls is part of the per_principal block.
	PrincipalCalls PrincipalCalls `json:",omitzero"`
}

// PrincipalCalls bound the calls of one principal, of all tools together.
type PrincipalCalls struct {
	Rate       float64       // calls per second; 0: no limit
	Burst      int           // calls at once
	Concurrent *int          `json:",omitempty"` // calls at a time; 0: no limit, and nil: it was not set
	Wait       time.Duration // for a call to begin; 0: none
}

// A CallLimit is a per_tool block or a tool block.
type CallLimit struct {
	Server, Tool Pattern       // of a tool block
	Roles        []string      `json:",omitempty"` // nil: for all clients
	Rate         float64       // calls per second; 0: no limit
	Burst        int           // calls at once
	Concurrent   int           // calls at a time; 0: no limit
	Wait         time.Duration // for a call to begin; 0: none
	Timeout      CallTimeout   `json:",omitzero"`
	Block        string        `json:"-"` // such as limits { per_tool }, for errors
}

// A CallTimeout is the timeout of calls; zero: that of the server.
type CallTimeout struct {
	Limit time.Duration
	Block string // that sets it, such as limits { per_tool }
	At    Position
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

const (
	defaultCallRate       = 100
	defaultConcurrent     = 10
	defaultCallWait       = 5 * time.Second
	mostConcurrent        = 10_000
	mostServerConnections = 10_000
	mostCallLimits        = 1000
	longestCallWait       = time.Minute
	longestCall           = 600 * time.Second
)

var (
	limitsForm = language.Form{Entries: []language.Entry{
		{Name: "connections", Values: language.Integers(1, mostServerConnections), Unset: fmt.Sprintf("`%d`", limit.DefaultConnections), Doc: "Connections to one server that not all clients share, such as those of `share = \"tenant\"` and `\"session\"`. Each may be a process."},
	}, Blocks: map[string]language.Shape{
		"per_tool":      {Body: &perToolForm, Doc: "Limits the calls of each tool by each tenant."},
		"tool":          {Labels: 1, Many: true, Body: &toolCallForm, Refers: language.RefersServerTool, Doc: "Other values for some tools. The label is `SERVER/TOOL`, with `*`. The first block that matches counts. What it leaves out is that of `per_tool`, or no limit. See [Limits](gateway.md#limits)."},
		"per_tenant":    {Body: &sharesForm, Doc: "What the clients of one tenant may use at one time. Without the block half, for one of several. See [Shares](gateway.md#shares)."},
		"per_principal": {Body: &perPrincipalForm, Doc: "What one principal may use at one time. Without the block half of the tenant's part, for one of several."},
	}}
	perToolForm = language.Form{Entries: []language.Entry{
		{Name: "rate", Values: language.Numbers(mostRate), Unset: fmt.Sprintf("`%d`", defaultCallRate), Doc: "Calls a second. 0 is no limit."},
		{Name: "burst", Values: language.Integers(1, 2*mostRate), Unset: "twice the rate", Doc: "Calls at once."},
		{Name: "concurrent", Values: language.Integers(0, mostConcurrent), Unset: fmt.Sprintf("`%d`", defaultConcurrent), Doc: "Calls at a time. 0 is no limit."},
		{Name: "wait", Values: language.Durations(longestCallWait), Unset: language.CodeText(language.ShortDuration(defaultCallWait)), Doc: "How long a call waits for its turn. `\"0s\"`: not at all."},
		{Name: "timeout", Values: language.Durations(longestCall), Unset: "that of the server", Doc: "For one call, in place of `timeouts.call` of the server."},
	}}
	perPrincipalForm = language.Form{Entries: append([]language.Entry{
		{Name: "rate", Values: language.Numbers(mostRate), Unset: "no limit", Doc: "Calls a second, of all tools together. 0 is no limit."},
		{Name: "burst", Values: language.Integers(1, 2*mostRate), Unset: "twice the rate", Doc: "Calls at once."},
		{Name: "concurrent", Values: language.Integers(0, mostConcurrent), Unset: "no limit", Doc: "Calls at a time, of all tools together. 0 is no limit, and no part of `per_tool` is kept for others either."},
		{Name: "wait", Values: language.Durations(longestCallWait), Unset: language.CodeText(language.ShortDuration(defaultCallWait)), Doc: "How long a call waits for its turn. `\"0s\"`: not at all."},
	}, sharesForm.Entries...)}
	toolCallForm = language.Form{Entries: append([]language.Entry{
		{Name: "roles", Values: language.TextLists("a list of roles"), Unset: "all clients", Doc: "The block counts for clients with one of these roles.", Refers: language.RefersRole},
	}, language.Inherited(perToolForm.Entries, "that of `per_tool`")...)}
)

// limits reads the limits block.
func (r blockReader) limits() (c Limits) {
	r.Check(&limitsForm)
	c.Connections = r.Integer("connections", 0, 1, mostServerConnections)
	c.PerTenant, _ = r.shares("per_tenant", &sharesForm)
	var principal blockReader
	if c.PerPrincipal, principal = r.shares("per_principal", &perPrincipalForm); principal.Body != nil {
		c.PrincipalCalls = principal.principalCalls()
	}
	if b, found := r.block("per_tool"); found {
		b.Check(&perToolForm)
		limit := b.callLimit(CallLimit{Rate: defaultCallRate, Burst: 2 * defaultCallRate, Concurrent: defaultConcurrent, Wait: defaultCallWait})
		limit.Server, limit.Tool = Pattern{Glob: "*"}, Pattern{Glob: "*"}
		c.PerTool = &limit
	}
	blocks := r.labelledBlocks("tool")
	if len(blocks) > mostCallLimits {
		r.ErrorAt(blocks[mostCallLimits].TypeRange, "combine them with *", `"limits" has more than %d tool blocks`, mostCallLimits)
		return c
	}
	for _, b := range blocks {
		c.Tools = append(c.Tools, r.toolCallLimit(b, c.PerTool))
	}
	return c
}

// toolCallLimit reads a tool block. What it does not set is that of per_tool.
func (r blockReader) toolCallLimit(block *hclsyntax.Block, general *CallLimit) CallLimit {
	b := r.nested(block)
	b.Check(&toolCallForm)
	unset := CallLimit{Wait: defaultCallWait}
	if general != nil {
		unset = *general
	}
	limit := b.callLimit(unset)
	server, tool, both := strings.Cut(b.Label, "/")
	if !both || server == "" || tool == "" || len(b.Label) > 256 {
		b.ErrorAt(b.LabelAt, `write the server's label and the server's own name of the tool, such as "github/create_*" or "*/search"`, "a tool block of limits is labelled SERVER/TOOL, not %q", b.Label)
	}
	limit.Server, limit.Tool = Pattern{Glob: server, At: startOf(b.LabelAt)}, Pattern{Glob: tool, At: startOf(b.LabelAt)}
	if items := b.Texts("roles"); items != nil {
		limit.Roles = []string{}
		for _, e := range items {
			limit.Roles = append(limit.Roles, e.Text)
		}
		if len(items) == 0 {
			b.ErrorAt(b.Body.Attributes["roles"].Expr.Range(), "omit the attribute for all clients", `"roles" is empty, so the block is for no client`)
		}
	}
	return limit
}

// principalCalls reads the attributes of per_principal about calls.
func (r blockReader) principalCalls() (c PrincipalCalls) {
	calls := r.callLimit(CallLimit{Wait: defaultCallWait})
	c = PrincipalCalls{Rate: calls.Rate, Burst: calls.Burst, Wait: calls.Wait}
	if r.IsSet("concurrent") {
		c.Concurrent = &calls.Concurrent
	}
	if c.Rate == 0 && calls.Concurrent == 0 {
		c.Burst, c.Wait = 0, 0
	}
	return c
}

// callLimit reads the attributes that all kinds of blocks have.
func (r blockReader) callLimit(unset CallLimit) CallLimit {
	c := unset
	c.Rate = r.Number("rate", unset.Rate, mostRate)
	if r.IsSet("rate") && c.Rate > 0 {
		c.Burst = max(1, int(2*c.Rate))
	}
	c.Burst = r.Integer("burst", c.Burst, 1, 2*mostRate)
	c.Concurrent = r.Integer("concurrent", unset.Concurrent, 0, mostConcurrent)
	if r.isZeroDuration("wait") {
		c.Wait = 0
	} else {
		c.Wait = r.Duration("wait", unset.Wait, longestCallWait)
	}
	c.Block = fmt.Sprintf("limits { %s }", r.What)
	if d := r.Duration("timeout", 0, longestCall); d > 0 {
		c.Timeout = CallTimeout{Limit: d, Block: c.Block, At: startOf(r.ValueAt("timeout", r.Head))}
	}
	return c
}

// isZeroDuration reports whether an attribute is a duration of zero.
func (r blockReader) isZeroDuration(name string) bool {
	text, _, set := r.Text(name)
	d, err := time.ParseDuration(text)
	return set && err == nil && d == 0
}
