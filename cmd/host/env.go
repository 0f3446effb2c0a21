package main

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// An env is the state that the verbs share: the streams, the global flags, and the app once
// it is loaded.
type env struct {
	*terminal.Terminal

	version string
	managed string // path of the managed configuration

	layers  []string // the paths of --config, the strongest last
	logFlag string

	log    hclog.Logger
	logs   *logQueue  // nil: the log is written at once
	masked *maskedLog // writes log; nil: completion has no log
	// records are the newest records of log; nil: none are kept.
	records *logbuffer.Buffer
	dirs    host.Dirs
	app     *host.App
	sup     stopper // if there is no app

	noted func() // stops the notes about slow starts; may be nil
}

// strongest returns the strongest path of --config, or "" without the flag.
func (inv *env) strongest() string { return last(inv.layers) }

// last returns the last of some paths, or "" if there are none.
func last(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

type stopper interface{ Stop(grace time.Duration) }

// newEnv returns the state of a process of this version, with the managed configuration at a
// path.
func newEnv(version, managed string) *env {
	return &env{Terminal: terminal.New(), version: version, managed: managed, log: hclog.NewNullLogger()}
}

// findDirs sets dirs on the first call.
func (inv *env) findDirs() error {
	if inv.dirs.Run != "" {
		return nil
	}
	var err error
	inv.dirs, err = host.FindDirs(inv.Lookup)
	return err
}

// options returns the options of the host.
func (inv *env) options(n loadOptions) host.Options {
	o := host.Options{
		Version:      inv.version,
		Log:          inv.log,
		Conceal:      inv.conceal,
		Dirs:         inv.dirs,
		Lookup:       inv.Lookup,
		Orphans:      process.EndAdopted,
		Unusable:     n.unusable,
		OneShot:      !n.serving,
		WithStdio:    n.withStdio,
		Managed:      inv.managed,
		Stdout:       inv.Stdout,
		Stderr:       inv.Stderr,
		StartNothing: n.completing,
		AllPlugins:   n.allPlugins,
		NoListener:   !n.listening,
		HoldNewTools: n.reviewing,
		AbsentInputs: n.known,
	}
	if !n.serving {
		o.Local = newTerminalClient(inv, n)
		o.Warn = inv.Warn
		if terminal.IsTerminal(inv.Stdin) {
			o.Password = inv.Password
		}
	}
	return o
}

// loadOptions say what a verb needs of the configuration.
type loadOptions struct {
	allPlugins bool // also the manifests of plugins that no server uses
	listening  bool // the http block of the gateway
	reviewing  bool // tools that are not pinned yet; the verb pins none by itself
	// known is set by verbs that answer from what is known of servers and start none unless
	// asked to. An input of the configuration that is not there is a warning.
	known bool

	paths      []string      // load these instead of the layers of --config, the strongest last
	direct     directOptions // load the server that the command line describes, if it does
	roots      []string      // directories to report to servers as roots
	serving    bool          // ask no questions
	withStdio  bool          // see host.Options
	unasked    bool          // answer no question of a server
	completing bool          // a shell completes a word: start nothing and ask nothing

	unusable func(p config.Plugin, err error) // see host.Options; may be nil
}

// load finds and loads the configuration. Warnings go to standard error.
func (inv *env) load(ctx context.Context, needs loadOptions) (*host.App, error) {
	app, diags, err := inv.tryLoad(ctx, needs)
	if err != nil {
		return nil, err
	}
	inv.tellDiagnostics(app, diags)
	if app == nil {
		return nil, terminal.Reported(diags.Err())
	}
	return app, nil
}

// loadAny is load for verbs that also work without a configuration. It returns nil without
// one.
func (inv *env) loadAny(ctx context.Context, needs loadOptions) (*host.App, error) {
	app, diags, err := inv.tryLoad(ctx, needs)
	switch {
	case fault.Is(err, fault.ConfigMissing):
		return nil, nil
	case err != nil:
		return nil, err
	case app == nil:
		worthTelling(&inv.Remarks, diags).Render(terminal.SafeWriter(inv.Stderr))
		return nil, terminal.Reported(diags.Err())
	}
	return app, nil
}

// tryLoad is load for callers that print the diagnostics. It asks the user to trust a
// configuration that was found.
func (inv *env) tryLoad(ctx context.Context, needs loadOptions) (*host.App, config.Diagnostics, error) {
	at, content, diags, err := inv.locate(ctx, needs, true)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	return inv.loadAt(ctx, at, content, needs)
}

// loadAt loads the configuration at a location. content is the trusted content, or nil.
func (inv *env) loadAt(ctx context.Context, at config.Location, content *config.Content, needs loadOptions) (*host.App, config.Diagnostics, error) {
	if err := inv.findDirs(); err != nil {
		return nil, nil, err
	}
	roots, err := absoluteRoots(needs)
	if err != nil {
		return nil, nil, err
	}
	rememberRemarks(inv, at.Path, needs)
	if !needs.completing {
		if err := process.Adopt(); err != nil {
			inv.log.Warn("processes that plugins leave behind will not be ended", "error", err)
		}
	}
	o := inv.options(needs)
	o.Config, o.Content, o.Roots, o.KeepTrust = at, content, roots, inv.keepTrust(at)
	app, diags := host.Load(ctx, o)
	inv.use(app)
	if app != nil && !needs.serving {
		inv.noted = noteStarts(inv, app)
	}
	return app, diags, nil
}

// use makes app the one that this process ends, and whose secrets are masked. It may be nil.
func (inv *env) use(app *host.App) {
	inv.app, inv.Mask = app, nil
	if app != nil {
		inv.Mask = app.Hide
	}
}

// leave ends everything that this process started.
func (inv *env) leave() {
	if inv.noted != nil {
		inv.noted()
	}
	if inv.app != nil {
		inv.app.Stop()
	}
	if inv.sup != nil {
		inv.sup.Stop(time.Second)
	}
	process.EndAll(leaveTime)
	if inv.dirs.Run != "" {
		inv.dirs.Clean()
	}
	if inv.logs != nil {
		inv.logs.close(leaveTime)
	}
}

// leaveTime is how long leave waits for programs that ignore the request to end.
const leaveTime = 400 * time.Millisecond

// conceal sets the function that replaces secrets in the log.
func (inv *env) conceal(hide func(string) string) {
	if inv.masked != nil {
		inv.masked.mask(hide)
	}
	if inv.records != nil {
		inv.records.Conceal(hide)
	}
}
