package config

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// A Setting is one setting of a server, with where it comes from.
type Setting struct {
	Name  string // such as "timeouts.call" or "transport.url"
	Value string // JSON, or "(sensitive)"
	// At is the place of the attribute. It is zero for a default of Junctor's own, whose Value
	// is as the reference page has it.
	At Position
	// Inherited is true for an attribute of the defaults block.
	Inherited bool
}

// note records an attribute of a server that is set.
func (r blockReader) note(d *draft, a serverAttribute) {
	attr := r.Attribute(a.name)
	if attr == nil {
		return
	}
	before := len(r.problems)
	v, ok := r.eval(r.In, attr.Expr)
	r.loader.problems = r.loader.problems[:before] // they were reported
	if !ok || v.IsNull() {
		return
	}
	d.written = append(d.written, Setting{
		Name: a.path(), Value: settingText(v), At: startOf(attr.NameRange), Inherited: r.Body.Attributes[a.name] == nil,
	})
}

func settingText(v cty.Value) string {
	if v.ContainsMarked() {
		return `"(sensitive)"`
	}
	return string(jsonOf(v))
}

// Settings returns the settings of a server: its attributes in the order of the reference
// page, then those of its transport and auth blocks.
func (s *Server) Settings() (all []Setting) {
	for _, a := range serverAttributes {
		i := slices.IndexFunc(s.written, func(w Setting) bool { return w.Name == a.path() })
		switch {
		case i >= 0:
			all = append(all, s.written[i])
		case s.Enabled:
			all = append(all, Setting{Name: a.path(), Value: strings.ReplaceAll(a.unset, "`", "")})
		}
	}
	if !s.Enabled {
		return all
	}
	all = append(all, s.Transport.written("transport")...)
	if s.Auth != nil {
		all = append(all, s.Auth.written("auth")...)
	}
	return all
}

// written returns the kind and the settings of a block.
func (b *Block) written(name string) []Setting {
	kind, _ := json.Marshal(b.Kind) // a string
	all := []Setting{{Name: name, Value: string(kind), At: b.At}}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(b.Shown, &members) // an object, which Load encoded
	var names []string
	for member := range members {
		names = append(names, member)
	}
	slices.Sort(names)
	for _, member := range names {
		own := b.origin.body.Attributes[member]
		at := b.PositionOf(member)
		all = append(all, Setting{Name: name + "." + member, Value: string(members[member]), At: at, Inherited: own == nil && b.origin.fallback[member] != nil})
	}
	return all
}
