package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// A role is what a plugin can be for a block.
type role struct {
	noun    string   // in messages
	bundled []string // the plugins that need not be required for it
	offered func(*sdk.Manifest) map[string]sdk.Schema
}

var (
	transports = role{"transport", []string{"stdio", "http", "sse", "cli"},
		func(m *sdk.Manifest) map[string]sdk.Schema { return m.Transports }}
	providers = role{"auth provider", []string{"bearer", "command", "oauth"},
		func(m *sdk.Manifest) map[string]sdk.Schema { return m.Auths }}
	stores = role{"secret store", []string{"keyring"},
		func(m *sdk.Manifest) map[string]sdk.Schema { return m.SecretStores }}
)

// bundled plugins are there without being required.
var bundled = slices.Concat(transports.bundled, providers.bundled, stores.bundled)

// A pluginRef is a Block in the making: its body is decoded when the plugin has been
// asked for its manifest.
type pluginRef struct {
	blockReader
	role
	plugin    *plugin // nil: not to be decoded
	component string  // that the label names, if it does
}

// use resolves a block's label, NAME or NAME/COMPONENT, to a plugin. That
// there is none is reported.
func (s blockReader) use(r role) pluginRef {
	u := pluginRef{blockReader: s, role: r}
	name, component, explicit := strings.Cut(s.label, "/")
	switch {
	case s.label == "":
		return u // reported, or disabled
	case explicit && component == "":
		s.wrong(s.labelAt, "write NAME, or NAME/COMPONENT", "%s names no component after the slash", s.what)
		return u
	}
	u.plugin, u.component = s.plugins[name], component
	if u.plugin == nil && slices.Contains(bundled, name) {
		u.plugin = &plugin{
			Plugin: Plugin{Name: name, Use: name, Source: "builtin/" + name, Isolation: "shared", At: startOf(s.labelAt)},
			at:     s.labelAt,
		}
		s.plugins[name] = u.plugin
	}
	if u.plugin == nil && !s.pluginsLost {
		s.wrong(s.labelAt, cmp.Or(nearHint(name, u.candidates()),
			fmt.Sprintf(`require it: plugins { required = { %s = { source = "..." } } }`, name)), "there is no plugin %q", name)
	}
	return u
}

// candidates are the plugins that the label may have meant.
func (u pluginRef) candidates() []string {
	names := slices.Clone(u.bundled)
	for _, name := range slices.Sorted(maps.Keys(u.plugins)) {
		if !slices.Contains(bundled, name) {
			names = append(names, name)
		}
	}
	return names
}

// decode reads the block with the schema of its plugin. It returns false when
// there is none, which was reported.
func (u pluginRef) decode() (Block, bool) {
	if u.plugin == nil {
		return Block{}, false
	}
	m := u.manifests[u.plugin.Use]
	if m == nil {
		return Block{}, false
	}
	offered := u.offered(m)
	name, ok := u.pick(slices.Sorted(maps.Keys(offered)))
	if !ok {
		return Block{}, false
	}
	if u.noun == transports.noun {
		u.fallback = u.settingDefaults(offered[name])
	}
	got := u.settings(offered[name])
	slices.Sort(got.env)
	source := u.byName[u.head.Filename]
	return Block{
		Kind: u.label, Plugin: u.plugin.Name, Component: name,
		Settings: jsonOf(got.object(false)), Shown: jsonOf(got.object(true)), EnvNames: slices.Compact(got.env),
		Dir: source.dir, At: startOf(u.head), files: within(source.dir, got.files),
		origin: origin{source: source, body: u.body, head: u.head, in: u.in, secrets: u.secrets, fallback: u.fallback, sources: u.byName},
	}, true
}

// within are paths as the plugin will understand them.
func within(dir string, paths []string) []string {
	var all []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		all = append(all, p)
	}
	return all
}

// pick finds what a block means of what its plugin offers: the component that
// it names, else the one called like the plugin, else the only one.
func (u pluginRef) pick(offered []string) (string, bool) {
	p := u.plugin
	if u.component != "" {
		if slices.Contains(offered, u.component) {
			return u.component, true
		}
		u.wrong(u.labelAt, didYouMean(u.component, offered), "plugin %q offers no %s %q", p.Name, u.noun, u.component)
		return "", false
	}
	for _, name := range []string{p.Name, p.Use} {
		if slices.Contains(offered, name) {
			return name, true
		}
	}
	switch len(offered) {
	case 0:
		u.wrong(u.labelAt, "", "plugin %q offers no %s", p.Name, u.noun)
		return "", false
	case 1:
		return offered[0], true
	}
	full := make([]string, len(offered))
	for i, name := range offered {
		full[i] = p.Name + "/" + name
	}
	u.wrong(u.labelAt, "write one of "+quoted(full), "plugin %q offers several %ss", p.Name, u.noun)
	return "", false
}
