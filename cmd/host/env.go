package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/host/managed"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// An env is the state that the verbs share: the streams, the global flags, and the app once
// it is loaded. Standard output carries only results.
type env struct {
	stdin          *os.File
	stdout         *output
	stderr         io.Writer
	outTTY, errTTY bool
	lookup         func(string) (string, bool)

	interrupted atomic.Bool // a question for the password was interrupted

	screen *screen         // what stderr writes to
	keys   *login.Terminal // what the user types; nil: not asked yet. The holder of the screen's turn uses it.
	roots  []string        // directories to report as roots

	json       bool
	text       bool
	serving    bool          // ask no questions
	withStdio  bool          // see host.Options
	unasked    bool          // answer no question of a server
	completing bool          // a shell completes a word: start nothing and ask nothing
	config     string        // the path of the strongest layer that --config names; empty: none is named
	layers     []string      // all paths of --config, the strongest last
	direct     directOptions // a server that the command line describes
	foreign    bool          // what the verb writes comes from a file that the user may not have written
	loaded     string        // contentDigest of the configuration that serve has loaded
	logFlag    string
	remarks    remarks

	log    hclog.Logger
	logs   *logQueue  // nil: the log is written at once
	masked *maskedLog // writes log; nil: completion has no log
	// records are the newest records of log; nil: none are kept.
	records *logbuffer.Buffer
	dirs    host.Dirs
	app     *host.App
	sup     stopper // if there is no app

	noted    func()                           // stops the notes about slow starts; may be nil
	unusable func(p config.Plugin, err error) // see host.Options; may be nil
}

type stopper interface{ Stop(grace time.Duration) }

func newEnv() *env {
	terminal := newScreen(os.Stderr)
	e := &env{
		stdin: os.Stdin, stdout: &output{file: os.Stdout}, stderr: terminal, screen: terminal, lookup: os.LookupEnv,
		outTTY: isTerminal(os.Stdout), errTTY: isTerminal(os.Stderr),
	}
	e.log = hclog.NewNullLogger()
	terminal.colours = coloured(e, e.errTTY)
	return e
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// run runs one command line and returns the exit status.
func (e *env) run(ctx context.Context, args []string) int {
	root := withCompletion(e.root())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	lost := e.stdout.fault()
	switch {
	case ctx.Err() != nil && err != nil && !errors.Is(err, errReported) && !fault.Is(err, fault.Interrupted):
		err = fault.New(fault.Interrupted, "interrupted")
	case lost != nil:
		err = lost
	}
	return e.fail(err)
}

// machine reports whether to print JSON.
func (e *env) machine() bool { return e.json || !e.outTTY && !e.text }

// get returns an environment variable, or "".
func (e *env) get(name string) string {
	v, _ := e.lookup(name)
	return v
}

// isSet reports whether an environment variable is set.
func (e *env) isSet(name string) bool {
	_, ok := e.lookup(name)
	return ok
}

// findDirs sets dirs on the first call.
func (e *env) findDirs() error {
	if e.dirs.Run != "" {
		return nil
	}
	var err error
	e.dirs, err = host.FindDirs(e.lookup)
	return err
}

// managedPath is the file with the managed configuration. Nothing changes it but tests.
var managedPath = managed.Path()

// options returns the options of the host.
func (e *env) options() host.Options {
	o := host.Options{
		Version: version, Log: e.log, Conceal: e.conceal, Dirs: e.dirs, Lookup: e.lookup, Orphans: process.EndAdopted, Unusable: e.unusable, OneShot: !e.serving, WithStdio: e.withStdio,
		Roots: e.roots, Managed: managedPath, Stdout: e.stdout, Stderr: e.stderr,
	}
	if !e.serving {
		o.Local = newTerminalClient(e)
		o.Warn = e.warn
		if isTerminal(e.stdin) {
			o.Password = e.password
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
		return nil, reported(diags.Err())
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
		worthTelling(&e.remarks, diags).Render(safeWriter{e.stderr})
		return nil, reported(diags.Err())
	}
	return app, nil
}

// tryLoad is load for callers that print the diagnostics. It asks the user to trust a
// configuration that was found.
func (e *env) tryLoad(ctx context.Context, needs loadOptions) (*host.App, config.Diagnostics, error) {
	at, content, diags, err := e.locate(ctx, true)
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
	e.remarks.begin(e, at.Path)
	if !e.completing {
		if err := process.Adopt(); err != nil {
			e.log.Warn("processes that plugins leave behind will not be ended", "error", err)
		}
	}
	o := e.options()
	o.Config, o.Content, o.StartNothing, o.KeepTrust = at, content, e.completing, e.keepTrust(at)
	o.AllPlugins, o.NoListener, o.HoldNewTools, o.AbsentInputs = needs.allPlugins, !needs.listening, needs.reviewing, needs.known
	if e.serving {
		e.loaded = e.contentDigest(at) // before the configuration is read: later changes are noticed
	}
	app, diags := host.Load(ctx, o)
	e.app = app
	if app != nil && !e.serving {
		e.noted = e.noteStarts(app)
	}
	return app, diags, nil
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
	if _, err := config.Find(e.config, e.lookup); err == nil {
		return cmd.Help()
	}
	_, err := io.WriteString(e.stdout, strings.TrimLeft(beginning, "\n"))
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
