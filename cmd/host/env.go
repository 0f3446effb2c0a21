package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/managed"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// An env is the state that the verbs share: the streams, the global flags, and the app once
// it is loaded.
type env struct {
	*terminal.Terminal

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
func (e *env) strongest() string { return last(e.layers) }

// last returns the last of some paths, or "" if there are none.
func last(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

type stopper interface{ Stop(grace time.Duration) }

func newEnv() *env { return &env{Terminal: terminal.New(), log: hclog.NewNullLogger()} }

// run runs one command line and returns the exit status.
func (e *env) run(ctx context.Context, args []string) int {
	root := withCompletion(e.root())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	lost := e.Stdout.Fault()
	switch {
	case ctx.Err() != nil && err != nil && !errors.Is(err, terminal.ErrReported) && !fault.Is(err, fault.Interrupted):
		err = fault.New(fault.Interrupted, "interrupted")
	case lost != nil:
		err = lost
	}
	return e.fail(err)
}

// findDirs sets dirs on the first call.
func (e *env) findDirs() error {
	if e.dirs.Run != "" {
		return nil
	}
	var err error
	e.dirs, err = host.FindDirs(e.Lookup)
	return err
}

// managedPath is the file with the managed configuration. Nothing changes it but tests.
var managedPath = managed.Path()

// options returns the options of the host.
func (e *env) options(n loadOptions) host.Options {
	o := host.Options{
		Version:      version,
		Log:          e.log,
		Conceal:      e.conceal,
		Dirs:         e.dirs,
		Lookup:       e.Lookup,
		Orphans:      process.EndAdopted,
		Unusable:     n.unusable,
		OneShot:      !n.serving,
		WithStdio:    n.withStdio,
		Managed:      managedPath,
		Stdout:       e.Stdout,
		Stderr:       e.Stderr,
		StartNothing: n.completing,
		AllPlugins:   n.allPlugins,
		NoListener:   !n.listening,
		HoldNewTools: n.reviewing,
		AbsentInputs: n.known,
	}
	if !n.serving {
		o.Local = newTerminalClient(e, n)
		o.Warn = e.Warn
		if terminal.IsTerminal(e.Stdin) {
			o.Password = e.Password
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
func (e *env) load(ctx context.Context) (*host.App, error) { return e.loadFor(ctx, loadOptions{}) }

// loadFor is load for a verb with needs of its own.
func (e *env) loadFor(ctx context.Context, needs loadOptions) (*host.App, error) {
	app, diags, err := e.tryLoad(ctx, needs)
	if err != nil {
		return nil, err
	}
	e.tellDiagnostics(app, diags)
	if app == nil {
		return nil, terminal.Reported(diags.Err())
	}
	return app, nil
}

// loadAny is load for verbs that also work without a configuration. It returns nil without
// one.
func (e *env) loadAny(ctx context.Context, needs loadOptions) (*host.App, error) {
	app, diags, err := e.tryLoad(ctx, needs)
	switch {
	case fault.Is(err, fault.ConfigMissing):
		return nil, nil
	case err != nil:
		return nil, err
	case app == nil:
		worthTelling(&e.Remarks, diags).Render(terminal.SafeWriter(e.Stderr))
		return nil, terminal.Reported(diags.Err())
	}
	return app, nil
}

// tryLoad is load for callers that print the diagnostics. It asks the user to trust a
// configuration that was found.
func (e *env) tryLoad(ctx context.Context, needs loadOptions) (*host.App, config.Diagnostics, error) {
	at, content, diags, err := e.locate(ctx, needs, true)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	return e.loadAt(ctx, at, content, needs)
}

// loadAt loads the configuration at a location. content is the trusted content, or nil.
func (e *env) loadAt(ctx context.Context, at config.Location, content *config.Content, needs loadOptions) (*host.App, config.Diagnostics, error) {
	if err := e.findDirs(); err != nil {
		return nil, nil, err
	}
	roots, err := absoluteRoots(needs)
	if err != nil {
		return nil, nil, err
	}
	e.rememberRemarks(at.Path, needs)
	if !needs.completing {
		if err := process.Adopt(); err != nil {
			e.log.Warn("processes that plugins leave behind will not be ended", "error", err)
		}
	}
	o := e.options(needs)
	o.Config, o.Content, o.Roots, o.KeepTrust = at, content, roots, e.keepTrust(at)
	app, diags := host.Load(ctx, o)
	e.use(app)
	if app != nil && !needs.serving {
		e.noted = e.noteStarts(app)
	}
	return app, diags, nil
}

// use makes app the one that this process ends, and whose secrets are masked. It may be nil.
func (e *env) use(app *host.App) {
	e.app, e.Mask = app, nil
	if app != nil {
		e.Mask = app.Hide
	}
}

// leave ends everything that this process started.
func (e *env) leave() {
	if e.noted != nil {
		e.noted()
	}
	if e.app != nil {
		e.app.Stop()
	}
	if e.sup != nil {
		e.sup.Stop(time.Second)
	}
	process.EndAll(leaveTime)
	if e.dirs.Run != "" {
		e.dirs.Clean()
	}
	if e.logs != nil {
		e.logs.close(leaveTime)
	}
}

// leaveTime is how long leave waits for programs that ignore the request to end.
const leaveTime = 400 * time.Millisecond

// begin runs junctor without a verb: the help, or how to write a configuration.
func (e *env) begin(cmd *cobra.Command) error {
	if _, err := config.Find(e.strongest(), e.Lookup); err == nil {
		return cmd.Help()
	}
	_, err := io.WriteString(e.Stdout, strings.TrimLeft(beginning, "\n"))
	return err
}

const beginning = `
Junctor has no configuration yet. There are three ways to begin:

  junctor add NAME -- COMMAND      add a server: a program, a URL, or a name of the registry
  junctor add fs -- npx -y @modelcontextprotocol/server-filesystem .
  junctor search WORD              find servers in the registry

  junctor init                     take over the servers of Claude, Cursor, VS Code and other clients
  junctor import CLIENT            show what that would be for one client

  Or write junctor.hcl in this directory:

  server "files" {
    transport "stdio" {
      command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
    }
  }

Then:

  junctor validate                 check it
  junctor tools                    see what the servers offer
  junctor call TOOL k=v            use it
  junctor export CLIENT --write    give it all to a client

junctor help lists all verbs.
`

// conceal sets the function that replaces secrets in the log.
func (e *env) conceal(hide func(string) string) {
	if e.masked != nil {
		e.masked.mask(hide)
	}
	if e.records != nil {
		e.records.Conceal(hide)
	}
}
