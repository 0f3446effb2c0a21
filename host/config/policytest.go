package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A PolicyTest is a test block: what a principal may do.
type PolicyTest struct {
	Name      string
	Principal authn.Principal
	Request   TestedRequest `json:",omitzero"`
	Uses      []TestedUse
	At        Position
}

// A TestedRequest is where and when the uses of a test come from.
type TestedRequest struct {
	From  string    `json:",omitempty"` // address; "local" without the attribute
	Named string    `json:",omitempty"` // name of the client
	Time  time.Time `json:",omitzero"`  // zero: now
}

// Address implements [condition.Request].
func (t TestedRequest) Address() string { return cmp.Or(t.From, "local") }

// Client implements [condition.Request].
func (t TestedRequest) Client() string { return t.Named }

// RequestTimes are the layouts of a time of a request.
var RequestTimes = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"}

// ParseRequestTime reads a time. A zone of nil is that of the machine.
func ParseRequestTime(text string, zone *time.Location) (at time.Time, err error) {
	if zone == nil {
		zone = time.Local
	}
	for _, layout := range RequestTimes {
		if at, err = time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return at, fmt.Errorf("%q is no time such as 2026-03-01T22:30", text)
}

// A TestedUse is a call, read or prompt block of a test.
type TestedUse struct {
	Item      policy.Item
	Arguments json.RawMessage `json:",omitempty"` // of a call; nil: it is about the list
	Expect    string          // "allowed", "denied" or "confirm"; of a list "listed" too
	At        Position
}

var (
	testForm = form{
		entries: []entry{
			{name: "principal", values: membersOf(principalEntries), unset: "the command line", doc: "Who the test is about."},
			{name: "request", values: membersOf(requestEntries), unset: "a local one, now", doc: "Where and when the uses come from."},
		},
		blocks: map[string]shape{
			"call":   {labels: 2, many: true, inner: &callTestForm, refers: refersServer, doc: "The use of a tool. The labels are the server and the server's own name of the tool."},
			"read":   {labels: 2, many: true, inner: &itemTestForm, refers: refersServer, doc: "The use of a resource. The labels are the server and the URI."},
			"prompt": {labels: 2, many: true, inner: &itemTestForm, refers: refersServer, doc: "The use of a prompt. The labels are the server and the server's own name of the prompt."},
		},
	}
	callTestForm = form{entries: []entry{
		{name: "expect", values: words("allowed", "denied", "confirm", "depends"), required: true,
			doc: "What the policy says. `depends` is for a call without `arguments`: a condition decides."},
		{name: "arguments", values: objects, unset: "none", private: true, doc: "The arguments of the call."},
	}}
	itemTestForm = form{entries: []entry{
		{name: "expect", values: words("allowed", "denied", "confirm"), required: true, doc: "What the policy says."},
	}}
	requestEntries = []entry{
		{name: "address", values: texts("an address"), unset: "`\"local\"`", doc: "The address."},
		{name: "client", values: texts("a text"), doc: "The name that the client gives itself."},
		{name: "time", values: texts("a time such as `\"2026-03-01T22:30\"`"), unset: "now", doc: "The time, in the time zone of the policy."},
	}
	principalEntries = []entry{
		{name: "subject", values: texts("a text"), doc: "The subject."},
		{name: "tenant", values: texts("a tenant"), unset: codeText(authn.DefaultTenant), doc: "The tenant."},
		{name: "issuer", values: texts("a text"), doc: "The issuer of the token."},
		{name: "method", values: texts("a text"), doc: "The kind of credential, such as `jwt`."},
		{name: "roles", values: textLists("a list of roles"), doc: "The roles."},
		{name: "groups", values: textLists("a list of groups"), doc: "The groups."},
		{name: "scopes", values: textLists("a list of scopes"), doc: "The scopes."},
		{name: "claims", values: objects, doc: "The claims of the token."},
	}
)

// policyTests reads the test blocks. servers are the labels of all servers; zone is that of the
// policy.
func (l *loader) policyTests(blocks []*hclsyntax.Block, servers []string, zone *time.Location) (all []PolicyTest) {
	for _, b := range blocks {
		r := l.openBlock(b, "")
		r.check(testForm)
		t := PolicyTest{Name: r.label, Principal: r.testedPrincipal(), At: startOf(r.head)}
		t.Request = r.testedRequest(zone)
		for _, use := range b.Body.Blocks {
			if len(use.Labels) == 2 {
				one := r.nested(use)
				one.checkTested(use, servers)
				t.Uses = append(t.Uses, one.testedUse(use))
			}
		}
		if len(b.Body.Blocks) == 0 {
			r.errorAt(r.head, `write call "SERVER" "TOOL" { expect = "denied" }`, "the test expects nothing")
		}
		all = append(all, t)
	}
	return all
}

// checkTested reports names that a test cannot be about: a test that passes for that reason
// proves nothing.
func (r blockReader) checkTested(b *hclsyntax.Block, servers []string) {
	for i, name := range b.Labels {
		if strings.Contains(name, "*") && (i == 0 || b.Type != "read") {
			r.errorAt(b.LabelRanges[i], "write a block for each name", "a test is about one name; * is no pattern here")
			return
		}
	}
	if !slices.Contains(servers, b.Labels[0]) {
		r.errorAt(b.LabelRanges[0], didYouMean(b.Labels[0], servers), "there is no server %q", b.Labels[0])
	}
}

// testedRequest reads where and when the uses come from.
func (r blockReader) testedRequest(zone *time.Location) (t TestedRequest) {
	v, a, set := r.publicValue("request", cty.DynamicPseudoType)
	if !set {
		return t
	}
	const hint = `write request = { address = "10.0.0.7", client = "cursor", time = "2026-03-01T22:30" }`
	if !v.Type().IsObjectType() {
		r.errorAt(a.Expr.Range(), hint, `"request" must be an object, not %s`, typeName(v.Type()))
		return t
	}
	for name, value := range v.AsValueMap() {
		at := keyRange(a.Expr, name)
		if value.IsNull() || value.Type() != cty.String {
			r.errorAt(at, hint, "%q must be a text", name)
			continue
		}
		switch text := value.AsString(); name {
		case "address":
			if _, err := netip.ParseAddr(text); err != nil && text != "local" {
				r.errorAt(at, hint, "%q is no address", text)
			}
			t.From = text
		case "client":
			t.Named = text
		case "time":
			var err error
			if t.Time, err = ParseRequestTime(text, zone); err != nil {
				r.errorAt(at, hint, "%s", err)
			}
		default:
			r.errorAt(at, didYouMean(name, []string{"address", "client", "time"}), "a request has no %q", name)
		}
	}
	return t
}

// testedPrincipal reads who a test is about. It is the command line without the attribute.
func (r blockReader) testedPrincipal() authn.Principal {
	members := map[string]cty.Type{
		"subject": cty.String, "tenant": cty.String, "issuer": cty.String, "method": cty.String,
		"roles": cty.List(cty.String), "groups": cty.List(cty.String), "scopes": cty.List(cty.String), "claims": cty.DynamicPseudoType,
	}
	p := authn.Local()
	v, a, set := r.publicValue("principal", cty.DynamicPseudoType)
	if !set {
		return p
	}
	if !v.Type().IsObjectType() {
		r.errorAt(a.Expr.Range(), `write principal = { subject = "alice", roles = ["dev"] }`, `"principal" must be an object, not %s`, typeName(v.Type()))
		return p
	}
	p = authn.Principal{Tenant: authn.DefaultTenant, Method: "test"}
	for name, value := range v.AsValueMap() {
		at := keyRange(a.Expr, name)
		want, known := members[name]
		if !known {
			r.errorAt(at, didYouMean(name, slices.Sorted(maps.Keys(members))), "a principal has no %q", name)
			continue
		}
		value, err := conform(value, want)
		if err != nil {
			r.errorAt(at, "", "%q must be %s", name, typeName(want))
			continue
		}
		setPrincipal(&p, name, value)
	}
	return p
}

func setPrincipal(p *authn.Principal, name string, v cty.Value) {
	switch name {
	case "subject":
		p.Subject = v.AsString()
	case "tenant":
		p.Tenant = v.AsString()
	case "issuer":
		p.Issuer = v.AsString()
	case "method":
		p.Method = v.AsString()
	case "claims":
		p.Claims = jsonOf(v)
	default:
		var texts []string
		for _, e := range v.AsValueSlice() {
			texts = append(texts, e.AsString())
		}
		*map[string]*[]string{"roles": &p.Roles, "groups": &p.Groups, "scopes": &p.Scopes}[name] = texts
	}
}

// testedUse reads a call, read or prompt block.
func (r blockReader) testedUse(b *hclsyntax.Block) TestedUse {
	kinds := map[string]policy.Kind{"call": policy.Tool, "read": policy.Resource, "prompt": policy.Prompt}
	u := TestedUse{Item: policy.Item{Server: b.Labels[0], Kind: kinds[b.Type], Name: b.Labels[1]}, At: startOf(r.head)}
	allowed := []string{"allowed", "denied", "confirm"}
	if b.Type == "call" {
		r.check(callTestForm)
		if arguments, _ := r.arguments("arguments"); arguments != nil {
			u.Arguments, _ = json.Marshal(arguments) // JSON already
		} else {
			allowed = append(allowed, "depends")
		}
	} else {
		r.check(itemTestForm)
	}
	if !r.isSet("expect") {
		r.reportMissing("expect", r.head)
	}
	u.Expect = r.choice("expect", allowed...)
	return u
}
