// Package invocation is one run of the command line: its flags, its terminal and its log, and the
// way from a configuration to an app: find it, have it trusted, load it, and end all that was
// started.
package invocation

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// An Invocation is one run of the command line. Verbs share its terminal, its global flags and the
// app once it is loaded. No verb changes a field: see Needs for what load depends on.
type Invocation struct {
	*terminal.Terminal

	Version string
	Managed string // path of the managed configuration

	Layers  []string // the paths of --config, the strongest last
	LogFlag string

	Log    hclog.Logger
	logs   *logQueue  // nil: the log is written at once
	masked *maskedLog // writes log; nil: completion has no log
	// records are the newest records of log; nil: none are kept.
	Records *logbuffer.Buffer
	Dirs    host.Dirs
	App     *host.App
	sup     stopper // if there is no app

	noted func() // stops the notes about slow starts; may be nil
}

// ConfigPath returns the strongest path of --config, or "" without the flag.
func (inv *Invocation) ConfigPath() string { return last(inv.Layers) }

// last returns the last of some paths, or "" if there are none.
func last(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

type stopper interface{ Stop(grace time.Duration) }

// New returns the state of a process of this version, with the managed configuration at a
// path.
func New(version, managed string) *Invocation {
	return &Invocation{Terminal: terminal.New(), Version: version, Managed: managed, Log: hclog.NewNullLogger()}
}

// FindDirs sets dirs on the first call.
func (inv *Invocation) FindDirs() error {
	if inv.Dirs.Run != "" {
		return nil
	}
	var err error
	inv.Dirs, err = host.FindDirs(inv.Lookup)
	return err
}

// Options returns the options of the host.
func (inv *Invocation) Options(n Needs) host.Options {
	o := host.Options{
		Version:      inv.Version,
		Log:          inv.Log,
		Conceal:      inv.conceal,
		Dirs:         inv.Dirs,
		Lookup:       inv.Lookup,
		Orphans:      process.EndAdopted,
		Unusable:     n.Unusable,
		OneShot:      !n.Serving,
		WithStdio:    n.WithStdio,
		Managed:      inv.Managed,
		Stdout:       inv.Stdout,
		Stderr:       inv.Stderr,
		StartNothing: n.completing,
		AllPlugins:   n.AllPlugins,
		NoListener:   !n.Listening,
		HoldNewTools: n.Reviewing,
		AbsentInputs: n.Known,
	}
	if !n.Serving {
		o.Local = newTerminalClient(inv, n)
		o.Warn = inv.Warn
		if terminal.IsTerminal(inv.Stdin) {
			o.Password = inv.Password
		}
	}
	return o
}

// Needs say what a verb needs of the configuration.
type Needs struct {
	AllPlugins bool // also the manifests of plugins that no server uses
	Listening  bool // the http block of the gateway
	Reviewing  bool // tools that are not pinned yet; the verb pins none by itself
	// Known is set by verbs that answer from what is known of servers and start none unless
	// asked to. An input of the configuration that is not there is a warning.
	Known bool

	Paths      []string // load these instead of the layers of --config, the strongest last
	Direct     Direct   // load the server that the command line describes, if it does
	Roots      []string // directories to report to servers as roots
	Serving    bool     // ask no questions
	WithStdio  bool     // see host.Options
	Unasked    bool     // answer no question of a server
	completing bool     // a shell completes a word: start nothing and ask nothing

	Unusable func(p config.Plugin, err error) // see host.Options; may be nil
}

// Load finds and loads the configuration. Warnings go to standard error.
func (inv *Invocation) Load(ctx context.Context, needs Needs) (*host.App, error) {
	app, diags, err := inv.TryLoad(ctx, needs)
	if err != nil {
		return nil, err
	}
	inv.TellDiagnostics(app, diags)
	if app == nil {
		return nil, terminal.Reported(diags.Err())
	}
	return app, nil
}

// LoadAny is load for verbs that also work without a configuration. It returns nil without
// one.
func (inv *Invocation) LoadAny(ctx context.Context, needs Needs) (*host.App, error) {
	app, diags, err := inv.TryLoad(ctx, needs)
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

// TryLoad is load for callers that print the diagnostics. It asks the user to trust a
// configuration that was found.
func (inv *Invocation) TryLoad(ctx context.Context, needs Needs) (*host.App, source.Diagnostics, error) {
	at, content, diags, err := inv.Locate(ctx, needs, true)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	return inv.LoadAt(ctx, at, content, needs)
}

// LoadAt loads the configuration at a location. content is the trusted content, or nil.
func (inv *Invocation) LoadAt(ctx context.Context, at config.Location, content *config.Content, needs Needs) (*host.App, source.Diagnostics, error) {
	if err := inv.FindDirs(); err != nil {
		return nil, nil, err
	}
	roots, err := absoluteRoots(needs)
	if err != nil {
		return nil, nil, err
	}
	rememberRemarks(inv, at.Path, needs)
	if !needs.completing {
		if err := process.Adopt(); err != nil {
			inv.Log.Warn("processes that plugins leave behind will not be ended", "error", err)
		}
	}
	o := inv.Options(needs)
	o.Config, o.Content, o.Roots, o.KeepTrust = at, content, roots, inv.KeepTrust(at)
	app, diags := host.Load(ctx, o)
	inv.Use(app)
	if app != nil && !needs.Serving {
		inv.noted = noteStarts(inv, app)
	}
	return app, diags, nil
}

// Use makes app the one that this process ends, and whose secrets are masked. It may be nil.
func (inv *Invocation) Use(app *host.App) {
	inv.App, inv.Mask = app, nil
	if app != nil {
		inv.Mask = app.Hide
	}
}

// Leave ends everything that this process started.
func (inv *Invocation) Leave() {
	if inv.noted != nil {
		inv.noted()
	}
	if inv.App != nil {
		inv.App.Stop()
	}
	if inv.sup != nil {
		inv.sup.Stop(time.Second)
	}
	process.EndAll(LeaveTime)
	if inv.Dirs.Run != "" {
		inv.Dirs.Clean()
	}
	if inv.logs != nil {
		inv.logs.close(LeaveTime)
	}
}

// LeaveTime is how long leave waits for programs that ignore the request to end.
const LeaveTime = 400 * time.Millisecond

// conceal sets the function that replaces secrets in the log.
func (inv *Invocation) conceal(hide func(string) string) {
	if inv.masked != nil {
		inv.masked.mask(hide)
	}
	if inv.Records != nil {
		inv.Records.Conceal(hide)
	}
}
