package config

import (
	"context"
	"fmt"
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

// Options are the input of [Load].
type Options struct {
	// Path is a file, or a directory whose *.hcl files are read; see [Find]. It is Managed if
	// there is no other configuration.
	Path string

	// Text is the configuration itself, if it is not nil. Path is then its name in
	// diagnostics, and its relative paths start at the working directory.
	Text []byte

	// Lookup reads the environment; nil is [os.LookupEnv].
	Lookup func(name string) (string, bool)

	// Describe returns the manifest of the program that a plugin runs. Load calls
	// it at most once for each program, and only for programs that an enabled server
	// or the secret store uses. Load turns its error, with hint and code, into a
	// diagnostic.
	Describe func(ctx context.Context, p Plugin) (sdk.Manifest, error)

	// All also describes required plugins that are not used.
	All bool

	// NoListener is set by callers that do not listen for clients over HTTP. Load
	// then does not report env() and file() of gateway.http that fail.
	NoListener bool

	// Managed is the path of the managed configuration of the machine; empty: none is read.
	Managed string

	// Content is the reviewed text and the reviewed programs of plugins. Load uses
	// them instead of the files at Path; nil reads Path.
	Content *Content
}

// Load reads, evaluates, decodes and checks a configuration. It starts no program
// except through [Options.Describe]. The Config is nil exactly if a diagnostic is
// an error. Callers must not load a configuration that the user has not written,
// named or trusted, because evaluation is not bounded.
func Load(ctx context.Context, o Options) (*Config, Diagnostics) {
	l := newLoader(o)
	switch {
	case o.Content != nil:
		for _, t := range o.Content.texts {
			l.addSource(t.name, t.text)
		}
	case len(o.Text) > maxFile:
		l.problem(problem{at: hcl.Range{Filename: o.Path}, summary: fmt.Sprintf("the configuration is larger than %d KiB", maxFile>>10)})
	case o.Text != nil:
		l.addSource(o.Path, o.Text)
	case o.Path != o.Managed: // else the user has no configuration
		l.readSources(o.Path)
	}
	l.readManaged(o.Managed)
	return l.load(ctx)
}

// A loader holds the state of one [Load] or [ReadContent].
type loader struct {
	Options
	lookup func(string) (string, bool)

	sources  []*source
	managed  *source // one of sources; nil: there is no managed configuration
	byName   map[string]*source
	problems []problem
	secrets  []string // the texts that env() and file() returned, and tokens
	keyring  keyring

	inspections    []inspection // of placeholders, by the expression being evaluated
	functions      map[string]function.Function
	locals         map[string]*local
	localValues    cty.Value
	variables      map[string]*variable
	variableValues cty.Value
	each           cty.Value // of the server block that is being evaluated; NilVal: it has no for_each

	defaults  *hclsyntax.Body // of the defaults block; nil: no block, or a block with problems
	defaulted map[string]bool // settings in it that some transport has

	plugins     map[string]*plugin
	pluginsLost bool // some could not be read: do not report missing plugins
	hasPolicy   bool
	ruleHeads   map[string]hcl.Range // of the rules of policies, by place
	rolesUsed   []string             // by the policy and by limits

	manifests map[string]*sdk.Manifest // by Plugin.Use; nil: the failure was reported
}

func newLoader(o Options) *loader {
	l := &loader{
		Options: o, lookup: o.Lookup,
		byName: map[string]*source{}, ruleHeads: map[string]hcl.Range{}, locals: map[string]*local{}, plugins: map[string]*plugin{},
		manifests: map[string]*sdk.Manifest{}, defaulted: map[string]bool{},
		localValues: cty.EmptyObjectVal, variables: map[string]*variable{}, variableValues: cty.EmptyObjectVal, keyring: newKeyring(),
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

// load turns sources into a configuration. Each step continues after problems, so
// that one run reports all problems that do not follow from each other.
func (l *loader) load(ctx context.Context) (*Config, Diagnostics) {
	if len(l.problems) > 0 || !l.parse() {
		return nil, l.diagnostics()
	}
	l.collectEnvSecrets()
	top := l.collect()
	own := l.collectManaged(top)
	l.readVariables(top["variable"]) // before locals: they may use variables
	l.computeLocals()
	for _, b := range top["plugins"] {
		l.requirements(b)
	}
	for _, b := range top["plugin"] {
		l.pluginBlock(b)
	}
	l.pinPrograms()
	l.resolvePrograms()
	servers, forced := l.managedServers(own["servers"]), l.policy(own["policy"], "allow")
	rules := l.policy(top["policy"], "deny")
	l.hasPolicy, l.rolesUsed = rules.Given || forced.Given, slices.Concat(rules.Roles, forced.Roles)
	gateway := l.gateway(top["gateway"]) // before servers: messages of their plugins may repeat its tokens
	l.readDefaults(top["defaults"])      // before servers: they inherit from it
	var drafts []*draft
	for _, b := range append(slices.Clone(own["server"]), l.userServers(top["server"], own["server"], servers)...) {
		drafts = append(drafts, l.instances(b)...)
	}
	l.checkMemory(&gateway, drafts)
	checkNames(l, drafts)
	l.shareByTenant(gateway.HTTP, drafts)
	store := l.secretStore(top["secret_store"])
	l.describeAll(ctx, pluginRefs(drafts, store))
	for _, d := range drafts {
		l.finish(d)
	}
	l.disableUnmanaged(drafts, servers)
	l.unusedDefaults(drafts)
	l.checkPolicy(top["policy"], rules, drafts)
	kept := store.finish()
	tests := l.policyTests(top["test"])
	ds := l.diagnostics()
	if ds.HasErrors() {
		return nil, ds
	}
	c := l.config(drafts, kept)
	c.Tests = tests
	if l.managed != nil {
		c.Managed = Managed{Path: l.managed.name, Servers: servers, Policy: forced}
	}
	c.Gateway, c.Policy = gateway, confirmedTools(rules, c.Servers)
	return c, ds
}

// topLevelForm lists the blocks of a file. "gateway", "defaults" and
// "secret_store" are checked to be unique in all files where they are read.
var topLevelForm = form{
	blocks: map[string]shape{
		"plugins": {many: true}, "plugin": {labels: 1, many: true}, "locals": {many: true}, "server": {labels: 1, many: true},
		"gateway": {many: true}, "defaults": {many: true}, "secret_store": {labels: 1, many: true},
		"policy": {many: true}, "test": {labels: 1, many: true}, "variable": {labels: 1, many: true},
	},
	later: []string{"audit", "console", "module", "notify", "profile", "state", "telemetry"},
}

// collect returns the top-level blocks of all files by kind and registers the
// locals.
func (l *loader) collect() map[string][]*hclsyntax.Block {
	top := map[string][]*hclsyntax.Block{}
	for _, s := range l.sources {
		if s == l.managed {
			continue
		}
		blockReader{loader: l, body: s.body, head: hcl.Range{Filename: s.name}}.check(topLevelForm)
		for _, b := range s.body.Blocks {
			top[b.Type] = append(top[b.Type], b)
		}
	}
	for _, b := range top["locals"] {
		l.collectLocals(b)
	}
	return top
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
	l.keyring.sortUses(l.sources)
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
