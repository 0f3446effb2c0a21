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
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A PolicyTest is a test block: what a principal may do.
type PolicyTest struct {
	Name      string
	Principal authn.Principal
	Request   TestedRequest `json:",omitzero"`
	Uses      []TestedUse
	At        source.Position
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
	At        source.Position
}

var (
	testForm = language.Form{
		Entries: []language.Entry{
			{Name: "principal", Values: language.MembersOf(principalEntries), Unset: "the command line", Doc: "Who the test is about."},
			{Name: "request", Values: language.MembersOf(requestEntries), Unset: "a local one, now", Doc: "Where and when the uses come from."},
		},
		Blocks: map[string]language.Shape{
			"call":   {Labels: 2, Many: true, Body: &callTestForm, Refers: language.RefersServer, Doc: "The use of a tool. The labels are the server and the server's own name of the tool."},
			"read":   {Labels: 2, Many: true, Body: &itemTestForm, Refers: language.RefersServer, Doc: "The use of a resource. The labels are the server and the URI."},
			"prompt": {Labels: 2, Many: true, Body: &itemTestForm, Refers: language.RefersServer, Doc: "The use of a prompt. The labels are the server and the server's own name of the prompt."},
		},
	}
	callTestForm = language.Form{Entries: []language.Entry{
		{Name: "expect", Values: language.Words("allowed", "denied", "confirm", "depends"), Required: true,
			Doc: "What the policy says. `depends` is for a call without `arguments`: a condition decides."},
		{Name: "arguments", Values: language.Objects, Unset: "none", Private: true, Doc: "The arguments of the call."},
	}}
	itemTestForm = language.Form{Entries: []language.Entry{
		{Name: "expect", Values: language.Words("allowed", "denied", "confirm"), Required: true, Doc: "What the policy says."},
	}}
	requestEntries = []language.Entry{
		{Name: "address", Values: language.Texts("an address"), Unset: "`\"local\"`", Doc: "The address."},
		{Name: "client", Values: language.Texts("a text"), Doc: "The name that the client gives itself."},
		{Name: "time", Values: language.Texts("a time such as `\"2026-03-01T22:30\"`"), Unset: "now", Doc: "The time, in the time zone of the policy."},
	}
	principalEntries = []language.Entry{
		{Name: "subject", Values: language.Texts("a text"), Doc: "The subject."},
		{Name: "tenant", Values: language.Texts("a tenant"), Unset: language.CodeText(authn.DefaultTenant), Doc: "The tenant."},
		{Name: "issuer", Values: language.Texts("a text"), Doc: "The issuer of the token."},
		{Name: "method", Values: language.Texts("a text"), Doc: "The kind of credential, such as `jwt`."},
		{Name: "roles", Values: language.TextLists("a list of roles"), Doc: "The roles."},
		{Name: "groups", Values: language.TextLists("a list of groups"), Doc: "The groups."},
		{Name: "scopes", Values: language.TextLists("a list of scopes"), Doc: "The scopes."},
		{Name: "claims", Values: language.Objects, Doc: "The claims of the token."},
	}
)

// readTests reads the test blocks. servers are the labels of all servers; zone is that of the
// policy.
func readTests(of *scope, servers []string, zone *time.Location) (all []PolicyTest) {
	for _, b := range of.top["test"] {
		r := of.open(b, "")
		r.Check(&testForm)
		t := PolicyTest{Name: r.Label, Principal: testedPrincipal(r), At: source.StartOf(r.Head)}
		t.Request = testedRequest(r, zone)
		for _, use := range b.Body.Blocks {
			if len(use.Labels) == 2 {
				one := r.nested(use)
				checkTested(one, use, servers)
				t.Uses = append(t.Uses, testedUse(one, use))
			}
		}
		if len(b.Body.Blocks) == 0 {
			r.ErrorAt(r.Head, `write call "SERVER" "TOOL" { expect = "denied" }`, "the test expects nothing")
		}
		all = append(all, t)
	}
	return all
}

// checkTested reports names that a test cannot be about: a test that passes for that reason
// proves nothing.
func checkTested(r blockReader, b *hclsyntax.Block, servers []string) {
	for i, name := range b.Labels {
		if strings.Contains(name, "*") && (i == 0 || b.Type != "read") {
			r.ErrorAt(b.LabelRanges[i], "write a block for each name", "a test is about one name; * is no pattern here")
			return
		}
	}
	if !slices.Contains(servers, b.Labels[0]) {
		r.ErrorAt(b.LabelRanges[0], language.DidYouMean(b.Labels[0], servers), "there is no server %q", b.Labels[0])
	}
}

// testedRequest reads where and when the uses come from.
func testedRequest(r blockReader, zone *time.Location) (t TestedRequest) {
	v, a, set := r.PublicValue("request", cty.DynamicPseudoType)
	if !set {
		return t
	}
	const hint = `write request = { address = "10.0.0.7", client = "cursor", time = "2026-03-01T22:30" }`
	if !v.Type().IsObjectType() {
		r.ErrorAt(a.Expr.Range(), hint, `"request" must be an object, not %s`, language.TypeName(v.Type()))
		return t
	}
	for name, value := range v.AsValueMap() {
		at := keyRange(a.Expr, name)
		if value.IsNull() || value.Type() != cty.String {
			r.ErrorAt(at, hint, "%q must be a text", name)
			continue
		}
		switch text := value.AsString(); name {
		case "address":
			if _, err := netip.ParseAddr(text); err != nil && text != "local" {
				r.ErrorAt(at, hint, "%q is no address", text)
			}
			t.From = text
		case "client":
			t.Named = text
		case "time":
			var err error
			if t.Time, err = ParseRequestTime(text, zone); err != nil {
				r.ErrorAt(at, hint, "%s", err)
			}
		default:
			r.ErrorAt(at, language.DidYouMean(name, []string{"address", "client", "time"}), "a request has no %q", name)
		}
	}
	return t
}

// testedPrincipal reads who a test is about. It is the command line without the attribute.
func testedPrincipal(r blockReader) authn.Principal {
	members := map[string]cty.Type{
		"subject": cty.String, "tenant": cty.String, "issuer": cty.String, "method": cty.String,
		"roles": cty.List(cty.String), "groups": cty.List(cty.String), "scopes": cty.List(cty.String), "claims": cty.DynamicPseudoType,
	}
	p := authn.Local()
	v, a, set := r.PublicValue("principal", cty.DynamicPseudoType)
	if !set {
		return p
	}
	if !v.Type().IsObjectType() {
		r.ErrorAt(a.Expr.Range(), `write principal = { subject = "alice", roles = ["dev"] }`, `"principal" must be an object, not %s`, language.TypeName(v.Type()))
		return p
	}
	p = authn.Principal{Tenant: authn.DefaultTenant, Method: "test"}
	for name, value := range v.AsValueMap() {
		at := keyRange(a.Expr, name)
		want, known := members[name]
		if !known {
			r.ErrorAt(at, language.DidYouMean(name, slices.Sorted(maps.Keys(members))), "a principal has no %q", name)
			continue
		}
		value, err := language.Conform(value, want)
		if err != nil {
			r.ErrorAt(at, "", "%q must be %s", name, language.TypeName(want))
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
func testedUse(r blockReader, b *hclsyntax.Block) TestedUse {
	kinds := map[string]policy.Kind{"call": policy.Tool, "read": policy.Resource, "prompt": policy.Prompt}
	u := TestedUse{Item: policy.Item{Server: b.Labels[0], Kind: kinds[b.Type], Name: b.Labels[1]}, At: source.StartOf(r.Head)}
	allowed := []string{"allowed", "denied", "confirm"}
	if b.Type == "call" {
		r.Check(&callTestForm)
		var given arguments
		if given.ReadSetting(r.Reader, "arguments"); given.members != nil {
			u.Arguments, _ = json.Marshal(given.members) // JSON already
		} else {
			allowed = append(allowed, "depends")
		}
	} else {
		r.Check(&itemTestForm)
	}
	if !r.IsSet("expect") {
		r.ReportMissing("expect", r.Head)
	}
	u.Expect = r.Choice("expect", allowed...)
	return u
}
