package config

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/sdk"
)

// The defaults block holds attributes for every server. A server's own attribute
// wins; of env, each variable wins separately. An inherited attribute keeps its
// place: a problem with it names the line in the defaults block.

// A defaultsBlock is the defaults block. The attributes of servers are those with in:"defaults".
type defaultsBlock struct {
	Server `part:"defaults"`

	_ map[string]string `hcl:"env,optional" accepts:"a map of texts" secret:"true" doc:"Variables for every transport with this setting, each variable separately. 'keyring()' is an error, because it would pass one stored secret to all servers."`
	_ []string          `hcl:"pass_env,optional" accepts:"a list of names" doc:"Variables of Junctor's environment, for every transport with this setting. A server's own list replaces it."`
}

// Validate implements [language.Validator]. The rules of servers are not those of the block.
func (*defaultsBlock) Validate(language.Reader) {}

// transportDefaults are the settings of plugins that the defaults block may hold.
// They apply to each transport with a setting of the same name, type and format.
var transportDefaults = []sdk.Attribute{
	{Name: "env", Type: json.RawMessage(`["map","string"]`), Sensitive: true},
	{Name: "pass_env", Type: json.RawMessage(`["list","string"]`), Format: "env_names"},
}

// A fallback holds the attributes that a block inherits, by name. It is read only once
// readDefaults has made it.
type fallback map[string]*hclsyntax.Attribute

// readDefaults reads the defaults block of a scope. Its files together hold at most one. A
// block with a problem is not used: every server would report the problem again.
func (s *scope) readDefaults() {
	r, found := s.only(s.top["defaults"])
	if !found {
		return
	}
	before := s.ev.Files.Count()
	language.Decode(r.Reader, &defaultsBlock{Server: Server{Enabled: true}})
	for _, a := range transportDefaults {
		if v, set := (settingReader{r}).setting(a); set && a.Format == "env_names" {
			envNames(r, a, v)
		}
	}
	noStoredSecrets(r, "env")
	if s.ev.Files.Count() == before {
		s.defaults = r.Body
	}
}

// noStoredSecrets reports keyring() in an attribute. A stored secret is for one
// server, and a default would pass it to all servers.
func noStoredSecrets(r blockReader, name string) {
	a := r.Body.Attributes[name]
	v, _, set := r.RawValue(name)
	if !set {
		return
	}
	if steps, found := r.of.ev.Keyring.Find(v); found && r.of.ev.Keyring.AbsentInValue(v) == nil {
		r.ErrorAt(language.Locate(a.Expr, steps), "write it into the server that needs it",
			"a secret of keyring() is for one server, so %q of defaults cannot hold it", name)
	}
}

// settingDefaults returns the settings that a transport with this schema inherits.
func (s *scope) settingDefaults(schema sdk.Schema) fallback {
	if s.defaults == nil {
		return nil
	}
	f := fallback{}
	for _, d := range transportDefaults {
		attr := s.defaults.Attributes[d.Name]
		fits := slices.ContainsFunc(schema.Attributes, func(a sdk.Attribute) bool {
			return a.Name == d.Name && a.Format == d.Format && sameType(a.Type, d.Type)
		})
		if attr != nil && fits {
			f[d.Name] = attr
			s.defaulted[d.Name] = true
		}
	}
	return f
}

// sameType compares two types in the notation of a plugin's schema, regardless of
// white space.
func sameType(a, b json.RawMessage) bool {
	one, err := ctyjson.UnmarshalType(a)
	if err != nil {
		return false
	}
	other, err := ctyjson.UnmarshalType(b)
	return err == nil && one.Equals(other)
}

// unusedDefaults warns of settings in a defaults block that no server's transport
// has.
func (l *loader) unusedDefaults(drafts []*draft) {
	for _, s := range l.everyScope() {
		inherits := func(d *draft) bool { return d.block.of == s && d.Enabled && d.Transport.Kind != "" }
		if s.defaults == nil || !slices.ContainsFunc(drafts, inherits) {
			continue
		}
		for _, d := range transportDefaults {
			if attr := s.defaults.Attributes[d.Name]; attr != nil && !s.defaulted[d.Name] {
				r := s.empty("defaults")
				r.WarnAt(attr.NameRange, "remove it: only transports that start programs have it, such as stdio",
					"no server's transport has a setting %q", d.Name)
			}
		}
	}
}

// mergeMaps adds the members of inherited that own does not have to own.
func mergeMaps(own, inherited cty.Value) cty.Value {
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
