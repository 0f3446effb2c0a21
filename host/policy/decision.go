package policy

import (
	"fmt"
	"hash/maphash"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A Verdict is the outcome of a decision. Its zero value is [Deny].
type Verdict int

// The verdicts.
const (
	Deny    Verdict = iota
	Allow           // allowed: with the given arguments or, in a list, with any
	Confirm         // allowed once it is approved
	Depends         // depends on the arguments: shown in lists, decided at the call
)

func (v Verdict) String() string { return [...]string{"denied", "allowed", "confirm", "depends"}[v] }

// A Decision is a verdict and the rule that led to it. It is a value.
type Decision struct {
	Verdict Verdict
	Rule    string // the rule in words, with its place in the configuration if it has one
	Holder  Holder // who the rule is for
	// Name and Reason are those of the rule; see [Rule].
	Name, Reason string

	item      Item
	principal identity
	args      digest
	approval  *Approval // of Confirm
	byRule    bool      // and not by the default
	failed    failure
}

// A failure is a condition that could not be evaluated: that of the rule that decided or,
// of a decision by the default, that of a rule that would have allowed.
type failure struct {
	rule string // in words; empty: the rule that decided
	why  string // empty: no condition failed
}

// Because returns the rule that decided, with the condition that could not be evaluated.
func (d Decision) Because() string {
	switch {
	case d.failed.why == "":
		return d.Rule
	case d.failed.rule == "":
		return d.Rule + " (failed: " + d.failed.why + ")"
	}
	return d.Rule + " (" + d.failed.rule + " failed: " + d.failed.why + ")"
}

// Approval returns how the use is confirmed, or nil if it needs no confirmation.
func (d Decision) Approval() *Approval { return d.approval }

// Allows reports whether the item may be used with the arguments of the decision.
func (d Decision) Allows() bool { return d.Verdict == Allow }

// Lists reports whether a list shows the item.
func (d Decision) Lists() bool { return d.Verdict != Deny }

// Permit returns the permit of a decision that allows. That of [Confirm] covers nothing
// before it is approved. For any other decision Permit returns a fault that cites the rule.
func (d Decision) Permit() (Permit, error) {
	if !d.Allows() && d.Verdict != Confirm {
		message := fmt.Sprintf("%s %q is not allowed: %s", d.item.Kind, d.item.Name, d.Because())
		if d.Reason != "" {
			message += "; " + d.Reason
		}
		return Permit{}, &fault.Error{Code: fault.Denied, Server: d.item.Server, Message: message,
			Hint: "junctor why shows every rule about it"}
	}
	return Permit{&grant{item: d.item, principal: d.principal, args: d.args, unapproved: d.approval != nil}}, nil
}

// A Permit proves that a decision allowed one use of one item. It is bound to the
// principal, the server, the kind and the item and, for a tool call, to the
// arguments. Its zero value proves nothing. It is immutable, and cannot be made outside of this
// package. Package upstream checks it before it sends.
type Permit struct{ *grant }

// A grant is what a permit is bound to.
type grant struct {
	item      Item
	principal identity
	args      digest

	unapproved bool // covers nothing
}

// Approved returns the permit after the use was approved.
func (p Permit) Approved() Permit {
	if p.grant == nil || !p.unapproved {
		return p
	}
	g := *p.grant
	g.unapproved = false
	return Permit{&g}
}

// Covers reports whether the permit is for a use of an item by the principal,
// whatever its roles. args are those of a tool call, nil for any other use.
func (p Permit) Covers(who authn.Principal, item Item, args []byte) bool {
	return p.CoversItem(item) && p.principal == identityOf(&who) && p.args == digestOf(args)
}

// CoversItem reports whether the permit is for an item, by any principal.
func (p Permit) CoversItem(item Item) bool {
	return p.grant != nil && !p.unapproved && p.item == item
}

// CoversTool reports whether the permit is for any tool of a server. It is the
// check for tasks, whose ids do not name the tool that began them.
func (p Permit) CoversTool(server string) bool {
	return p.grant != nil && !p.unapproved && p.item.Server == server && p.item.Kind == Tool
}

// A digest is a hash that distinguishes arguments within this process. Its random
// seed keeps a client from choosing two arguments with one digest.
type digest uint64

// An identity is a principal without its roles. Comparing it is cheaper than
// building its key.
type identity struct{ tenant, method, subject, issuer string }

func identityOf(p *authn.Principal) identity {
	return identity{p.Tenant, p.Method, p.Subject, p.Issuer}
}

var seed = maphash.MakeSeed()

// digestOf returns the digest of arguments, or zero for nil.
func digestOf(args []byte) digest {
	if args == nil {
		return 0
	}
	return digest(maphash.Bytes(seed, args))
}
