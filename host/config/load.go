package config

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// Options say what to load and what the configuration may look at.
type Options struct {
	// Path is a file, or a directory whose *.hcl files are read; see [Find].
	Path string

	// Lookup reads the environment; nil is [os.LookupEnv].
	Lookup func(name string) (string, bool)

	// Describe returns the manifest of the program that a plugin runs. It is
	// called at most once for each program, and only for those that an enabled
	// server uses. What its error says, hint and code included, becomes a
	// diagnostic.
	Describe func(ctx context.Context, p Plugin) (sdk.Manifest, error)

	// All describes every required plugin, used or not.
	All bool

	// Content is the text to load instead of what is at Path, with the programs
	// that plugins may be; nil reads Path.
	Content *Content
}

// Load reads, decodes and checks a configuration. It starts nothing but what
// Describe does. The Config is nil exactly when a diagnostic is an error.
func Load(ctx context.Context, o Options) (*Config, Diagnostics) {
	l := newLoader(o)
	if o.Content != nil {
		for _, t := range o.Content.texts {
			l.add(t.name, t.text)
		}
	} else {
		l.read(o.Path)
	}
	return l.load(ctx)
}

// A loader is one load under way.
type loader struct {
	Options
	lookup func(string) (string, bool)

	sources  []*source
	byName   map[string]*source
	problems []problem
	secrets  []string // what env() and file() returned
	keyring  keyring

	inspections []inspection // of placeholders, by the expression being evaluated
	functions   map[string]function.Function
	locals      map[string]*local
	localValues cty.Value

	defaults  *hclsyntax.Body // nil: no block, or one with problems
	defaulted map[string]bool // settings of it that a transport has

	plugins     map[string]*plugin
	pluginsLost bool                     // some could not be read: do not complain that they are missing
	manifests   map[string]*sdk.Manifest // by the plugin whose program it is; nil: reported
}

func newLoader(o Options) *loader {
	l := &loader{
		Options: o, lookup: o.Lookup,
		byName: map[string]*source{}, locals: map[string]*local{}, plugins: map[string]*plugin{},
		manifests: map[string]*sdk.Manifest{}, defaulted: map[string]bool{},
		localValues: cty.EmptyObjectVal, keyring: newKeyring(),
	}
	if l.lookup == nil {
		l.lookup = os.LookupEnv
	}
	if l.Describe == nil {
		l.Describe = func(context.Context, Plugin) (sdk.Manifest, error) {
			return sdk.Manifest{}, fault.New(fault.Internal, "plugins cannot be described here")
		}
	}
	l.functions = l.hostFunctions()
	return l
}

// load turns sources into a configuration. Each step goes on after problems,
// so that one run reports all that do not follow from each other.
func (l *loader) load(ctx context.Context) (*Config, Diagnostics) {
	if len(l.problems) > 0 || !l.parse() {
		return nil, l.diagnostics()
	}
	l.collectEnvSecrets()
	top := l.collect()
	l.computeLocals()
	for _, b := range top["plugins"] {
		l.requirements(b)
	}
	for _, b := range top["plugin"] {
		l.pluginBlock(b)
	}
	l.pinPrograms()
	l.resolveUses()
	gateway := l.gateway(top["gateway"]) // before servers, whose plugins may repeat its tokens
	l.readDefaults(top["defaults"])      // before servers, which fall back to it
	var drafts []*draft
	for _, b := range top["server"] {
		drafts = append(drafts, l.server(b))
	}
	l.fitMemory(&gateway, drafts)
	checkNames(l, drafts)
	l.shareByTenant(gateway.HTTP, drafts)
	store := l.secretStore(top["secret_store"])
	l.describeAll(ctx, uses(drafts, store))
	for _, d := range drafts {
		l.finish(d)
	}
	l.unusedDefaults(drafts)
	kept := store.finish()
	ds := l.diagnostics()
	if ds.HasErrors() {
		return nil, ds
	}
	c := l.config(drafts, kept)
	c.Gateway = gateway
	return c, ds
}

// whole is what may stand outside of every block.
var whole = form{
	blocks: map[string]shape{
		"plugins": {many: true}, "plugin": {labels: 1, many: true}, "locals": {many: true}, "server": {labels: 1, many: true},
		"gateway": {many: true}, "defaults": {many: true}, "secret_store": {labels: 1, many: true}, // one of each; see there
	},
	later: []string{"policy"},
}

// collect sorts the top-level blocks of all files by kind and registers the
// locals.
func (l *loader) collect() map[string][]*hclsyntax.Block {
	top := map[string][]*hclsyntax.Block{}
	for _, s := range l.sources {
		blockReader{loader: l, body: s.body, head: hcl.Range{Filename: s.name}}.check(whole)
		for _, b := range s.body.Blocks {
			top[b.Type] = append(top[b.Type], b)
		}
	}
	for _, b := range top["locals"] {
		l.collectLocals(b)
	}
	return top
}

// uses are all blocks whose bodies belong to plugins.
func uses(drafts []*draft, store *storeDraft) []pluginRef {
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

func (l *loader) config(drafts []*draft, store *SecretStore) *Config {
	l.keyring.sorted(l.sources)
	c := &Config{Path: l.Path, SecretStore: store, keyring: l.keyring}
	for _, s := range l.sources {
		c.Files = append(c.Files, s.name)
	}
	for _, p := range l.plugins {
		c.Plugins = append(c.Plugins, p.Plugin)
	}
	slices.SortFunc(c.Plugins, func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	secrets := l.secrets
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
	c.secrets = Scrubber(secrets)
	return c
}
