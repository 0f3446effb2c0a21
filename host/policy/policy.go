// Package policy decides whether a principal may use an item of a server.
//
// [Policy.Decide] decides about one use of one item, and [Policy.List] about
// showing an item in a list. A decision that allows yields a [Permit]; nothing
// else creates one. An upstream sends no request of a client without a permit.
//
// Decisions look at the principal, the server, the server's own name of the item, its
// access and the arguments of a call. They ignore the name that a client uses. What a
// server says about itself never allows anything; see package classify for access.
//
// The rules of a server block come first: an item that it does not offer is denied.
// Then, of the rules of the policy that are about the item and the principal, a rule
// that denies decides, else one that asks for confirmation, else one that allows, else
// the default.
//
// Package host makes a Policy for each read of the configuration. The gateway asks it about
// requests and lists, package approval about approvers, and the verbs why, policy and test
// explain it. A Policy and all that it returns are immutable, apart from caches with locks of
// their own; no function waits.
//
// policy.go has the rules as the configuration gives them; rule.go, members.go and words.go
// compile and print them. decide.go and decision.go decide; narrow.go, explain.go and shadow.go
// answer other questions with the same rules. approval.go says how a use is confirmed.
//
// Digest, identity and the texts of rules are in audit logs and in approvals at rest: equal
// rules must keep them.
package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/condition"
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

// An Access is what a tool does to what it works on. Resources and prompts read.
type Access = classify.Kind

// The kinds of access.
const (
	Ambiguous = classify.Ambiguous
	Read      = classify.Read
	Write     = classify.Write
)

// A Pattern is a glob for names of tools with its place in the configuration. See
// [condition.Like].
type Pattern struct {
	Glob string
	At   string // file:line:column
}

// A Server holds what one server block offers. Deny wins over Allow. If Allow is not
// nil, a tool that matches no pattern of Allow is denied.
type Server struct {
	Allow, Deny []Pattern // of tools
}

// An Effect is what a rule does.
type Effect uint8

// The effects, in the order in which they decide.
const (
	Denies Effect = iota
	Confirms
	Allows
)

func (e Effect) String() string { return [...]string{"deny", "confirm", "allow"}[e] }

// MarshalText implements [encoding.TextMarshaler].
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// A Rule is about the items of servers, and the principals that hold a role. Servers,
// Tools, Resources and Prompts are globs. A rule that names none of the three kinds of
// items is about all of them, and one whose condition looks at arguments about tools.
type Rule struct {
	Effect    Effect
	Holder    Holder               `json:",omitzero"`
	Servers   []string             `json:",omitempty"` // nil: all
	Tools     []string             `json:",omitempty"` // nil: all, if Resources and Prompts are nil too
	Resources []string             `json:",omitempty"` // URIs
	Prompts   []string             `json:",omitempty"`
	Access    Access               `json:",omitempty"` // Read or Write; Ambiguous: any
	When      *condition.Condition `json:",omitempty"`
	Approval  Approval             `json:",omitzero"` // of a rule that confirms
	// Tightens is set for a rule that confirms only what is allowed without it.
	Tightens bool `json:",omitempty"`
	// Name identifies the rule in records, wherever it stands. Reason is for the person whom
	// it denies something.
	Name, Reason string `json:",omitempty"`
	At           string // file:line:column
}

// A Holder is who a rule is for: the holders of a role, a subject or a group; the zero
// value stands for everyone.
type Holder struct {
	Kind string // "role", "subject" or "group"
	Name string
	// Tenant and Issuer narrow it; empty: any. The issuer is that of a token, the kind of
	// another credential, or AnyIssuer.
	Tenant, Issuer string
}

func (h Holder) String() string {
	if h == (Holder{}) {
		return "everyone"
	}
	text := fmt.Sprintf("%s %q", h.Kind, h.Name)
	if h.Tenant != "" {
		text += fmt.Sprintf(" of tenant %q", h.Tenant)
	}
	if h.Issuer != "" && h.Issuer != AnyIssuer {
		text += fmt.Sprintf(" of issuer %q", h.Issuer)
	}
	return text
}

// A Coverage is what one approval is for.
type Coverage string

// The coverages. An approval of a call can be used once, the others until they expire.
const (
	CoversCall   Coverage = "call"
	CoversTool   Coverage = "tool"
	CoversServer Coverage = "server"
)

// A Membership gives the roles of a policy to a subject or a group.
type Membership struct {
	Holder Holder
	Roles  []string
	At     string
}

// Rules are the policy block of a configuration.
type Rules struct {
	Given   bool // there is a policy block; else everything that is offered is allowed
	Default Effect
	At      string // of the default
	Explain bool   // denied items are shown as denied, and not as unknown
	// Strict denies ambiguous tools what no rule without access allows, whatever the default.
	Strict  bool
	Roles   []string     `json:",omitempty"`
	Members []Membership `json:",omitempty"`
	Rules   []Rule
	Zone    *time.Location `json:",omitempty"` // of hour and weekday; nil: the machine's
}

// A Policy holds the rules of a configuration. Its methods may be called
// concurrently. All fields but digest and plans are set by New, Under and UnderManaged. The latter two
// change the policy and return it, so only its maker calls them, before it shares the policy.
type Policy struct {
	servers  map[string]Server
	rules    []*rule   // by effect, then in the order of the configuration
	above    []*Policy // of the administrator and of weaker layers; they decide as well, and the strictest counts
	forced   bool      // the administrator's: what users say of the access of their tools does not count
	asksRole bool      // a condition looks at the roles of the principal
	given    bool
	print    string // see Rules.Fingerprint
	fallback Verdict
	reason   string // of the fallback
	explains bool
	strict   bool
	members  members
	zone     *time.Location

	digestOnce sync.Once
	digest     string // see Digest; set by digestOnce

	mu    sync.RWMutex
	plans map[planKey][]*rule // guarded by mu; the rules about an item
}

// NoRule is the rule of a decision under a configuration without a policy block.
const NoRule = "no rule is about it"

// New returns a policy with what each server offers, and the rules of the policy block.
// All items of a server without an entry are denied.
func New(servers map[string]Server, r Rules) *Policy {
	p := &Policy{
		servers: servers, given: r.Given, fallback: Allow, reason: NoRule, explains: r.Explain, strict: r.Strict,
		zone: r.Zone, print: r.Fingerprint() + printServers(servers), plans: map[planKey][]*rule{},
	}
	if r.Given {
		p.reason = "no rule matches, and the default at " + r.At + " allows"
		if r.Default == Denies {
			p.fallback, p.reason = Deny, "no rule matches, and the default at "+r.At+" denies"
		}
	}
	if p.zone == nil {
		p.zone = time.Local
	}
	p.members = newMembers(r)
	p.rules = p.compile(r.Rules)
	p.asksRole = slices.ContainsFunc(p.rules, func(r *rule) bool { return r.When != nil && r.When.UsesRoles() })
	return p
}

// printServers returns a text that is equal for servers that offer the same tools.
func printServers(servers map[string]Server) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		if s.Allow == nil && len(s.Deny) == 0 {
			continue // the catalog says what it offers
		}
		fmt.Fprintf(&b, "\nserver %q", name)
		if s.Allow != nil {
			fmt.Fprintf(&b, " allow %q", globs(s.Allow))
		}
		fmt.Fprintf(&b, " deny %q", globs(s.Deny))
	}
	return b.String()
}

// globs returns patterns without their places.
func globs(patterns []Pattern) []string {
	all := make([]string, len(patterns))
	for i, p := range patterns {
		all[i] = p.Glob
	}
	return all
}

// Same reports whether two policies have the same rules, names, reasons and places included.
func (p *Policy) Same(other *Policy) bool {
	return p.print == other.print && slices.EqualFunc(p.above, other.above, (*Policy).Same)
}

// Under returns the policy under others: what all of them allow is allowed.
func (p *Policy) Under(others ...Rules) *Policy {
	for _, r := range others {
		if r.Given {
			p.above = append(p.above, New(p.servers, r))
		}
	}
	return p
}

// Digest returns a text that identifies the rules, with their places. It is
// the same on every machine, and another one after every change.
func (p *Policy) Digest() string {
	p.digestOnce.Do(func() {
		h := sha256.New()
		for _, one := range append([]*Policy{p}, p.above...) {
			_, _ = io.WriteString(h, one.print+"\x00") // never fails
		}
		p.digest = hex.EncodeToString(h.Sum(nil)[:6])
	})
	return p.digest
}

// UnderManaged returns the policy under that of the administrator.
func (p *Policy) UnderManaged(rules Rules) *Policy {
	before := len(p.above)
	p.Under(rules)
	for _, o := range p.above[before:] {
		o.forced = true
	}
	return p
}

// Explains reports whether clients are told that an item is denied. Otherwise it looks
// as if it did not exist.
func (p *Policy) Explains() bool { return p.explains }

// A Query asks about one use of one item.
type Query struct {
	Principal *authn.Principal
	Item      Item
	Access    Access // of a tool
	// Unconfigured is the access of a tool without what users say of it in their
	// configuration.
	Unconfigured Access
	// Args are the arguments of a tool call, as JSON and as the server gets them. For a
	// list they are those that the configuration fixes. They are nil for other uses.
	Args []byte
	// Continues is set for a request about a call that was allowed: a task. The
	// arguments are those of the call, and nothing is confirmed again.
	Continues bool

	Request condition.Request // where the use comes from; nil: the command line
	// AnyRequest is set for a decision about requests from anywhere, at any time.
	AnyRequest bool
	Time       time.Time // of the use; zero: now
}

// access returns the access of the item that counts for the policy.
func (p *Policy) access(q *Query) Access {
	if p.forced {
		return q.Unconfigured
	}
	return q.Access
}

// Fingerprint returns a text that is equal for rules with the same fields, places included. It has
// every exported field: a new one of Rule or Membership changes each digest in audit logs.
func (r Rules) Fingerprint() string {
	var b strings.Builder
	fmt.Fprint(&b, r.Given, r.Default, r.Explain, r.Strict, r.Zone, r.Roles)
	for _, m := range r.Members {
		m.At = place(m.At)
		fmt.Fprintf(&b, "\n%+v", m)
	}
	for _, one := range r.Rules {
		when := ""
		if one.When != nil {
			when = one.When.Source
		}
		one.When, one.At = nil, place(one.At)
		fmt.Fprintf(&b, "\n%q %+v", when, one)
	}
	return b.String()
}

// Restricts reports whether there is a policy block.
func (p *Policy) Restricts() bool {
	return p.given || slices.ContainsFunc(p.above, (*Policy).Restricts)
}

// AsksRequest reports whether a decision may depend on more of the request than the
// principal and the item, such as the address of the client or the time.
func (p *Policy) AsksRequest() bool {
	return slices.ContainsFunc(p.above, (*Policy).AsksRequest) ||
		slices.ContainsFunc(p.rules, func(r *rule) bool { return r.When != nil && r.When.UsesRequest() })
}
