package config

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/redact"
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

	// NoNotices is set by callers that serve no clients. Load then warns of env() and file() of
	// the notify block that fail, and Config.Notify is nil.
	NoNotices bool

	// AbsentInputs is set by callers that answer from what is known of servers. Load then warns
	// of env() and file() that fail, and a connection that needs the value fails.
	AbsentInputs bool

	// Pasted converts the JSON configuration of an MCP client, which was pasted into a file,
	// into HCL without secrets; "" if it cannot. Load shows the result in a hint. Nil: the
	// hint says how to convert it.
	Pasted func(text []byte) string

	// Managed is the path of the managed configuration of the machine; empty: none is read.
	Managed string

	// Content is the reviewed text and the reviewed programs of plugins. Load uses
	// them instead of the files at Path; nil reads Path.
	Content *Content

	// Static evaluates nothing but literals, reads nothing that the configuration names except
	// modules below the directory of Path, and reports plugins that Describe cannot describe as
	// warnings. Load returns no Config. It is for texts that need not be trusted.
	Static bool

	// Texts are the texts of files as an editor has them, by path. Load uses them instead of
	// the files, and reads Path from there if it is a key.
	Texts map[string][]byte

	// Under are the paths of weaker layers, the strongest first: files, or directories as
	// Path. A server of a stronger layer takes the place of one with its name.
	Under []string
}

// Load reads, evaluates, decodes and checks a configuration. It starts no program
// except through [Options.Describe]. The Config is nil exactly if a diagnostic is
// an error. Callers must not load a configuration that the user has not written,
// named or trusted, because evaluation is not bounded, unless they set Options.Static.
func Load(ctx context.Context, o Options) (*Config, source.Diagnostics) {
	l := newLoader(o)
	if o.Static {
		l.lookup = func(string) (string, bool) { return "", false }
		l.root = l.staticRoot()
	}
	switch {
	case o.Content != nil:
		l.root = o.Content.Root
		for _, t := range o.Content.texts {
			if t.module == "" {
				l.keep(l.files.Add(t.name, t.text))
			}
		}
	case len(o.Text) > source.MaxFile:
		l.files.Problem(language.Problem{At: hcl.Range{Filename: o.Path}, Summary: fmt.Sprintf("the configuration is larger than %d KiB", source.MaxFile>>10)})
	case o.Text != nil:
		l.keep(l.files.Add(o.Path, o.Text))
	case o.Path != o.Managed: // else the user has no configuration
		l.keep(l.files.Read(o.Path)...)
	}
	for i, path := range o.Under {
		weaker := newScope(i + 1)
		l.layers = append(l.layers, weaker)
		l.inScope(weaker, func() { l.keep(l.files.Read(path)...) })
	}
	l.readManaged(o.Managed)
	return l.load(ctx)
}

// A loader holds the state of one [Load] or [ReadContent].
type loader struct {
	Options
	lookup func(string) (string, bool)

	*scope            // in which names are looked up
	each    cty.Value // of the server block that is being evaluated; NilVal: it has no for_each
	layers  []*scope  // the strongest first
	managed *scope    // nil: there is no managed configuration

	files       *source.Set               // of all scopes
	moduleFiles map[string][]*source.File // by directory
	moduleUses  int
	root        string   // the directory that was reviewed; empty: the configuration needs no review
	included    []string // absolute paths of the files that file() has read
	named       []string // absolute paths in attributes of the host's blocks
	keyring     keyring

	deferring   bool         // env() and file() return placeholders; see absent.go
	inspections []inspection // of placeholders, by the expression being evaluated
	functions   map[string]function.Function
	shadowed    []Shadowed
	unread      []string // see Config.Unread

	locks         map[string]*Lock // by path
	plugins       map[string]*plugin
	pluginsLost   bool // some could not be read: do not report missing plugins
	hasPolicy     bool
	policySkipped bool                 // parts of the policies are not known; see Options.Static
	skipped       int                  // expressions that were not evaluated; see Options.Static
	blocked       map[string]string    // why the managed configuration does not allow servers, by name; nil: only warned of
	ruleHeads     map[string]hcl.Range // of the rules of policies, by place
	rolesUsed     []string             // by the policy and by limits

	manifests map[string]*sdk.Manifest // by Plugin.Use; nil: the failure was reported
}

func newLoader(o Options) *loader {
	l := &loader{
		Options: o, lookup: o.Lookup,
		files: source.NewSet(languageWords()), moduleFiles: map[string][]*source.File{}, ruleHeads: map[string]hcl.Range{}, plugins: map[string]*plugin{},
		manifests: map[string]*sdk.Manifest{}, keyring: newKeyring(), scope: newScope(0),
	}
	l.layers = []*scope{l.scope}
	l.files.Texts, l.files.Pasted = o.Texts, o.Pasted
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
func (l *loader) load(ctx context.Context) (*Config, source.Diagnostics) {
	if l.files.Count() > 0 || !l.parse() {
		return nil, l.files.Diagnostics()
	}
	l.readLocks()
	l.collectEnvSecrets()
	for _, layer := range l.layers {
		l.collect(layer, topLevelForm())
	}
	if l.managed != nil {
		l.collect(l.managed, &managedForm)
	}
	l.collectPlugins()
	servers, forced := l.managedServers(l.managedBlocks("servers")), l.policy(l.managedBlocks("policy"), "allow")
	own := l.ownServers()
	before := l.skipped
	rules := l.layerPolicies()
	l.policySkipped = l.skipped > before
	l.hasPolicy, l.rolesUsed = forced.Given, forced.Roles
	for _, r := range rules {
		l.hasPolicy, l.rolesUsed = l.hasPolicy || r.Given, append(l.rolesUsed, r.Roles...)
	}
	var gateway Gateway // before servers: messages of their plugins may repeat its tokens
	l.readWhole("gateway", l.AbsentInputs, func() { gateway = l.gateway(l.top["gateway"]); gateway.Layer = l.layer })
	var telemetry Telemetry
	l.readWhole("telemetry", l.AbsentInputs, func() { telemetry = l.telemetry(l.top["telemetry"], gateway.HTTP) })
	var console *Console
	l.readWhole("console", l.AbsentInputs, func() { console = l.console(l.top["console"], gateway.HTTP, telemetry.Metrics) })
	var notices *Notify
	if !l.readWhole("notify", l.AbsentInputs || l.NoNotices, func() { notices = l.notify(l.top["notify"]) }) {
		notices = nil
	}
	for _, layer := range l.layers {
		l.inScope(layer, func() { l.readDefaults(layer.top["defaults"]) }) // before servers: they inherit from it
	}
	drafts := l.drafts(servers)
	l.checkMemory(&gateway, drafts)
	checkRequestTimeout(l, gateway, drafts)
	checkNames(l, drafts)
	l.shareByTenant(gateway.HTTP, drafts)
	for _, d := range drafts {
		l.setLock(d)
	}
	var store *storeDraft
	l.inScope(l.storeLayer(), func() { store = l.secretStore(l.top["secret_store"]) })
	l.describeAll(ctx, pluginRefs(drafts, store))
	for _, d := range drafts {
		l.inScope(d.block.home, func() { l.finish(d) })
	}
	l.disableUnmanaged(drafts, servers, own)
	l.unusedDefaults(drafts)
	checkPolicies(l, rules, forced, gateway.HTTP, console, drafts)
	kept := store.finish()
	var tests []PolicyTest
	l.inScope(l.layers[0], func() { tests = l.policyTests(l.top["test"], namesOf(drafts), rules[0].Zone) })
	var audit Audit
	l.readWhole("audit", l.AbsentInputs, func() { audit = l.audit() })
	ds := l.files.Diagnostics()
	if ds.HasErrors() || l.Static {
		return nil, ds
	}
	c := l.config(drafts, kept)
	c.Tests, c.Audit = tests, audit
	if l.managed != nil {
		c.Managed = Managed{Path: l.managed.sources[0].Name, Servers: servers, Policy: forced}
	}
	c.Console = console
	c.Gateway, c.Telemetry, c.Policy = gateway, telemetry, confirmedTools(rules[0], c.Servers)
	c.Notify, c.Unread = notices, l.unread
	for _, weaker := range rules[1:] {
		if weaker.Given {
			c.Policies = append(c.Policies, weaker)
		}
	}
	return c, ds
}

// checkPolicies checks the policies of the layers and the managed one, forced, against the rest
// of the configuration.
func checkPolicies(l *loader, rules []policy.Rules, forced policy.Rules, h HTTP, console *Console, drafts []*draft) {
	for i, layer := range l.layers {
		l.inScope(layer, func() {
			l.checkPolicy(layer.top["policy"], rules[i], drafts)
			l.checkIssuers(layer.top["policy"], h)
			l.checkApprovers(layer.top["policy"], rules[i], h, console)
		})
	}
	l.checkIssuers(l.managedBlocks("policy"), h)
	l.checkApprovers(l.managedBlocks("policy"), forced, h, console)
}

// readWhole calls read in the scope of the layer whose block of a kind counts. With partly it
// only warns of env() and file() that fail, and notes that the block is not read as a whole; it
// returns whether it is.
func (l *loader) readWhole(block string, partly bool, read func()) bool {
	before := l.files.Count()
	l.inScope(l.strongest(block), read)
	if partly && warnOfInputs(l.files.Since(before)) {
		l.unread = append(l.unread, block)
		return false
	}
	return true
}

// keep adds files to the present scope.
func (l *loader) keep(files ...*source.File) { l.scope.sources = append(l.scope.sources, files...) }

// parse parses every file and the modules that they use. It returns false if a file has a
// syntax error.
func (l *loader) parse() bool {
	files := slices.Clone(l.files.All)
	return l.files.Parse(files) && l.readModules(files, nil)
}

// warnOfInputs makes warnings of the reports of env() and file() that failed, and returns whether
// there were any.
func warnOfInputs(problems []language.Problem) (found bool) {
	for i := range problems {
		if p := &problems[i]; p.Input {
			p.Warning, found = true, true
		}
	}
	return found
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
		l.inScope(s, func() {
			for _, b := range s.top["plugins"] {
				l.requirements(b)
			}
		})
	}
	for _, s := range l.everyScope() {
		l.inScope(s, func() {
			for _, b := range s.top["plugin"] {
				l.pluginBlock(b)
			}
		})
	}
	l.lockPrograms()
	l.pinPrograms()
	l.resolvePrograms()
}

// layerPolicies returns the policy of each layer. All of them decide, and the strictest
// counts.
func (l *loader) layerPolicies() (all []policy.Rules) {
	for _, layer := range l.layers {
		l.inScope(layer, func() { all = append(all, l.policy(layer.top["policy"], "deny")) })
	}
	return all
}

// topLevelForm lists the blocks of a file. "gateway", "console", "telemetry", "defaults", "audit", "notify" and
// "secret_store" are checked to be unique in all files where they are read.
var topLevelForm = sync.OnceValue(func() *language.Form {
	return &language.Form{
		Blocks: map[string]language.Shape{
			"plugins":      {Many: true, Body: &pluginsForm, Doc: "The plugins that are not bundled."},
			"plugin":       {Labels: 1, Many: true, Body: language.FormOf[pluginSettings](), Doc: "How a plugin's processes run. The label is the plugin's name."},
			"locals":       {Many: true, Body: &localsForm, Doc: "Named values, for `local.NAME` in other places."},
			"variable":     {Labels: 1, Many: true, Body: &variableForm, Doc: "A value that the environment variable `JUNCTOR_VAR_NAME` can set, for `var.NAME` in other places."},
			"module":       {Labels: 1, Many: true, Body: &moduleBlockForm, Doc: "Uses a directory of servers, with values for its variables."},
			"server":       {Labels: 1, Many: true, Body: language.FormOf[Server](), Doc: "An MCP server. The label is its name."},
			"defaults":     {Many: true, Body: language.FormOf[defaultsBlock](), Doc: "Attributes for all servers. A server's own attribute wins."},
			"gateway":      {Many: true, Body: language.FormOf[Gateway](), Doc: "How clients reach Junctor over HTTP, and their limits."},
			"secret_store": {Labels: 1, Many: true, Kinds: map[string]*language.Form{fileKind: language.FormOf[SecretFile]()}, Role: &stores, Doc: "Where secrets are kept. The label is the kind: `file`, `keyring`, or a required plugin."},
			"policy":       {Many: true, Body: language.FormOf[policyBlock](), Doc: "Who may use what."},
			"telemetry":    {Many: true, Body: language.FormOf[Telemetry](), Doc: "Where metrics are served."},
			"console":      {Many: true, Body: language.FormOf[Console](), Doc: "Pages for operators, in a browser."},
			"test":         {Labels: 1, Many: true, Body: &testForm, Doc: "What a principal may do, for `junctor test`. The label is the name of the test."},
			"notify":       {Many: true, Body: language.FormOf[Notify](), Doc: "Tells a webhook of approvals, outages, missing logins and changed tools."},
			"servers":      {Many: true, Body: &ownServersForm, Doc: "Which servers may be used, of all layers below the managed configuration."},
			"audit":        {Many: true, Body: language.FormOf[Audit](), Doc: "Records what clients do: one row for each request."},
		},
		Later: []string{"profile", "state"},
	}
})

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
	l.keyring.sortUses(l.files.Order())
	c := &Config{Path: l.Path, SecretStore: store, keyring: l.keyring}
	for _, s := range l.files.All {
		c.Files = append(c.Files, s.Name)
	}
	c.Under, c.Shadowed, c.Locks, c.included, c.named = l.Under, l.shadowed, l.locks, l.included, l.named
	c.lookup = l.lookup
	for _, p := range l.plugins {
		c.Plugins = append(c.Plugins, p.Plugin)
	}
	slices.SortFunc(c.Plugins, func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	secrets := l.files.Hidden()
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
	c.secrets = redact.New(l.withoutPublic(secrets))
	return c
}
