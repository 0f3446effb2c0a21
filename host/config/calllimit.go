package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

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
	limitsForm = form{entries: []entry{
		{name: "connections", values: integers(1, mostServerConnections), unset: fmt.Sprintf("`%d`", limit.DefaultConnections), doc: "Connections to one server that not all clients share, such as those of `share = \"tenant\"` and `\"session\"`. Each may be a process."},
	}, blocks: map[string]shape{
		"per_tool":      {inner: &perToolForm, doc: "Limits the calls of each tool by each tenant."},
		"tool":          {labels: 1, many: true, inner: &toolCallForm, refers: refersServerTool, doc: "Other values for some tools. The label is `SERVER/TOOL`, with `*`. The first block that matches counts. What it leaves out is that of `per_tool`, or no limit. See [Limits](gateway.md#limits)."},
		"per_tenant":    {inner: &sharesForm, doc: "What the clients of one tenant may use at one time. Without the block half, for one of several. See [Shares](gateway.md#shares)."},
		"per_principal": {inner: &perPrincipalForm, doc: "What one principal may use at one time. Without the block half of the tenant's part, for one of several."},
	}}
	perToolForm = form{entries: []entry{
		{name: "rate", values: numbers(mostRate), unset: fmt.Sprintf("`%d`", defaultCallRate), doc: "Calls a second. 0 is no limit."},
		{name: "burst", values: integers(1, 2*mostRate), unset: "twice the rate", doc: "Calls at once."},
		{name: "concurrent", values: integers(0, mostConcurrent), unset: fmt.Sprintf("`%d`", defaultConcurrent), doc: "Calls at a time. 0 is no limit."},
		{name: "wait", values: durations(longestCallWait), unset: codeText(shortDuration(defaultCallWait)), doc: "How long a call waits for its turn. `\"0s\"`: not at all."},
		{name: "timeout", values: durations(longestCall), unset: "that of the server", doc: "For one call, in place of `timeouts.call` of the server."},
	}}
	perPrincipalForm = form{entries: append([]entry{
		{name: "rate", values: numbers(mostRate), unset: "no limit", doc: "Calls a second, of all tools together. 0 is no limit."},
		{name: "burst", values: integers(1, 2*mostRate), unset: "twice the rate", doc: "Calls at once."},
		{name: "concurrent", values: integers(0, mostConcurrent), unset: "no limit", doc: "Calls at a time, of all tools together. 0 is no limit, and no part of `per_tool` is kept for others either."},
		{name: "wait", values: durations(longestCallWait), unset: codeText(shortDuration(defaultCallWait)), doc: "How long a call waits for its turn. `\"0s\"`: not at all."},
	}, sharesForm.entries...)}
	toolCallForm = form{entries: append([]entry{
		{name: "roles", values: textLists("a list of roles"), unset: "all clients", doc: "The block counts for clients with one of these roles.", refers: refersRole},
	}, inherited(perToolForm.entries, "that of `per_tool`")...)}
)

// limits reads the limits block.
func (r blockReader) limits() (c Limits) {
	r.check(limitsForm)
	c.Connections = r.integer("connections", 0, 1, mostServerConnections)
	c.PerTenant, _ = r.shares("per_tenant", sharesForm)
	var principal blockReader
	if c.PerPrincipal, principal = r.shares("per_principal", perPrincipalForm); principal.body != nil {
		c.PrincipalCalls = principal.principalCalls()
	}
	if b, found := r.block("per_tool"); found {
		b.check(perToolForm)
		limit := b.callLimit(CallLimit{Rate: defaultCallRate, Burst: 2 * defaultCallRate, Concurrent: defaultConcurrent, Wait: defaultCallWait})
		limit.Server, limit.Tool = Pattern{Glob: "*"}, Pattern{Glob: "*"}
		c.PerTool = &limit
	}
	blocks := r.labelledBlocks("tool")
	if len(blocks) > mostCallLimits {
		r.errorAt(blocks[mostCallLimits].TypeRange, "combine them with *", `"limits" has more than %d tool blocks`, mostCallLimits)
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
	b.check(toolCallForm)
	unset := CallLimit{Wait: defaultCallWait}
	if general != nil {
		unset = *general
	}
	limit := b.callLimit(unset)
	server, tool, both := strings.Cut(b.label, "/")
	if !both || server == "" || tool == "" || len(b.label) > 256 {
		b.errorAt(b.labelAt, `write the server's label and the server's own name of the tool, such as "github/create_*" or "*/search"`, "a tool block of limits is labelled SERVER/TOOL, not %q", b.label)
	}
	limit.Server, limit.Tool = Pattern{Glob: server, At: startOf(b.labelAt)}, Pattern{Glob: tool, At: startOf(b.labelAt)}
	if items := b.publicStrings("roles"); items != nil {
		limit.Roles = []string{}
		for _, e := range items {
			limit.Roles = append(limit.Roles, e.text)
		}
		if len(items) == 0 {
			b.errorAt(b.body.Attributes["roles"].Expr.Range(), "omit the attribute for all clients", `"roles" is empty, so the block is for no client`)
		}
	}
	return limit
}

// principalCalls reads the attributes of per_principal about calls.
func (r blockReader) principalCalls() (c PrincipalCalls) {
	calls := r.callLimit(CallLimit{Wait: defaultCallWait})
	c = PrincipalCalls{Rate: calls.Rate, Burst: calls.Burst, Wait: calls.Wait}
	if r.isSet("concurrent") {
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
	c.Rate = r.number("rate", unset.Rate, mostRate)
	if r.isSet("rate") && c.Rate > 0 {
		c.Burst = max(1, int(2*c.Rate))
	}
	c.Burst = r.integer("burst", c.Burst, 1, 2*mostRate)
	c.Concurrent = r.integer("concurrent", unset.Concurrent, 0, mostConcurrent)
	if r.isZeroDuration("wait") {
		c.Wait = 0
	} else {
		c.Wait = r.duration("wait", unset.Wait, longestCallWait)
	}
	c.Block = fmt.Sprintf("limits { %s }", r.what)
	if d := r.duration("timeout", 0, longestCall); d > 0 {
		c.Timeout = CallTimeout{Limit: d, Block: c.Block, At: startOf(r.valueAt("timeout", r.head))}
	}
	return c
}

// isZeroDuration reports whether an attribute is a duration of zero.
func (r blockReader) isZeroDuration(name string) bool {
	text, _, set := r.publicString(name)
	d, err := time.ParseDuration(text)
	return set && err == nil && d == 0
}
