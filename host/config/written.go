package config

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A Setting is one setting of a server, with where it comes from.
type Setting struct {
	Name  string // such as "timeouts.call" or "transport.url"
	Value string // JSON, or "(sensitive)"
	// At is the place of the attribute. It is zero for a default of Junctor's own, whose Value
	// is as the reference page has it.
	At source.Position
	// Inherited is true for an attribute of the defaults block.
	Inherited bool
}

// noteWritten records the attributes that a server block or the defaults block sets. It runs while
// the server is read; Settings gives the result to the verb config and the console.
func noteWritten(r blockReader, d *draft) {
	for _, a := range language.AttributesOf[Server]("") {
		inner := r.Reader
		if a.Block != "" {
			inner, _ = r.BlockOrEmpty(a.Block)
		}
		attr := inner.Attribute(a.Name)
		if attr == nil {
			continue
		}
		before := r.of.ev.Files.Count()
		v, ok := r.Host.Eval(r.In, attr.Expr)
		r.of.ev.Files.Forget(before) // they were reported
		if ok && !v.IsNull() {
			d.written = append(d.written, Setting{
				Name:      a.Path(),
				Value:     settingText(v),
				At:        source.StartOf(attr.NameRange),
				Inherited: inner.Body.Attributes[a.Name] == nil,
			})
		}
		if !d.Enabled {
			return
		}
	}
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
	for _, a := range language.AttributesOf[Server]("") {
		i := slices.IndexFunc(s.written, func(w Setting) bool { return w.Name == a.Path() })
		switch {
		case i >= 0:
			all = append(all, s.written[i])
		case s.Enabled:
			all = append(all, Setting{Name: a.Path(), Value: strings.ReplaceAll(a.Unset, "`", "")})
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
		all = append(all, Setting{Name: name + "." + member, Value: string(members[member]), At: at,
			Inherited: own == nil && b.origin.fallback[member] != nil})
	}
	return all
}
