package invocation

import (
	"context"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/sdk/process"
)

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
func (inv *Invocation) LoadAt(ctx context.Context, at config.Location, content *review.Content, needs Needs) (
	*host.App, source.Diagnostics, error,
) {
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

// Use makes app the one that this process ends, and whose secrets are masked. It may be nil. Use does
// not stop the app before.
func (inv *Invocation) Use(app *host.App) {
	inv.App, inv.Mask = app, nil
	if app != nil {
		inv.Mask = app.Hide
	}
}

// Supervisor returns the app's supervisor, or one without a configuration.
func (inv *Invocation) Supervisor() (*plugin.Supervisor, error) {
	if inv.App != nil {
		return inv.App.Supervisor, nil
	}
	if err := inv.FindDirs(); err != nil {
		return nil, err
	}
	sup := host.NewSupervisor(inv.Options(Needs{}))
	inv.sup = sup
	return sup, nil
}

// rememberRemarks makes remarks about a configuration be remembered, if a person reads them on
// a terminal.
func rememberRemarks(inv *Invocation, configuration string, n Needs) {
	inv.Remarks.Of = configuration
	if path, err := filepath.Abs(configuration); err == nil {
		inv.Remarks.Of = path
	}
	if inv.ErrTTY && !inv.JSON && !n.Serving && inv.Dirs.Cache != "" {
		inv.Remarks.Path = filepath.Join(string(inv.Dirs.Cache), "remarks.json")
	}
}

// Leave ends everything that this process started. Package main calls it once, last. It may take several
// seconds.
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
