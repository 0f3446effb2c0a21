// Package policy decides whether a principal may use an item of a server.
//
// [Policy.Decide] judges one use of one item, [Policy.List] whether an item is
// shown in a list. A decision that allows yields a [Permit], which nothing else
// can make, and an upstream sends no request of a client without one.
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

// An Item is something that a server offers. Name is the server's own: a
// tool's or prompt's name, a resource's URI, a template.
type Item struct {
	Server string
	Kind   Kind
	Name   string
}

func (i Item) String() string { return fmt.Sprintf("%s %q of server %q", i.Kind, i.Name, i.Server) }

// A Rule allows or denies some items. At cites it.
type Rule struct {
	Match func(name string) bool
	At    string // file:line:column
}

// Server holds the rules of one server, as its block has them: deny wins over
// allow, and unless Allow is nil, what none of its rules matches is denied.
type Server struct {
	Allow, Deny []Rule // of tools
}

// A Policy is the rules of a configuration. Its methods may be called
// concurrently.
type Policy struct {
	servers map[string]Server
}

// New makes a policy of the rules of each server. A server that is not in it
// is not configured, and nothing of it is allowed.
func New(servers map[string]Server) *Policy { return &Policy{servers: servers} }

// Decide decides whether a principal may use an item once. args are the arguments
// of a tool call as the server gets them, as JSON; nil for any other use.
func (p *Policy) Decide(who authn.Principal, item Item, args []byte) Decision {
	return p.decide(who, item, args)
}

// List decides whether a list shows an item to a principal. Its verdict is
// [Depends] where only the arguments of a call can decide.
func (p *Policy) List(who authn.Principal, item Item) Decision {
	return p.decide(who, item, nil)
}

// decide applies the rules of a server. They look at the item's name alone, so
// that they never depend on arguments.
func (p *Policy) decide(who authn.Principal, item Item, args []byte) Decision {
	verdict, rule := p.judge(item)
	return Decision{Verdict: verdict, Rule: rule, item: item, principal: who.Key(), args: digestOf(args)}
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
