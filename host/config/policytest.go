package config

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A PolicyTest is a test block: what a principal may do.
type PolicyTest struct {
	Name      string
	Principal authn.Principal
	Uses      []TestedUse
	At        Position
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
		attributes: []string{"principal"},
		blocks:     map[string]shape{"call": {labels: 2, many: true}, "read": {labels: 2, many: true}, "prompt": {labels: 2, many: true}},
	}
	callTestForm = form{attributes: []string{"expect"}, private: []string{"arguments"}}
	itemTestForm = form{attributes: []string{"expect"}}
)

// policyTests reads the test blocks.
func (l *loader) policyTests(blocks []*hclsyntax.Block) (all []PolicyTest) {
	for _, b := range blocks {
		r := l.openBlock(b, "")
		r.check(testForm)
		t := PolicyTest{Name: r.label, Principal: r.testedPrincipal(), At: startOf(r.head)}
		for _, use := range b.Body.Blocks {
			if len(use.Labels) == 2 {
				t.Uses = append(t.Uses, r.nested(use).testedUse(use))
			}
		}
		if len(b.Body.Blocks) == 0 {
			r.errorAt(r.head, `write call "SERVER" "TOOL" { expect = "denied" }`, "the test expects nothing")
		}
		all = append(all, t)
	}
	return all
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
		if arguments := r.arguments("arguments"); arguments != nil {
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
