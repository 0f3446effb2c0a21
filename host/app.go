package host

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/notify"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/seal"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/host/usage"
	"github.com/junctor-mcp/junctor/sdk"
)

// Options configure [Load].
type Options struct {
	Config     config.Location // stays the same for the life of the App
	Managed    string          // see config.Options
	Content    *config.Content // the reviewed text of Config; nil: read the files
	Version    string          // version of Junctor
	Log        hclog.Logger
	Conceal    func(hide func(string) string) // is called with the function that masks secrets in texts of Log; nil: it has none
	Dirs       Dirs
	Lookup     func(string) (string, bool) // environment; nil is os.LookupEnv
	Orphans    func()                      // see plugin.Options
	NoListener bool                        // see config.Options
	WithStdio  bool                        // a process that serves over HTTP serves the local user on standard input, too
	AllPlugins bool                        // describe all required plugins, also unused ones
	// OneShot is set for a command that exits after one answer. Servers and
	// plugins then have little time to exit.
	OneShot bool
	// Unusable is called for each plugin that Load or Reload cannot use. If it is nil,
	// only the diagnostics report the plugin.
	Unusable func(p config.Plugin, err error)
	// Stdout and Stderr take the audit log, if the configuration says so.
	Stdout, Stderr io.Writer
	// StartNothing takes the manifests of plugins from the cache only.
	StartNothing bool

	// AbsentInputs is set for a command that answers from what is known; see config.Options.
	AbsentInputs bool

	// Password prompts for the password of the encrypted file of secrets, twice if
	// confirm is true. It is nil without a terminal.
	Password func(ctx context.Context, confirm bool) ([]byte, error)
	// Local is the command line if it is the only client, and nil for a gateway.
	Local gateway.LocalClient
	// Roots are the directories in the result of roots/list for clients without
	// roots, as absolute paths.
	Roots []string
	// Warn reports a warning to the user. If it is nil, warnings are logged.
	Warn func(msg, hint string)
	// HoldNewTools holds back tools that are not pinned yet, of all servers with pins.
	HoldNewTools bool
	// KeepTrust calls write, which changes the lock file beside Config, and keeps the trust in
	// the configuration. Nil: the configuration needs none.
	KeepTrust func(write func() (read, written string, err error)) error
}

// An App is a configured host. It starts processes when they are first used. The
// configuration in effect is a generation, which Reload replaces; everything in the
// App itself lasts as long as the process.
type App struct {
	Supervisor *plugin.Supervisor
	Catalog    *catalog.Catalog
	Gateway    *gateway.Gateway

	current     atomic.Pointer[generation]
	opts        Options
	starts      *upstream.StartQueue
	messages    *limit.Memory
	serverLog   *limit.Lines
	credentials credential.Pool
	pages       loginPages
	redactor    redactor
	usage       usage.Counter
	toolLimits  *limit.Tools
	pins        *pins.Store
	locks       *pins.Lockfiles
	approvals   *approval.Store // nil for a command that exits after one answer
	events      *event.Stream   // nil for a command that exits after one answer
	states      *seal.Codec
	audit       *audit.Log
	stdio       atomic.Bool                           // standard output is for messages
	status      func(context.Context) *control.Status // see ReportStatus
	notices     *notify.Notifier                      // nil for a command that exits after one answer
	clientKeys  atomic.Pointer[jwks.Pool]             // of the clients over HTTP; nil while there are none
	logins      loginWatch

	reloading sync.Mutex        // held by Reload and Stop, and while serving begins
	closing   sync.WaitGroup    // upstreams and secret stores of earlier generations
	http      *httpService      // guarded by reloading; nil while clients are not served over HTTP
	telemetry *telemetryService // guarded by reloading; nil while no clients are served
	console   *consoleService   // guarded by reloading; nil unless ServeConsole was called
	stopped   bool              // guarded by reloading
	// disconnected has the servers that an operator has disconnected. It is guarded by
	// reloading, and replaced as a whole.
	disconnected map[string]*disconnection
	serving      atomic.Pointer[httpserver.Server] // of http
	shown        atomic.Pointer[consoleAt]         // of console; nil: it is off
}

// A Described is a plugin's program and its manifest.
type Described struct {
	Path     string
	Digest   string
	Manifest sdk.Manifest
}

// NewSupervisor returns a supervisor of plugins for these options.
func NewSupervisor(o Options) *plugin.Supervisor {
	return plugin.New(plugin.Options{
		Version: o.Version, Log: o.Log, RunDir: o.Dirs.Run, Cache: o.Dirs.Cache, LogDir: o.Dirs.Logs(), Private: o.private(),
		Lookup: o.Lookup, Memory: limit.PluginMemory(), Orphans: o.Orphans, OneShot: o.OneShot,
		Warn: o.Warn,
	})
}

// private returns the directories of Junctor itself, and that of the user's own
// configuration.
func (o *Options) private() []string {
	private := []string{o.Dirs.Data, string(o.Dirs.Cache), o.Dirs.Run}
	if own := config.OwnPath(o.Lookup); own != "" {
		private = append(private, filepath.Dir(own))
	}
	return private
}

// Load reads the configuration and returns its App. The App is nil exactly if a
// diagnostic is an error.
func Load(ctx context.Context, o Options) (*App, config.Diagnostics) {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	a := &App{opts: o, Supervisor: NewSupervisor(o), starts: upstream.NewStartQueue(runtime.GOMAXPROCS(0) + 2)}
	a.audit = a.newAudit()
	if o.Conceal != nil {
		o.Conceal(a.redactor.hide)
	}
	if !o.OneShot {
		a.events = event.NewStream(a.redactor.hide)
	}
	a.Supervisor.Observe(func(name, server string, s plugin.State, err error) {
		a.notePlugin(name, server, s, err)
		a.announcePlugin(name, server, s, err)
	})
	g, diags := a.read(ctx, o.Content)
	if g == nil {
		a.Supervisor.Stop(0)
		return nil, diags
	}
	if err := g.setAudit(); err != nil {
		a.Supervisor.Stop(0)
		return nil, append(diags, auditDiagnostic(err, g.Config.Audit.At))
	}
	states, err := openStates(o)
	if err != nil {
		a.Supervisor.Stop(0)
		return nil, append(diags, statesDiagnostic(err))
	}
	a.states = states
	a.Supervisor.Conceal(a.redactor.hide)
	g.secrets = g.openSecrets()
	a.toolLimits = limit.NewTools(o.Log)
	a.messages, a.serverLog = limit.NewMemory(messageMemory(g.Config)), limit.NewLines(o.Log, "server")
	var gate approval.Gate = approval.Refuse{}
	if !o.OneShot {
		a.notices = notify.New(o.Log)
		a.events.Watch(a.notice)
		a.approvals = approval.NewStore()
		a.approvals.Observe(a.announceApproval)
		gate = a.approvals
	}
	a.Catalog = catalog.New(nil, o.Dirs.Cache, o.Log, nil)
	a.Catalog.LeaveOut(a.redactor.finds)
	a.Catalog.OnToolsChanged(func(change catalog.ToolsChange) {
		a.announceTools(change)
		a.noteTools(change)
	})
	a.Gateway = gateway.New(gateway.Options{
		Version: o.Version, Catalog: a.Catalog, Log: o.Log, Events: a.events, Budget: a.messages, Lines: a.serverLog, Usage: &a.usage, Limit: a.toolLimits, Approval: gate, Audit: a.audit, States: a.states,
		Login: a.findLoginPage, Hide: a.redactor.hide, Local: o.Local, Roots: rootsOf(o.Roots),
	})
	a.Catalog.OnListFailed(func(server, method string, err error) { noteServerFailure(a.audit, server, "", method, err) })
	a.pins = a.newPins()
	a.locks = a.newLockfiles()
	g.build(nil)
	a.apply(g)
	a.Gateway.OfferLocal()
	return a, diags
}

// describe finds a plugin's program and returns its manifest.
func (g *generation) describe(ctx context.Context, p config.Plugin) (sdk.Manifest, error) {
	path, err := plugin.Find(p.Source, p.Use, plugin.Dirs(g.opts.Lookup))
	if err != nil {
		return sdk.Manifest{}, err
	}
	var m sdk.Manifest
	var digest string
	switch {
	case g.opts.StartNothing:
		m, digest, err = g.Supervisor.DescribeCached(path, p.SHA256)
	case g.opts.AllPlugins: // the digests are shown
		m, digest, err = g.Supervisor.Describe(ctx, path, p.SHA256)
	default:
		m, digest, err = g.Supervisor.DescribeUnverified(ctx, path, p.SHA256)
	}
	if err == nil {
		err = plugin.Check(m, p.Source, p.Use, path)
	}
	if p.Locked && fault.Is(err, fault.PluginChecksum) {
		err = g.lockedProgram(p, path, err)
	}
	if err != nil {
		return sdk.Manifest{}, err
	}
	g.manifests[p.Use] = Described{Path: path, Digest: digest, Manifest: m}
	return m, nil
}

// describeOrReport is describe, and calls Options.Unusable for a plugin that Load or
// Reload cannot use.
func (g *generation) describeOrReport(ctx context.Context, p config.Plugin) (sdk.Manifest, error) {
	m, err := g.describe(ctx, p)
	if err != nil && g.opts.Unusable != nil {
		g.opts.Unusable(p, err)
	}
	return m, err
}

// Stop ends everything: upstreams politely, then plugins. It returns when
// nothing is left.
func (a *App) Stop() {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.stopped = true
	a.Gateway.Stop()
	_ = a.states.Close() // nothing is in progress
	a.Catalog.Stop()
	for _, u := range a.current.Load().upstreams {
		a.closing.Go(u.Close)
	}
	a.closing.Wait()
	a.notices.Close() // before the secrets, which it may need
	a.credentials.Close()
	a.current.Load().secrets.Close()
	a.Supervisor.Stop(stopGrace)
	a.audit.Close() // last: the ends of all requests are recorded
}

// stopGrace is the time for plugins to exit after their upstreams are closed.
const stopGrace = time.Second

// oneShotShutdown is the maximum time for a server to exit after a command has its
// answer. The user waits for the prompt meanwhile.
const oneShotShutdown = time.Second

// shutdown returns the time for a server to exit.
func (a *App) shutdown(s *config.Server) time.Duration {
	if a.opts.OneShot {
		return min(s.Timeouts.Shutdown, oneShotShutdown)
	}
	return s.Timeouts.Shutdown
}

// budgetDivisor is the ratio of max_memory to the memory for messages. The rest is
// for the program, the state of servers and sessions, and garbage.
const budgetDivisor = 2

// messageMemory returns the limit of the memory for messages, in bytes.
func messageMemory(c *config.Config) int64 {
	return limit.ProcessMemory(int64(c.Gateway.MaxMemory), c.Gateway.MemorySet) / budgetDivisor
}

// LimitMemory sets the memory limit of the Go runtime to max_memory, or to the part of
// the control group that is for the host if that is lower. A process that serves calls it when it
// starts, and Reload when max_memory has changed.
func (a *App) LimitMemory() {
	g := a.Config().Gateway
	most := limit.ProcessMemory(int64(g.MaxMemory), g.MemorySet)
	runtime := limit.SetGoMemory(most)
	a.opts.Log.Debug("memory is limited", "process_mib", most>>20, "messages_mib", most/budgetDivisor>>20, "go_mib", runtime>>20)
}

// rootsOf returns the result of roots/list for directories, or nil without any.
func rootsOf(paths []string) []byte {
	if len(paths) == 0 {
		return nil
	}
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	var roots []root
	for _, p := range paths {
		roots = append(roots, root{fileURI(p), filepath.Base(p)})
	}
	b, err := json.Marshal(map[string]any{"roots": roots})
	if err != nil {
		panic(err) // impossible: strings can be encoded
	}
	return b
}

// fileURI returns the URI of an absolute path. It adds a slash before the drive of a
// Windows path.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
