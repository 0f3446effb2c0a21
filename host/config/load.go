package config

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/host/redact"
)

// Load reads, evaluates, decodes and checks a configuration. It starts no program
// except through [Options.Describe]. The Config is nil exactly if a diagnostic is
// an error. Calls are independent of each other and may run concurrently. Load blocks while a plugin
// is described, and ctx ends that. Callers must not load a configuration that the user has not written,
// named or trusted, because evaluation is not bounded, unless they set Options.Static.
func Load(ctx context.Context, o Options) (*Config, source.Diagnostics) {
	l := newLoader(o)
	first := l.layers[0]
	if o.Static {
		l.tree.Root = o.staticRoot()
	}
	switch {
	case o.Content != nil:
		l.tree.Root, l.tree.Reviewed = o.Content.Root, o.Content.Texts()
		first.keep(l.tree.AddTexts("")...)
	case len(o.Text) > source.MaxFile:
		l.files.Problem(language.Problem{
			At:      hcl.Range{Filename: o.Path},
			Summary: fmt.Sprintf("the configuration is larger than %d KiB", source.MaxFile>>10),
		})
	case o.Text != nil:
		first.keep(l.files.Add(o.Path, o.Text))
	case o.Path != o.Managed: // else the user has no configuration
		first.keep(l.files.Read(o.Path)...)
	}
	for i, path := range o.Under {
		weaker := newScope(l.ev, i+1)
		weaker.keep(l.files.Read(path)...)
		l.layers = append(l.layers, weaker)
	}
	l.readManaged(o.Managed)
	return l.load(ctx)
}

// A loader holds the state of one [Load]. Only the goroutine of that call uses it.
type loader struct {
	Options
	lookup func(string) (string, bool)
	files  *source.Set // of all scopes
	tree   *source.Tree
	ev     *expression.Evaluator

	layers     []*scope // the strongest first
	managed    *scope   // nil: there is no managed configuration
	moduleUses int

	shadowed []Shadowed
	unread   []string // see Config.Unread

	locks   map[string]*lockfile.File // by path
	plugins *pluginTable
	blocked map[string]string // why the managed configuration does not allow servers, by name; nil: only warned of
}

func newLoader(o Options) *loader {
	l := &loader{Options: o, lookup: o.Lookup, files: source.NewSet(languageWords())}
	l.files.Texts, l.files.Pasted = o.Texts, o.Pasted
	l.tree = source.NewTree(l.files)
	l.tree.Static = o.Static
	switch {
	case o.Static:
		l.lookup = func(string) (string, bool) { return "", false }
	case l.lookup == nil:
		l.lookup = os.LookupEnv
	}
	l.plugins = newPluginTable(l.files, o)
	l.ev = expression.New(l.files, expression.Inputs{
		Lookup:  l.lookup,
		Read:    o.Content.ReadFile,
		Static:  o.Static,
		Absent:  o.AbsentInputs,
		Foreign: foreignHint,
	})
	l.layers = []*scope{newScope(l.ev, 0)}
	return l
}

// load turns sources into a configuration. Each step continues after problems, so
// that one run reports all problems that do not follow from each other.
func (l *loader) load(ctx context.Context) (*Config, source.Diagnostics) {
	if l.files.Count() > 0 || !l.tree.Parse() {
		return nil, l.files.Diagnostics()
	}
	l.collectAll()
	l.collectPlugins()
	rules, own := l.managedServers(), l.ownServers()
	p := l.readPolicies()
	whole := l.readWhole(p.roleUse()) // before servers: messages of their plugins may repeat its tokens
	for _, layer := range l.layers {
		layer.readDefaults() // before servers: they inherit from it
	}
	drafts := l.drafts(rules)
	l.checkDrafts(&whole.gateway, drafts)
	for _, d := range drafts {
		l.setLock(d)
	}
	store := l.plugins.secretStore(l.storeLayer())
	l.plugins.describeAll(ctx, pluginRefs(drafts, store), l.All)
	for _, d := range drafts {
		d.finish(l.ev.Keyring)
	}
	l.disableUnmanaged(drafts, rules, own)
	l.unusedDefaults(drafts)
	p.check(whole.gateway.HTTP, whole.console, drafts)
	kept := store.finish()
	tests := readTests(l.layers[0], namesOf(drafts), p.layers[0].Zone)
	l.wholly("audit", l.AbsentInputs, func(*scope) { whole.audit = l.audit() })
	ds := l.files.Diagnostics()
	if ds.HasErrors() || l.Static {
		return nil, ds
	}
	c := l.config(drafts, kept)
	c.Tests = tests
	if l.managed != nil {
		c.Managed = Managed{Path: l.managed.sources[0].Name, Servers: rules, Policy: p.forced.Rules}
	}
	whole.put(c)
	c.Unread = l.unread
	p.put(c)
	return c, ds
}

// collectAll reads the lock files and the top-level blocks of all scopes.
func (l *loader) collectAll() {
	l.readLocks()
	l.ev.ConcealEnv()
	for _, layer := range l.layers {
		l.collect(layer, Language())
	}
	if l.managed != nil {
		l.collect(l.managed, &managedForm)
	}
}

// checkDrafts checks the servers against the limits of the gateway, and against each other.
func (l *loader) checkDrafts(g *Gateway, drafts []*draft) {
	l.checkMemory(g, drafts)
	checkRequestTimeout(l, *g, drafts)
	checkNames(l, drafts)
	l.shareByTenant(g.HTTP, drafts)
}

func namesOf(drafts []*draft) (names []string) {
	for _, d := range drafts {
		names = append(names, d.Name)
	}
	return names
}

// collectPlugins reads the plugins of all layers.
func (l *loader) collectPlugins() {
	for _, s := range l.everyScope() {
		for _, b := range s.top["plugins"] {
			l.plugins.requirements(s.open(b, ""), l.lockPath(s.layer, s == l.managed))
		}
	}
	for _, s := range l.everyScope() {
		for _, b := range s.top["plugin"] {
			l.plugins.pluginBlock(s.open(b, ""))
		}
	}
	l.plugins.lock(l.locks)
	if l.Content != nil {
		l.plugins.pinPrograms(l.layers[0], l.Content)
	}
	l.plugins.resolvePrograms(l.layers[0])
}

// pluginRefs lists all blocks whose bodies belong to plugins.
func pluginRefs(drafts []*draft, store *storeDraft) []pluginRef {
	var all []pluginRef
	for _, d := range drafts {
		all = append(all, d.transport)
		if d.auth != nil {
			all = append(all, *d.auth)
		}
	}
	if store != nil {
		all = append(all, store.pluginRef)
	}
	return all
}

// config builds the Config of a load without errors.
func (l *loader) config(drafts []*draft, store *SecretStore) *Config {
	l.ev.Keyring.SortUses(l.files.Order())
	c := &Config{Path: l.Path, SecretStore: store, keyring: l.ev.Keyring}
	for _, s := range l.files.All {
		c.Files = append(c.Files, s.Name)
	}
	c.Under, c.Shadowed, c.Locks, c.included, c.named = l.Under, l.shadowed, l.locks, l.ev.Included(), l.ev.Named()
	c.lookup = l.lookup
	c.Plugins = l.plugins.plugins()
	secrets := slices.Clone(l.files.Hidden())
	for _, d := range drafts {
		c.Servers = append(c.Servers, d.Server)
		secrets = append(secrets, hiddenTexts(d.Transport.Settings, d.Transport.Shown)...)
		if d.Auth != nil {
			secrets = append(secrets, hiddenTexts(d.Auth.Settings, d.Auth.Shown)...)
		}
	}
	if store != nil {
		secrets = append(secrets, hiddenTexts(store.Settings, store.Shown)...)
	}
	c.secrets = redact.New(l.ev.WithoutPublic(secrets))
	return c
}
