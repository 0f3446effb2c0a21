package config

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/sdk"
)

// The defaults block holds attributes for every server. A server's own attribute
// wins; of env, each variable wins separately. An inherited attribute keeps its
// place: a problem with it names the line in the defaults block.

// defaultsForm lists the attributes and blocks of the defaults block. Those of
// servers come from serverAttributes.
var defaultsForm = form{
	attributes: append(attributeNames("", true), "pass_env"),
	private:    []string{"env"},
	blocks: func() map[string]shape {
		blocks := map[string]shape{}
		for _, name := range attributeBlocks(true) {
			blocks[name] = shape{}
		}
		return blocks
	}(),
}

// transportDefaults are settings of plugins that the block may hold. They are
// for each transport that has a setting of this name and type.
var transportDefaults = []sdk.Attribute{
	{Name: "env", Type: json.RawMessage(`["map","string"]`), Sensitive: true},
	{Name: "pass_env", Type: json.RawMessage(`["list","string"]`), Format: "env_names"},
}

// A fallback is what a section goes by where its own block has no attribute.
type fallback map[string]*hclsyntax.Attribute

// readDefaults reads the block, of which all files together hold one. One that
// has anything wrong is not used: the servers would only repeat its problems.
func (l *loader) readDefaults(blocks []*hclsyntax.Block) {
	if len(blocks) == 0 {
		return
	}
	for _, b := range blocks[1:] {
		l.section(b, "").twice(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
	}
	s := l.section(blocks[0], "")
	before := len(l.problems)
	s.check(defaultsForm)
	d := &draft{Server: &Server{Enabled: true}}
	s.readAttributes(d, "", true)
	s.readAttributeBlocks(d, true)
	for _, a := range transportDefaults {
		if v, set := s.setting(a); set && a.Format == "env_names" {
			s.envNames(a, v)
		}
	}
	s.noStoredSecrets("env")
	if len(l.problems) == before {
		l.defaults = s.body
	}
}

// noStoredSecrets refuses keyring(): a stored secret is for one server, and a
// default would hand it to all of them.
func (s blockReader) noStoredSecrets(name string) {
	a := s.body.Attributes[name]
	v, _, set := s.raw(name)
	if !set {
		return
	}
	if steps, found := s.keyring.in(v); found {
		s.wrong(locate(a.Expr, steps), "write it into the server that needs it",
			"a secret of keyring() is for one server, so %q of defaults cannot hold it", name)
	}
}

// generalDefaults are those that a server block falls back to.
func (l *loader) generalDefaults() fallback {
	if l.defaults == nil {
		return nil
	}
	return fallback(l.defaults.Attributes)
}

// settingDefaults are those for a transport whose plugin has this schema.
func (l *loader) settingDefaults(schema sdk.Schema) fallback {
	if l.defaults == nil {
		return nil
	}
	f := fallback{}
	for _, d := range transportDefaults {
		attr := l.defaults.Attributes[d.Name]
		fits := slices.ContainsFunc(schema.Attributes, func(a sdk.Attribute) bool {
			return a.Name == d.Name && a.Format == d.Format && sameType(a.Type, d.Type)
		})
		if attr != nil && fits {
			f[d.Name] = attr
			l.defaulted[d.Name] = true
		}
	}
	return f
}

// sameType compares types as plugins write them, whatever their white space.
func sameType(a, b json.RawMessage) bool {
	one, err := ctyjson.UnmarshalType(a)
	if err != nil {
		return false
	}
	other, err := ctyjson.UnmarshalType(b)
	return err == nil && one.Equals(other)
}

// unusedDefaults warns of settings that no server's transport has.
func (l *loader) unusedDefaults(drafts []*draft) {
	if l.defaults == nil || !slices.ContainsFunc(drafts, func(d *draft) bool { return d.Enabled && d.Transport.Kind != "" }) {
		return
	}
	for _, d := range transportDefaults {
		if attr := l.defaults.Attributes[d.Name]; attr != nil && !l.defaulted[d.Name] {
			s := blockReader{loader: l, in: "defaults"}
			s.doubtful(attr.NameRange, "it is for transports that start programs, such as stdio", "no server's transport has a setting %q", d.Name)
		}
	}
}

// attribute returns the block's own attribute or, where it has none, the default.
func (s blockReader) attribute(name string) *hclsyntax.Attribute {
	if a := s.body.Attributes[name]; a != nil {
		return a
	}
	return s.fallback[name]
}

// defaultsOf is the fallback of a nested block.
func (l *loader) defaultsOf(kind string) fallback {
	if l.defaults == nil {
		return nil
	}
	for _, b := range l.defaults.Blocks {
		if b.Type == kind {
			return fallback(b.Body.Attributes)
		}
	}
	return nil
}

// merged adds to a map the members of its default that it does not have itself.
func merged(own, inherited cty.Value) cty.Value {
	own, ownMarks := own.Unmark()
	inherited, marks := inherited.Unmark()
	all := inherited.AsValueMap()
	if all == nil {
		all = map[string]cty.Value{}
	}
	maps.Copy(all, own.AsValueMap())
	if len(all) == 0 {
		return own.WithMarks(ownMarks)
	}
	return cty.MapVal(all).WithMarks(ownMarks, marks)
}
