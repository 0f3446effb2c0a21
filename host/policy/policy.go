// Package policy decides whether a principal may use an item of a server.
//
// Decide is the only door to an upstream. What opens it is a [Permit], which
// nothing but Decide can make: an upstream does not take a call without one.
// Lists pass through the same function, so what cannot be called is not seen.
//
// Decisions look at the pair of server and item, never at the name a client
// uses, and at nothing that the upstream says about itself.
package policy

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
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

// A Decision says whether, and because of which rule.
type Decision struct {
	Allow bool
	Rule  string // in words, with file and line where the configuration says so
	item  Item
}

// A Permit proves that a decision allowed one use of one item. Its zero value
// proves nothing.
type Permit struct {
	item    Item
	granted bool
}

// Decide decides whether a principal may use an item, with the given arguments
// of a call as JSON; args is nil for a list.
func (p *Policy) Decide(_ authn.Principal, item Item, _ []byte) Decision {
	d := p.decide(item)
	d.item = item
	return d
}

func (p *Policy) decide(item Item) Decision {
	rules, ok := p.servers[item.Server]
	if !ok {
		return Decision{Rule: fmt.Sprintf("server %q is not configured", item.Server)}
	}
	if item.Kind != Tool {
		return Decision{Allow: true, Rule: "no rule is about it"}
	}
	for _, r := range rules.Deny {
		if r.Match(item.Name) {
			return Decision{Rule: "deny at " + r.At}
		}
	}
	for _, r := range rules.Allow {
		if r.Match(item.Name) {
			return Decision{Allow: true, Rule: "allow at " + r.At}
		}
	}
	switch {
	case len(rules.Allow) > 0:
		return Decision{Rule: "no allow matches; the first is at " + rules.Allow[0].At}
	case rules.Allow != nil:
		return Decision{Rule: "allow is empty"}
	}
	return Decision{Allow: true, Rule: "no rule is about it"}
}

// Permit returns the permit of a decision that allows, or the fault of one
// that denies.
func (d Decision) Permit() (Permit, error) {
	if !d.Allow {
		return Permit{}, &fault.Error{
			Code: fault.Denied, Server: d.item.Server, Message: fmt.Sprintf("%s %q is not allowed: %s", d.item.Kind, d.item.Name, d.Rule),
			Hint: "change tools { allow, deny } in the server's block",
		}
	}
	return Permit{item: d.item, granted: true}, nil
}

// For reports whether the permit is for an item of the server. Which item it is
// for is the caller's to keep in mind: an upstream knows messages, not items.
func (p Permit) For(server string) bool { return p.granted && p.item.Server == server }
