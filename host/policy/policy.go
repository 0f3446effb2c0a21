// Package policy decides whether a principal may use an item of a server.
//
// [Policy.Decide] decides about one use of one item, and [Policy.List] about
// showing an item in a list. A decision that allows yields a [Permit]; nothing
// else creates one. An upstream sends no request of a client without a permit.
//
// Decisions look at the principal, the server, the server's own name of the item
// and the arguments of a call. They ignore the name that a client uses and
// everything that the server says about itself.
package policy

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A Kind is a kind of item.
type Kind string

// The kinds of items.
const (
	Tool     Kind = "tool"
	Resource Kind = "resource"
	Template Kind = "template"
	Prompt   Kind = "prompt"
)

// An Item is a tool, resource, template or prompt of a server. Name is the
// server's own name: of a resource its URI, of a template its text.
type Item struct {
	Server string
	Kind   Kind
	Name   string
}

func (i Item) String() string { return fmt.Sprintf("%s %q of server %q", i.Kind, i.Name, i.Server) }

// A Rule allows or denies the items whose names match.
type Rule struct {
	Match func(name string) bool
	At    string // the rule's place in the configuration, file:line:column
}

// A Server holds the rules of one server block. Deny wins over Allow. If Allow is
// not nil, a tool that matches no rule of Allow is denied.
type Server struct {
	Allow, Deny []Rule // of tools
}

// A Policy holds the rules of a configuration. Its methods may be called
// concurrently.
type Policy struct {
	servers map[string]Server
}

// New returns a policy with the rules of each server. All items of a server
// without an entry are denied.
func New(servers map[string]Server) *Policy { return &Policy{servers: servers} }

// Decide decides whether a principal may use an item once. args are the arguments
// of a tool call, as JSON and as the server gets them. They are nil for other uses.
func (p *Policy) Decide(who authn.Principal, item Item, args []byte) Decision {
	return p.decide(who, item, args)
}

// List decides whether a list shows an item to a principal. The verdict is
// [Depends] if only the arguments of a call can decide; no rule has that effect yet.
func (p *Policy) List(who authn.Principal, item Item) Decision {
	return p.decide(who, item, nil)
}

// decide applies the rules of a server. They depend on the item's name alone and
// not on arguments.
func (p *Policy) decide(who authn.Principal, item Item, args []byte) Decision {
	verdict, rule := p.judge(item)
	return Decision{Verdict: verdict, Rule: rule, item: item, principal: identityOf(who), args: digestOf(args)}
}

func (p *Policy) judge(item Item) (Verdict, string) {
	rules, ok := p.servers[item.Server]
	if !ok {
		return Deny, fmt.Sprintf("server %q is not configured", item.Server)
	}
	if item.Kind != Tool {
		return Allow, "no rule is about it"
	}
	for _, r := range rules.Deny {
		if r.Match(item.Name) {
			return Deny, "deny at " + r.At
		}
	}
	for _, r := range rules.Allow {
		if r.Match(item.Name) {
			return Allow, "allow at " + r.At
		}
	}
	switch {
	case len(rules.Allow) > 0:
		return Deny, "no allow matches; the first is at " + rules.Allow[0].At
	case rules.Allow != nil:
		return Deny, "allow is empty"
	}
	return Allow, "no rule is about it"
}
