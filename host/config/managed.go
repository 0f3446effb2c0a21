package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/managed"
	"github.com/junctor-mcp/junctor/host/ownership"
	"github.com/junctor-mcp/junctor/host/policy"
)

// This file reads the managed configuration of the machine. It says which servers users may
// configure, has servers of its own, and a policy that comes before that of the user. If
// anything in it is wrong, nothing is loaded.

// managedForm lists the blocks of the managed configuration.
var managedForm = language.Form{Blocks: map[string]language.Shape{
	"servers": {}, "server": {Labels: 1, Many: true},
	"policy": {}, "audit": {}, "locals": {Many: true}, "plugins": {Many: true}, "plugin": {Labels: 1, Many: true},
}}

// An ownServersBlock is a servers block of a user or a project.
type ownServersBlock struct {
	Allow serverEntries `hcl:"allow" unset:"all" doc:"The servers that may be used: by label, by the exact command with its arguments, or by a pattern for the URL. An empty list allows none."`
	Deny  serverEntries `hcl:"deny" unset:"none" doc:"Servers that may not be used. It wins."`
}

// A managedServersBlock is the servers block of the managed configuration.
type managedServersBlock struct {
	ownServersBlock
	Exclusive bool `hcl:"exclusive" doc:"Users may configure no servers of their own."`
}

// serverEntries are a list of objects with one member each. They are nil if the attribute is not set.
type serverEntries []managed.Entry

// Values implements [language.Valued].
func (serverEntries) Values() language.Values {
	text := map[string]any{"type": "string"}
	return language.Values{
		Accepts: "a list of `{ name = \"…\" }`, `{ command = [\"…\"] }` or `{ url = \"…\" }`",
		Schema: map[string]any{"type": "array", "items": map[string]any{
			"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
			"properties": map[string]any{"name": text,
				"command": map[string]any{"type": "array", "items": text}, "url": text},
		}},
	}
}

// maxManagedEntries bounds the entries of a list.
const maxManagedEntries = 10_000

// readManaged adds the managed configuration as a source, if there is one. Load calls it after the
// layers are read.
func (l *loader) readManaged(path string) {
	if path == "" {
		return
	}
	refuse := func(format, hint string) {
		l.files.Problem(language.Problem{At: hcl.Range{Filename: path}, Summary: format, Hint: hint})
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if why := ownership.Unmanaged(name); why != "" {
			refuse("the managed configuration cannot be trusted: "+name+" "+why,
				"only the administrator may be able to write to it and to its directory")
			return
		}
	}
	text, err := source.ReadFile(path, source.MaxFile)
	if err != nil {
		refuse("cannot read the managed configuration: "+err.Error(), "ask the administrator of this machine")
		return
	}
	l.managed = newScope(l.ev, 0)
	l.managed.keep(l.files.Add(path, text))
}

// ManagedServers returns the rules of the managed configuration at a path about servers. They
// are empty if there is none, or if it has mistakes, which loading a configuration reports.
func ManagedServers(path string) managed.Rules {
	l := newLoader(Options{Managed: path})
	if l.readManaged(path); l.managed == nil || l.files.Count() > 0 || !l.tree.Parse() {
		return managed.Rules{}
	}
	l.collect(l.managed, &managedForm)
	return l.managedServers()
}

// managedBlocks returns the blocks of a type in the managed configuration.
func (l *loader) managedBlocks(kind string) []*hclsyntax.Block {
	if l.managed == nil {
		return nil
	}
	return l.managed.top[kind]
}

// managedServers reads the servers block.
func (l *loader) managedServers() (rules managed.Rules) {
	blocks := l.managedBlocks("servers")
	if len(blocks) == 0 {
		return rules
	}
	r := l.managed.open(blocks[0], "")
	var block managedServersBlock
	language.Decode(r.Reader, &block)
	rules = block.rules(r)
	rules.Exclusive = block.Exclusive
	return rules
}

// ownServers reads the servers blocks of the layers, which all count.
func (l *loader) ownServers() (all []managed.Rules) {
	for _, layer := range l.layers {
		if r, found := layer.only(layer.top["servers"]); found {
			var block ownServersBlock
			language.Decode(r.Reader, &block)
			rules := block.rules(r)
			rules.Own = true
			all = append(all, rules)
		}
	}
	return all
}

// rules returns what a servers block allows and denies.
func (b ownServersBlock) rules(r blockReader) managed.Rules {
	return managed.Rules{At: source.StartOf(r.Head).String(), Allow: b.Allow, Deny: b.Deny}
}

// ReadSetting implements [language.Setting].
func (s *serverEntries) ReadSetting(r language.Reader, name string) {
	v, a, set := r.PublicValue(name, cty.DynamicPseudoType)
	if !set {
		return
	}
	if !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType() || v.LengthInt() > maxManagedEntries {
		r.ErrorAt(a.Expr.Range(),
			`write [{ name = "github" }, { command = ["npx", "files"] }, { url = "https://*.example.com/*" }]`,
			"%q must be a list of objects", name)
		return
	}
	*s = serverEntries{}
	for i, one := range v.AsValueSlice() {
		if entry, ok := managedEntry(r, name, language.Locate(a.Expr, []language.Step{{Index: i}}), one); ok {
			*s = append(*s, entry)
		}
	}
}

func managedEntry(r language.Reader, list string, at hcl.Range, v cty.Value) (e managed.Entry, ok bool) {
	const hint = `write one of name, command and url`
	if v.IsNull() || !v.Type().IsObjectType() || len(v.AsValueMap()) != 1 {
		r.ErrorAt(at, hint, "an entry of %q has exactly one member", list)
		return e, false
	}
	e.At = source.StartOf(at).String()
	for member, value := range v.AsValueMap() {
		want := cty.String
		if member == "command" {
			want = cty.List(cty.String)
		}
		value, err := language.Conform(value, want)
		switch {
		case !slices.Contains([]string{"name", "command", "url"}, member):
			r.ErrorAt(at, hint, "an entry of %q has no %q", list, member)
			return e, false
		case err != nil || value.IsNull() || hasNull(value),
			want == cty.String && value.AsString() == "", want != cty.String && value.LengthInt() == 0:
			r.ErrorAt(at, hint, "%q of an entry of %q must be %s", member, list, language.TypeName(want))
			return e, false
		case member == "command" && list == "allow" && leadsAnywhere(value.AsValueSlice()[0].AsString()):
			r.ErrorAt(at, "write an absolute path, or a name that is looked up in PATH",
				"a relative path in %q is another program in each directory", list)
			return e, false
		case member == "name":
			e.Name = value.AsString()
		case member == "url":
			e.URL = value.AsString()
			if _, err := managed.ParsePattern(e.URL); err != nil {
				r.ErrorAt(at, "", "%v", err)
				return e, false
			}
		default:
			for _, word := range value.AsValueSlice() {
				e.Command = append(e.Command, word.AsString())
			}
		}
	}
	return e, true
}

// leadsAnywhere reports whether a program is named by a relative path.
func leadsAnywhere(program string) bool {
	return strings.ContainsAny(program, `/`+string(filepath.Separator)) && !filepath.IsAbs(program)
}

// disableUnmanaged disables the servers that the managed configuration, or a servers block of
// a layer, does not allow. Those of the administrator are not asked about by users.
func (l *loader) disableUnmanaged(drafts []*draft, rules managed.Rules, own []managed.Rules) {
	list, _ := l.lookup("PATH")
	check := managedCheck{plugins: l.plugins, path: list}
	for _, d := range drafts {
		if !d.Enabled {
			continue
		}
		of := rules
		if d.managed {
			of.Allow = nil // the list is about servers of users
		}
		why := check.unmanaged(d.Server, of)
		if l.blocked != nil && why != "" && !d.managed && !d.computed() {
			l.blocked[d.Name] = why
		}
		if why != "" {
			d.Enabled, d.Blocked = false, why
			d.block.WarnAt(d.block.Head, "ask the administrator of this machine",
				"server %q is not used: the managed configuration does not allow it (%s)", d.Name, why)
			continue
		}
		for _, of := range own {
			if why := check.unmanaged(d.Server, of); why != "" && !d.managed {
				d.Enabled, d.Blocked, d.BlockedByUser = false, why, true
				d.block.WarnAt(d.block.Head, "change the servers block, or remove the server",
					"server %q is not used: it is %s", d.Name, why)
				break
			}
		}
	}
}

// A Managed is the managed configuration of the machine.
type Managed struct {
	Path    string // of the file; empty: there is none
	Servers managed.Rules
	Policy  policy.Rules `json:",omitzero"`
}
