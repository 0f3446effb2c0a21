package host

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/authn/jwks"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/notify"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/sdk"
)

// Options configure [Load]. The caller fills them; they do not change after Load. Functions may
// be called concurrently.
type Options struct {
	Config  config.Location // stays the same for the life of the App
	Managed string          // see config.Options
	Content *review.Content // the reviewed text of Config; nil: read the files
	Version string          // version of Junctor
	Log     hclog.Logger
	// Conceal is called with the function that masks secrets in texts of Log; nil: it has none.
	Conceal    func(hide func(string) string)
	Dirs       Dirs
	Lookup     func(string) (string, bool) // environment; nil is os.LookupEnv
	Orphans    func()                      // see plugin.Options
	NoListener bool                        // see config.Options
	// WithStdio is set for a process over HTTP that serves the local user on standard input, too.
	WithStdio  bool
	AllPlugins bool // describe all required plugins, also unused ones
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
// configuration in effect is a generation, which Reload replaces; the Process lasts. Load makes
// it, and its caller must call Stop. The exported fields, process, locks and logins do not
// change after Load; status is set before clients are served.
type App struct {
	Supervisor *plugin.Supervisor
	Catalog    *catalog.Catalog
	Gateway    *gateway.Gateway

	process    *Process
	current    atomic.Pointer[generation]
	locks      *pins.Lockfiles
	stdio      atomic.Bool                           // standard output is for messages
	status     func(context.Context) *control.Status // see ReportStatus
	clientKeys atomic.Pointer[jwks.Pool]             // of the clients over HTTP; nil while there are none
	logins     loginWatch

	reloading sync.Mutex                        // held by Reload and Stop, and while serving begins
	closing   sync.WaitGroup                    // upstreams and secret stores of earlier generations
	http      *httpService                      // guarded by reloading; nil while clients are not served over HTTP
	telemetry *telemetryService                 // guarded by reloading; nil while no clients are served
	console   *consoleService                   // guarded by reloading; nil unless ServeConsole was called
	stopped   bool                              // guarded by reloading
	serving   atomic.Pointer[httpserver.Server] // of http
	shown     atomic.Pointer[consoleAt]         // of console; nil: it is off
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
		Version: o.Version,
		Log:     o.Log,
		RunDir:  o.Dirs.Run,
		Cache:   o.Dirs.Cache,
		LogDir:  o.Dirs.Logs(),
		Private: o.private(),
		Lookup:  o.Lookup,
		Memory:  limit.PluginMemory(),
		Orphans: o.Orphans,
		OneShot: o.OneShot,
		Warn:    o.Warn,
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
// diagnostic is an error. It blocks while plugins describe themselves.
func Load(ctx context.Context, o Options) (*App, source.Diagnostics) {
	p := newProcess(o)
	g, diags := p.read(ctx, o.Content, 1)
	if g == nil {
		p.stop()
		return nil, diags
	}
	a := &App{process: p, Supervisor: p.Supervisor}
	if failed := a.start(g); failed != nil {
		p.stop()
		return nil, append(diags, *failed)
	}
	return a, diags
}

// start makes the first generation the one in effect. It returns why that is not possible.
func (a *App) start(g *generation) *source.Diagnostic {
	p := a.process
	if err := setAudit(a, g); err != nil {
		return auditDiagnostic(err, g.Config.Audit.At)
	}
	var err error
	if p.states, err = openStates(*p.opts); err != nil {
		return statesDiagnostic(err)
	}
	p.onStop(func() { _ = p.states.Close() }) // nothing is in progress
	p.Supervisor.Conceal(p.redactor.hide)
	first := connector{p, g}
	g.secrets = first.openSecrets(*p.opts)
	p.onStop(func() { a.Secrets().Close() })
	p.onStop(p.credentials.Close)
	if !p.opts.OneShot {
		p.notices = notify.New(p.opts.Log)
		p.onStop(p.notices.Close)
	}
	p.onStop(func() { // with those of earlier generations
		for _, u := range a.current.Load().upstreams {
			a.closing.Go(u.Close)
		}
		a.closing.Wait()
	})
	p.openServing(g.Config, func(ctx context.Context, server string, who authn.Principal) (gateway.Page, bool) {
		return a.connector().loginPage(ctx, server, who)
	})
	a.Catalog, a.Gateway = p.Catalog, p.Gateway
	a.locks = newLockfiles(a)
	first.build(nil, nil)
	a.apply(g)
	a.Gateway.OfferLocal()
	p.pluginGrace = stopGrace
	return nil
}

// Stop ends everything, what was created last first: upstreams politely, then plugins. It
// returns when nothing is left. It is called once, after the functions that serve have
// returned.
func (a *App) Stop() {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.stopped = true
	a.process.stop()
}

// stopGrace is the time for plugins to exit after their upstreams are closed.
const stopGrace = time.Second

// oneShotShutdown is the maximum time for a server to exit after a command has its
// answer. The user waits for the prompt meanwhile.
const oneShotShutdown = time.Second

// shutdown returns the time for a server to exit.
func (o *Options) shutdown(s *config.Server) time.Duration {
	if o.OneShot {
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
	a.process.opts.Log.Debug(
		"memory is limited", "process_mib", most>>20, "messages_mib", most/budgetDivisor>>20, "go_mib", runtime>>20,
	)
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
