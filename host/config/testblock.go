package config

import (
	"encoding/json"
	"fmt"
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

// A testBlock is a test block as it is written; readTests makes a PolicyTest of it. The uses in it are
// read in the order of the file.
type testBlock struct {
	Name      string          `hcl:"name,label"`
	Principal testedPrincipal `hcl:"principal" unset:"the command line" doc:"Who the test is about."`
	Request   testedRequest   `hcl:"request" unset:"a local one, now" doc:"Where and when the uses come from."`

	_ []callTestBlock `hcl:"call,block" refers:"server" doc:"The use of a tool. The labels are the server and the server's own name of the tool."`
	_ []itemTestBlock `hcl:"read,block" refers:"server" doc:"The use of a resource. The labels are the server and the URI."`
	_ []itemTestBlock `hcl:"prompt,block" refers:"server" doc:"The use of a prompt. The labels are the server and the server's own name of the prompt."`
}

// A callTestBlock is a call block of a test.
type callTestBlock struct {
	Server    string    `hcl:"server,label"`
	Tool      string    `hcl:"tool,label"`
	_         string    `hcl:"expect" words:"allowed,denied,confirm,depends" unset:"" doc:"What the policy says. 'depends' is for a call without 'arguments': a condition decides."`
	Arguments arguments `hcl:"arguments" secret:"true" unset:"none" doc:"The arguments of the call."`

	Expect string // which words it may be depends on the arguments
}

// An itemTestBlock is a read or prompt block of a test.
type itemTestBlock struct {
	Server string `hcl:"server,label"`
	Item   string `hcl:"item,label"`
	Expect string `hcl:"expect" words:"allowed,denied,confirm" unset:"" doc:"What the policy says."`
}

// Validate implements [language.Validator].
func (b *callTestBlock) Validate(r language.Reader) {
	form := language.FormOf[callTestBlock]()
	if b.Arguments.members != nil {
		form = language.FormOf[itemTestBlock]()
	}
	if !r.IsSet("expect") {
		r.ReportMissing("expect", r.Head)
	}
	b.Expect = r.Choice("expect", form.Entry("expect").Values.Words...)
}

// readTests reads the test blocks. servers are the labels of all servers; zone is that of the
// policy.
func readTests(of *scope, servers []string, zone *time.Location) (all []PolicyTest) {
	for _, b := range of.top["test"] {
		r := of.open(b, "")
		block := testBlock{Principal: testedPrincipal(authn.Local()), Request: testedRequest{zone: zone}}
		language.Decode(r.Reader, &block)
		t := PolicyTest{
			Name:      r.Label,
			Principal: authn.Principal(block.Principal),
			Request:   block.Request.TestedRequest,
			At:        source.StartOf(r.Head),
		}
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

// testedUse reads a call, read or prompt block.
func testedUse(r blockReader, b *hclsyntax.Block) TestedUse {
	u := TestedUse{At: source.StartOf(r.Head)}
	if b.Type == "call" {
		var call callTestBlock
		language.Decode(r.Reader, &call)
		u.Item, u.Expect = policy.Item{Server: call.Server, Kind: policy.Tool, Name: call.Tool}, call.Expect
		if call.Arguments.members != nil {
			u.Arguments, _ = json.Marshal(call.Arguments.members) // JSON already
		}
		return u
	}
	var item itemTestBlock
	language.Decode(r.Reader, &item)
	kind := map[string]policy.Kind{"read": policy.Resource, "prompt": policy.Prompt}[b.Type]
	u.Item, u.Expect = policy.Item{Server: item.Server, Kind: kind, Name: item.Item}, item.Expect
	return u
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

// A testedPrincipal is who a test is about.
type testedPrincipal authn.Principal

// principalMembers are the members of a principal, and where their values go.
var principalMembers = []struct {
	language.Entry
	want cty.Type
	set  func(p *testedPrincipal, v cty.Value)
}{
	{language.Entry{Name: "subject", Values: language.Texts("a text"), Doc: "The subject."},
		cty.String, func(p *testedPrincipal, v cty.Value) { p.Subject = v.AsString() }},
	{language.Entry{Name: "tenant", Values: language.Texts("a tenant"), Unset: language.CodeText(authn.DefaultTenant),
		Doc: "The tenant."}, cty.String, func(p *testedPrincipal, v cty.Value) { p.Tenant = v.AsString() }},
	{language.Entry{Name: "issuer", Values: language.Texts("a text"), Doc: "The issuer of the token."},
		cty.String, func(p *testedPrincipal, v cty.Value) { p.Issuer = v.AsString() }},
	{language.Entry{Name: "method", Values: language.Texts("a text"), Doc: "The kind of credential, such as `jwt`."},
		cty.String, func(p *testedPrincipal, v cty.Value) { p.Method = v.AsString() }},
	{language.Entry{Name: "roles", Values: language.TextLists("a list of roles"), Doc: "The roles."},
		cty.List(cty.String), func(p *testedPrincipal, v cty.Value) { p.Roles = textsOf(v) }},
	{language.Entry{Name: "groups", Values: language.TextLists("a list of groups"), Doc: "The groups."},
		cty.List(cty.String), func(p *testedPrincipal, v cty.Value) { p.Groups = textsOf(v) }},
	{language.Entry{Name: "scopes", Values: language.TextLists("a list of scopes"), Doc: "The scopes."},
		cty.List(cty.String), func(p *testedPrincipal, v cty.Value) { p.Scopes = textsOf(v) }},
	{language.Entry{Name: "claims", Values: language.Objects, Doc: "The claims of the token."},
		cty.DynamicPseudoType, func(p *testedPrincipal, v cty.Value) { p.Claims = jsonOf(v) }},
}

// hasNull reports whether a list has an element that is null.
func hasNull(v cty.Value) bool {
	return v.Type().IsListType() && slices.ContainsFunc(v.AsValueSlice(), cty.Value.IsNull)
}

// textsOf returns the texts of a list.
func textsOf(v cty.Value) (texts []string) {
	for _, e := range v.AsValueSlice() {
		texts = append(texts, e.AsString())
	}
	return texts
}

// Values implements [language.Valued].
func (testedPrincipal) Values() language.Values {
	var members []language.Entry
	for _, m := range principalMembers {
		members = append(members, m.Entry)
	}
	return language.MembersOf(members)
}

// ReadSetting implements [language.Setting].
func (p *testedPrincipal) ReadSetting(r language.Reader, name string) {
	v, a, set := r.PublicValue(name, cty.DynamicPseudoType)
	if !set {
		return
	}
	if !v.Type().IsObjectType() {
		r.ErrorAt(a.Expr.Range(), `write principal = { subject = "alice", roles = ["dev"] }`,
			"%q must be an object, not %s",
			name, language.TypeName(v.Type()))
		return
	}
	*p = testedPrincipal{Tenant: authn.DefaultTenant, Method: "test"}
	var known []string
	for _, m := range principalMembers {
		known = append(known, m.Name)
	}
	slices.Sort(known)
	for member, value := range v.AsValueMap() {
		at := keyRange(a.Expr, member)
		if !slices.Contains(known, member) {
			r.ErrorAt(at, language.DidYouMean(member, known), "a principal has no %q", member)
			continue
		}
		for _, m := range principalMembers {
			if m.Name != member || value.IsNull() {
				continue // null is unset
			}
			if value, err := language.Conform(value, m.want); err != nil || hasNull(value) {
				r.ErrorAt(at, "", "%q must be %s", member, language.TypeName(m.want))
			} else {
				m.set(p, value)
			}
		}
	}
}

// A testedRequest is where and when the uses of a test come from.
type testedRequest struct {
	TestedRequest
	zone *time.Location
}

// requestMembers are the members of a request, and where their texts go.
var requestMembers = []struct {
	language.Entry
	set func(t *testedRequest, text string) error
}{
	{language.Entry{Name: "address", Values: language.Texts("an address"), Unset: "`\"local\"`", Doc: "The address."},
		(*testedRequest).setAddress},
	{language.Entry{Name: "client", Values: language.Texts("a text"), Doc: "The name that the client gives itself."},
		func(t *testedRequest, text string) error { t.Named = text; return nil }},
	{language.Entry{Name: "time", Values: language.Texts("a time such as `\"2026-03-01T22:30\"`"), Unset: "now",
		Doc: "The time, in the time zone of the policy."},
		func(t *testedRequest, text string) (err error) {
			t.Time, err = ParseRequestTime(text, t.zone)
			return err
		}},
}

// setAddress sets the address, and returns an error for a text that is none.
func (t *testedRequest) setAddress(text string) error {
	t.From = text
	if _, err := netip.ParseAddr(text); err != nil && text != "local" {
		return fmt.Errorf("%q is no address", text)
	}
	return nil
}

// Values implements [language.Valued].
func (testedRequest) Values() language.Values {
	var members []language.Entry
	for _, m := range requestMembers {
		members = append(members, m.Entry)
	}
	return language.MembersOf(members)
}

// ReadSetting implements [language.Setting].
func (t *testedRequest) ReadSetting(r language.Reader, name string) {
	v, a, set := r.PublicValue(name, cty.DynamicPseudoType)
	if !set {
		return
	}
	const hint = `write request = { address = "10.0.0.7", client = "cursor", time = "2026-03-01T22:30" }`
	if !v.Type().IsObjectType() {
		r.ErrorAt(a.Expr.Range(), hint, "%q must be an object, not %s", name, language.TypeName(v.Type()))
		return
	}
	var known []string
	for _, m := range requestMembers {
		known = append(known, m.Name)
	}
	for member, value := range v.AsValueMap() {
		at := keyRange(a.Expr, member)
		i := slices.Index(known, member)
		switch {
		case value.IsNull() || value.Type() != cty.String:
			r.ErrorAt(at, hint, "%q must be a text", member)
		case i < 0:
			r.ErrorAt(at, language.DidYouMean(member, known), "a request has no %q", member)
		default:
			if err := requestMembers[i].set(t, value.AsString()); err != nil {
				r.ErrorAt(at, hint, "%s", err)
			}
		}
	}
}
