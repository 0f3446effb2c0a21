// Package invocation is one run of the command line: its flags, its terminal and its log, and the
// way from a configuration to an app: find it, have it trusted, load it, and end all that was
// started.
//
// Files, from the top: completion.go, load.go, locate.go, kepttrust.go, trust.go, starting.go,
// answer.go, form.go, question.go, log.go, diagnostics.go, invocation.go, logoutput.go, direct.go,
// flags.go.
//
// locate.go, trust.go and kepttrust.go find a configuration and have it trusted; load.go makes an
// app of it and ends it. answer.go, question.go and form.go ask the user what servers ask. log.go
// and logoutput.go are the log. diagnostics.go and starting.go print what a load and slow starts
// say. direct.go and flags.go are flags that several verbs have, and completion.go completes words.
//
// Package main makes the only [Invocation], calls StartLog before the verb and Leave after it. The
// verbs do the rest. Methods that set fields (StartLog, FindDirs, Load, Use) are for the goroutine
// of the verb, before it starts others; those that print may be called from any goroutine. The JSON
// that this package prints, such as [Validation], is an interface for scripts.
package invocation

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// An Invocation is one run of the command line. Verbs share its terminal, its global flags and the
// app once it is loaded. No verb changes a field: see Needs for what load depends on. It owns the
// app, its supervisor and the log, which Leave ends.
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
