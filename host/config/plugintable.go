package config

import (
	"context"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/sdk"
)

// A pluginTable is the plugins of a configuration, with the manifests of those in use.
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
