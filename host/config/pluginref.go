package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk"
)

var (
	transports = language.Role{
		Noun:    "transport",
		Bundled: []string{"stdio", "http", "sse", "cli"},
		Offered: func(m *sdk.Manifest) map[string]sdk.Schema { return m.Transports },
	}
	providers = language.Role{
		Noun:    "auth provider",
		Bundled: []string{"bearer", "command", "oauth"},
		Offered: func(m *sdk.Manifest) map[string]sdk.Schema { return m.Auths },
	}
	stores = language.Role{
		Noun:    "secret store",
		Bundled: []string{"keyring"},
		Offered: func(m *sdk.Manifest) map[string]sdk.Schema { return m.SecretStores },
	}
)

// bundled lists the plugins that need no declaration.
var bundled = slices.Concat(transports.Bundled, providers.Bundled, stores.Bundled)

// Bundled returns the names of the plugins that need no declaration.
func Bundled() []string { return slices.Clone(bundled) }

// A pluginRef is a block with the plugin that its label names. Its body is decoded
// once the manifest of the plugin is known: call decode after pluginTable.describeAll.
type pluginRef struct {
	blockReader
	language.Role
	table     *pluginTable
	plugin    *plugin // nil: unknown or disabled, so the body is not decoded
	component string  // the component that the label names; empty: none
}

// resolve resolves a block's label, NAME or NAME/COMPONENT, to a plugin. It
// reports an unknown plugin.
func (t *pluginTable) resolve(r blockReader, as language.Role) pluginRef {
	u := pluginRef{blockReader: r, Role: as, table: t}
	name, component, explicit := strings.Cut(r.Label, "/")
	switch {
	case r.Label == "":
		return u // check reported the missing label
	case explicit && component == "":
		r.ErrorAt(r.LabelAt, "write NAME, or NAME/COMPONENT", "%s names no component after the slash", r.What)
		return u
	}
	u.plugin, u.component = t.byName[name], component
	if u.plugin == nil && slices.Contains(bundled, name) {
		u.plugin = &plugin{
			Plugin: Plugin{Name: name, Use: name, Source: "builtin/" + name, Isolation: "shared",
				At: source.StartOf(r.LabelAt)},
			at: r.LabelAt,
		}
		t.byName[name] = u.plugin
	}
	if u.plugin == nil && !t.lost {
		r.ErrorAt(r.LabelAt, cmp.Or(u.foreignLabel(name), language.NearHint(name, u.candidates()),
			fmt.Sprintf(`require it: plugins { required = { %s = { source = "..." } } }`, name)),
			"there is no plugin %q", name)
		r.of.host(r.each).ReportBodyInputs(r.In, r.Body)
	}
	return u
}

// foreignLabel returns a hint for a label that other programs use, or "".
func (u pluginRef) foreignLabel(name string) string {
	if label := foreignLabels[u.Noun][foldName(name)]; label != "" {
		return fmt.Sprintf("write %s %q { ... }", u.Kind(), label)
	}
	return ""
}

// candidates lists the plugins for a suggestion.
func (u pluginRef) candidates() []string {
	names := slices.Clone(u.Bundled)
	for _, name := range slices.Sorted(maps.Keys(u.table.byName)) {
		if !slices.Contains(bundled, name) {
			names = append(names, name)
		}
	}
	return names
}

// decode decodes the block with the schema of its plugin. It returns false without
// a report if there is no manifest, because that was reported before.
func (u pluginRef) decode() (Block, bool) {
	if u.plugin == nil {
		return Block{}, false
	}
	m := u.table.manifests[u.plugin.Use]
	if m == nil {
		u.of.host(u.each).ReportBodyInputs(u.In, u.Body)
		return Block{}, false
	}
	offered := u.Offered(m)
	name, ok := u.pickComponent(slices.Sorted(maps.Keys(offered)))
	if !ok {
		return Block{}, false
	}
	var inherited fallback
	if u.Noun == transports.Noun {
		inherited = u.of.settingDefaults(offered[name])
		u.Fallback = &hclsyntax.Body{Attributes: hclsyntax.Attributes(inherited)}
	}
	got := readSettings(u.blockReader, offered[name])
	slices.Sort(got.env)
	file := u.of.ev.Files.File(u.Head.Filename)
	return Block{
		Kind: u.Label, Plugin: u.plugin.Name, Component: name,
		Settings: jsonOf(got.object(false)), Shown: jsonOf(got.object(true)), EnvNames: slices.Compact(got.env),
		Dir: file.Dir, At: source.StartOf(u.Head), files: absolutePaths(file.Dir, got.files),
		origin: blockSource{source: file, body: u.Body, head: u.Head, in: u.In, fallback: inherited,
			files: u.of.ev.Files},
	}, true
}

// absolutePaths resolves paths as the plugin does: relative to dir.
func absolutePaths(dir string, paths []string) []string {
	var all []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		all = append(all, p)
	}
	return all
}

// pickComponent chooses a component of the plugin: the one that the label names,
// else the one with the name of the plugin, else the only one. It reports a failure.
func (u pluginRef) pickComponent(offered []string) (string, bool) {
	p := u.plugin
	if u.component != "" {
		if slices.Contains(offered, u.component) {
			return u.component, true
		}
		u.ErrorAt(u.LabelAt, language.DidYouMean(u.component, offered), "plugin %q offers no %s %q",
			p.Name, u.Noun, u.component)
		return "", false
	}
	for _, name := range []string{p.Name, p.Use} {
		if slices.Contains(offered, name) {
			return name, true
		}
	}
	switch len(offered) {
	case 0:
		u.ErrorAt(u.LabelAt, "", "plugin %q offers no %s", p.Name, u.Noun)
		return "", false
	case 1:
		return offered[0], true
	}
	full := make([]string, len(offered))
	for i, name := range offered {
		full[i] = p.Name + "/" + name
	}
	u.ErrorAt(u.LabelAt, "write one of "+language.Quoted(full), "plugin %q offers several %ss", p.Name, u.Noun)
	return "", false
}
