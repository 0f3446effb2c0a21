package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
)

// authorize asks the policy about the item of a request. It is the stage authorize, on the
// goroutine of the request. This file has all questions of the gateway to the policy: for
// requests, for lists and for notifications.
func authorize(u *use) error {
	if u.item == (policy.Item{}) {
		return nil
	}
	return decideTraced(u)
}

// decideTraced is decide with a span.
func decideTraced(u *use) error {
	asks := u.part("policy")
	err := u.decide()
	asks.Set("junctor.policy.rule", u.rule)
	asks.End(outcome.Of(err))
	return err
}

// decide asks the policy, once a request. For clients of the gateway an item that is
// denied does not exist, unless the policy explains. A client that sees a tool in its
// list is told that its arguments are denied. It sets the fields of u that use.go names.
func (u *use) decide() (err error) {
	q := u.query(u.item)
	q.Continues = u.task != ""
	if u.method == mcp.MethodCallTool {
		q.Args = u.arguments()
	}
	d := u.generation.Policy.Decide(&q)
	u.permit, err = d.Permit()
	u.approval, u.rule, u.decision, u.denied = d.Approval(), d.Because(), d.Verdict.String(), err != nil
	u.ruleName = d.Name
	if u.generation.Policy.Restricts() {
		u.policyDigest = u.generation.Policy.Digest()
	}
	switch {
	case err == nil || u.seesAll:
		return err
	}
	u.gw.opts.Log.Debug("the policy denies a request", "method", u.method,
		"subject", u.principal.Subject, "tenant", u.principal.Tenant,
		"server", u.item.Server, "item", clip(u.item.Name), "because", u.rule)
	switch {
	case u.method == mcp.MethodCallTool && u.generation.lists(&u.principal, u, u.item, u.tool):
		return fault.In(
			u.item.Server,
			fault.New(
				fault.Refused, "tool %q may not be called with these arguments%s%s", u.requested, allowedArguments(u),
				reasonOf(u, d),
			),
		)
	case u.generation.Policy.Explains():
		return refusal(u, d)
	}
	return u.notFound()
}

// maxShown bounds the values of an argument in an error.
const maxShown = 10

// allowedArguments says what every allowed call of the tool has and this one does not, as the
// schema in the list of the client does.
func allowedArguments(u *use) string {
	if u.tool == nil {
		return ""
	}
	q := u.query(u.item)
	q.Args = u.tool.Fixed()
	constraints, _ := u.generation.Policy.Narrow(&q)
	var all []string
	sent := u.arguments()
	for _, c := range constraints {
		if value := mcp.Member(sent, c.Argument); value != nil && c.AllowsJSON(value) {
			continue
		}
		var values []string
		for _, v := range c.Values[:min(len(c.Values), maxShown)] {
			values = append(values, string(v.JSON()))
		}
		if len(c.Values) > maxShown {
			values = append(values, "…")
		}
		switch {
		case len(values) > 0:
			all = append(all, fmt.Sprintf("%s must be %s", c.Argument, strings.Join(values, " or ")))
		case c.Prefix != "":
			all = append(all, fmt.Sprintf("%s must begin with %q", c.Argument, c.Prefix))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}

// reasonOf returns the reason of the rule that denies, for clients that are told.
func reasonOf(u *use, d policy.Decision) string {
	if d.Reason == "" || !u.generation.Policy.Explains() {
		return ""
	}
	return "; " + d.Reason
}

// refusal returns the error of a denied request for a client that is told so. It has no
// place in the configuration.
func refusal(u *use, d policy.Decision) error {
	why := "no rule allows it"
	if d.Holder != (policy.Holder{}) {
		why = fmt.Sprintf("a rule for %s denies it", d.Holder)
	}
	if d.Reason != "" {
		why = d.Reason
	}
	return fault.In(
		u.item.Server, fault.New(fault.Refused, "%s %q is not allowed: %s", u.item.Kind, clip(u.requested), why),
	)
}

// query returns the question to the policy about an item, without arguments.
func (u *use) query(item policy.Item) policy.Query {
	q := policy.Query{Principal: &u.principal, Item: item, Request: u.pendingRequest}
	q.Access, q.Unconfigured = u.gw.accessOf(item, u.tool)
	return q
}

// Address implements [condition.Request].
func (r *pendingRequest) Address() string { return r.address }

// Client implements [condition.Request].
func (r *pendingRequest) Client() string { return r.client.program() }

// accessOf returns the access of a tool, and that without what users say of it in their
// configuration. tool is its definition if the caller has it.
func (g *Gateway) accessOf(item policy.Item, tool *catalog.Tool) (access, unconfigured policy.Access) {
	if item.Kind != policy.Tool {
		return policy.Read, policy.Read
	}
	if tool == nil || tool.Server != item.Server || tool.Name != item.Name {
		found, ok := g.catalog.Snapshot().OwnTool(item.Server, item.Name)
		if !ok {
			return policy.Ambiguous, policy.Ambiguous
		}
		tool = found
	}
	return tool.Class.Kind, tool.Unconfigured
}

// lists reports whether a list shows an item to a principal. tool is the item if it is a tool.
func (n *Generation) lists(who *authn.Principal, from condition.Request, item policy.Item, tool *catalog.Tool) bool {
	return n.list(who, from, item, tool).Lists()
}

// concerns reports whether a principal may use anything that a server is known to have.
func (n *Generation) concerns(who *authn.Principal, server string, all *catalog.Snapshot) bool {
	of := func(item catalog.Item, kind policy.Kind, tool *catalog.Tool) bool {
		return item.Server == server &&
			n.lists(who, nil, policy.Item{Server: server, Kind: kind, Name: item.Name}, tool)
	}
	return !n.Policy.Restricts() ||
		slices.ContainsFunc(all.Tools, func(t *catalog.Tool) bool { return of(t.Item, policy.Tool, t) }) ||
		slices.ContainsFunc(all.Resources, func(r *catalog.Item) bool { return of(*r, policy.Resource, nil) }) ||
		slices.ContainsFunc(all.Templates,
			func(t *catalog.Template) bool { return of(t.Item, policy.Template, nil) }) ||
		slices.ContainsFunc(all.Prompts, func(p *catalog.Prompt) bool { return of(p.Item, policy.Prompt, nil) })
}

// list returns the decision about showing an item to a principal. It may be called
// concurrently, as all methods of Generation.
func (n *Generation) list(who *authn.Principal, from condition.Request, item policy.Item,
	tool *catalog.Tool) policy.Decision {
	q := policy.Query{Principal: who, Item: item, Request: from}
	if tool != nil {
		q.Access, q.Unconfigured, q.Args = tool.Class.Kind, tool.Unconfigured, tool.Fixed()
	}
	return n.Policy.List(&q)
}

// narrowed returns the definition of a tool for the principal: its schema asks for what the
// policy asks of the arguments, as far as a schema can say it.
func narrowed(u *use, t *catalog.Tool) []byte {
	q := policy.Query{
		Principal:    &u.principal,
		Item:         itemOf(u, t),
		Access:       t.Class.Kind,
		Unconfigured: t.Unconfigured,
		Args:         t.Fixed(),
		Request:      u,
	}
	constraints, _ := u.generation.Policy.Narrow(&q)
	var all []schema.Restriction
	for _, c := range constraints {
		one := schema.Restriction{Name: c.Argument, Prefix: c.Prefix}
		if c.Values != nil {
			one.Values = [][]byte{}
			for _, v := range c.Values {
				one.Values = append(one.Values, v.JSON())
			}
		}
		if value, ok := t.Default(c.Argument); ok {
			one.Optional = c.AllowsJSON(value)
		}
		all = append(all, one)
	}
	if len(all) == 0 || t.Input == nil {
		return t.Raw
	}
	return mcp.SetMember(t.Raw, "inputSchema", schema.Narrow(t.Input, all))
}

func itemOf(u *use, t *catalog.Tool) policy.Item {
	return policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}
}

// Explain returns how the policy decides about the item of a query. args are the arguments as a client sends
// them; nil: those of a list. The access and the arguments of the query are those of the tool.
func (g *Gateway) Explain(q policy.Query, tool *catalog.Tool, args []byte) policy.Explanation {
	if tool != nil {
		q.Access, q.Unconfigured, q.Args = tool.Class.Kind, tool.Unconfigured, tool.Fixed()
		if args != nil {
			q.Args = tool.Arguments(args)
		}
	}
	return g.generations.current().Policy.Explain(&q, args == nil)
}

// dropDenied ends the subscriptions of the session that the policy in effect denies, and the listen requests
// with one: their clients listen again. Apply calls it after a new policy, and so do requests that have just
// subscribed: a policy that changed meanwhile counts. It does not wait.
func (s *Session) dropDenied() {
	n, who := s.gw.generations.current(), s.Principal()
	if s.subs.Drop(func(server, uri string) bool {
		return !n.lists(&who, nil, policy.Item{Server: server, Kind: policy.Resource, Name: uri}, nil)
	}) {
		s.stateChanged()
	}
}
