package config

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/sdk"
)

// A pluginTable is the plugins of a configuration, with the manifests of those in use. It belongs to
// one load. The loader fills it in this order: requirements and pluginBlock, lock, resolve for each
// block of a plugin, and describeAll.
type pluginTable struct {
	files  *source.Set
	ask    func(ctx context.Context, p Plugin) (sdk.Manifest, error) // returns a manifest
	static bool                                                      // a plugin that cannot be described is a warning

	byName    map[string]*plugin
	lost      bool                     // some could not be read: do not report missing plugins
	manifests map[string]*sdk.Manifest // by Plugin.Use; nil: the failure was reported
}

// newPluginTable returns a table without plugins.
func newPluginTable(files *source.Set, o Options) *pluginTable {
	t := &pluginTable{
		files:     files,
		ask:       o.Describe,
		static:    o.Static,
		byName:    map[string]*plugin{},
		manifests: map[string]*sdk.Manifest{},
	}
	if t.ask == nil {
		t.ask = func(context.Context, Plugin) (sdk.Manifest, error) {
			return sdk.Manifest{}, fault.New(fault.Internal, "plugins cannot be described here")
		}
	}
	return t
}

// plugins returns all plugins, sorted by name.
func (t *pluginTable) plugins() (all []Plugin) {
	for _, p := range t.byName {
		all = append(all, p.Plugin)
	}
	slices.SortFunc(all, func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// isBundled reports whether the plugin of a block is one of Junctor's own.
func (t *pluginTable) isBundled(b Block) bool {
	p := t.byName[b.Plugin]
	return p != nil && strings.HasPrefix(p.Source, "builtin/")
}

// lock sets the sha256 of the third-party plugins without one to that of their lock file, if it
// has one for this platform. The locks are by path.
func (t *pluginTable) lock(locks map[string]*lockfile.File) {
	for _, p := range t.byName {
		if p.Source == "" || strings.HasPrefix(p.Source, "builtin/") || p.SHA256 != "" || locks[p.lock] == nil {
			continue
		}
		p.Lock = p.lock
		p.SHA256 = locks[p.lock].Plugins[p.Name].SHA256[lockfile.Platform()]
		p.Locked = p.SHA256 != ""
	}
}

// describeAll gets the manifest of every program that a block uses and, with all, of every
// required program.
func (t *pluginTable) describeAll(ctx context.Context, uses []pluginRef, all bool) {
	for _, u := range uses {
		if u.plugin != nil {
			t.describe(ctx, u.plugin, u.LabelAt, u.In)
		}
	}
	if !all {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		if p := t.byName[name]; p.required {
			t.describe(ctx, p, p.at, "plugins")
		}
	}
}

// describe gets the manifest of the program that p runs, once for each program. It
// reports a failure where the program is required or, for a bundled program, where
// it is used.
func (t *pluginTable) describe(ctx context.Context, p *plugin, at hcl.Range, in string) {
	if _, done := t.manifests[p.Use]; done || p.Source == "" {
		return
	}
	if from := t.byName[p.Use]; from != nil && from.required {
		p, at, in = from, from.at, "plugins"
	}
	t.manifests[p.Use] = nil // until all checks pass
	m, err := t.ask(ctx, p.Plugin)
	if err != nil {
		f := fault.As(err)
		t.files.Problem(language.Problem{
			Warning: t.static, In: in, At: at, Code: f.Code, Hint: f.Hint, Output: f.Output,
			Summary: fmt.Sprintf("plugin %q: %s", p.Name,
				strings.TrimPrefix(f.Message, fmt.Sprintf("plugin %q: ", p.Name))),
		})
		return
	}
	if t.versionFits(p, m, at, in) {
		t.manifests[p.Use] = &m
	}
}

// versionFits reports a manifest with a malformed version, or with a version that
// does not satisfy the constraint. It returns whether the manifest can be used.
func (t *pluginTable) versionFits(p *plugin, m sdk.Manifest, at hcl.Range, in string) bool {
	have, err := version.NewSemver(m.Version)
	if err != nil {
		t.files.Problem(language.Problem{In: in, At: at, Code: fault.PluginDescribe,
			Summary: fmt.Sprintf("plugin %q has the version %q, which is not a semantic version", p.Name, m.Version)})
		return false
	}
	if p.Version == "" {
		return true
	}
	want, err := version.NewConstraint(p.Version)
	if err != nil || want.Check(have) {
		return true // requirement reported a malformed constraint
	}
	hint := "install another version, or change the constraint"
	if have.Prerelease() != "" && want.Check(have.Core()) {
		hint = fmt.Sprintf("a version before a release has to be named: version = %q", "= "+m.Version)
	}
	t.files.Problem(language.Problem{In: in, At: p.versionAt, Code: fault.PluginVersion,
		Summary: fmt.Sprintf("plugin %q has version %s, the configuration asks for %q", p.Name, m.Version, p.Version),
		Hint:    hint})
	return false
}
