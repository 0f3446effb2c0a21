package host

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/forward"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/regularfile"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// The audit log belongs to the App and not to a generation: it lasts as long as the
// process. A reload changes its settings.

// newAudit returns the audit log, which has no settings yet.
func (a *App) newAudit() *audit.Log {
	return audit.New(audit.Options{
		Log: a.opts.Log, Warn: a.opts.Warn, Hide: a.redactor.hide,
		Forward: func(to audit.Copies) audit.Forwarder {
			return forward.New(to.Targets, forward.Options{Headers: to.Headers, Roots: forward.Authorities(to.CA), Log: a.opts.Log, Stderr: a.opts.Stderr, Version: a.opts.Version})
		},
		Mask: func(value []byte) []byte { return approval.Mask(value, a.redactor.hide) },
	})
}

// pluginDirs returns the directories with programs of plugins.
func (g *generation) pluginDirs() []string {
	dirs := plugin.Dirs(g.opts.Lookup)
	for _, m := range g.manifests {
		dirs = append(dirs, filepath.Dir(m.Path))
	}
	return dirs
}

// AuditFile returns the path of the audit log, or "" if nothing is written to a file.
func (a *App) AuditFile() string {
	c := a.Config().Audit
	if !c.Given || c.Output != "file" {
		return ""
	}
	return a.auditFile(c)
}

func (a *App) auditFile(c config.Audit) string {
	if c.File != "" {
		return c.File
	}
	return filepath.Join(a.opts.Dirs.Data, "audit.db")
}

// auditSettings returns the settings of the audit block; nil: there is none.
func (g *generation) auditSettings() (*audit.Settings, error) {
	c := g.Config.Audit
	if !c.Given {
		return nil, nil
	}
	s := &audit.Settings{
		File: g.auditFile(c), Full: c.Sync == "full", Refuse: c.OnFull == "refuse", Retention: c.Retention, MaxSize: int64(c.MaxSize), Forward: audit.Copies{Targets: c.Forward, Headers: c.ForwardHeaders},
		Arguments: c.Arguments == "full", Results: c.Results == "full", PluginDirs: g.pluginDirs(),
	}
	s.Redacted = redacts(c.Redact)
	if c.SignKey != "" {
		key, err := audit.LoadSignKey(c.SignKey)
		if err != nil {
			return nil, err
		}
		s.SignKey = key
	}
	if c.ForwardCA != "" {
		pem, err := regularfile.Read(c.ForwardCA, mostAuthorities)
		if err == nil && forward.Authorities(pem) == nil {
			err = errors.New("it has no certificate in PEM")
		}
		if err != nil {
			return nil, fault.Because(fault.AuditFile, err, "%s cannot be used as forward_ca", c.ForwardCA).WithHint("write the path of a file with certificates in PEM")
		}
		s.Forward.CA = pem
	}
	switch {
	case c.Output == "stderr", c.Output == "stdout" && g.opts.OneShot: // there standard output is for the result of the command
		s.To = g.opts.Stderr
	case c.Output == "stdout":
		s.To = g.opts.Stdout
		if g.stdio.Load() {
			return nil, &fault.Error{Code: fault.ConfigInvalid, At: c.At.String(), Message: "the audit log cannot be written to standard output, which carries the messages of the client",
				Hint: `write output = "stderr" or output = "file" in the audit block, or serve over HTTP`}
		}
	}
	if g.opts.Dirs.Data == "" && c.File == "" && s.To == nil {
		return nil, &fault.Error{Code: fault.AuditFile, At: c.At.String(), Message: "there is no data directory for the audit log", Hint: "set file in the audit block, or HOME or JUNCTOR_HOME"}
	}
	return s, nil
}

// redacts returns a function that reports whether globs match SERVER/ITEM; nil: there are none.
func redacts(globs []string) func(server, item string) bool {
	if len(globs) == 0 {
		return nil
	}
	return func(server, item string) bool {
		return slices.ContainsFunc(globs, func(glob string) bool { return condition.Like(server+"/"+item, glob) })
	}
}

// setAudit makes the settings of a generation those of the audit log.
func (g *generation) setAudit() error {
	s, err := g.auditSettings()
	if err == nil {
		err = g.audit.Set(s)
	}
	if f, ok := err.(*fault.Error); ok && f.At == "" {
		located := *f
		located.At = g.Config.Audit.At.String()
		return &located
	}
	return err
}

// auditDiagnostic returns a problem with the audit log as one of the configuration.
func auditDiagnostic(err error, at config.Position) config.Diagnostic {
	f := fault.As(err)
	return config.Diagnostic{Severity: config.Error, Summary: f.Message, Hint: f.Hint, In: "audit", At: at, End: at, Code: f.Code}
}

// OpenAudit opens the audit log. stdio says that standard output is for messages. A process
// that serves calls it before it accepts clients; other processes open the log when they
// first use it.
func (a *App) OpenAudit(stdio bool) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.stdio.Store(stdio)
	if err := a.current.Load().setAudit(); err != nil {
		return err
	}
	return a.audit.Open()
}

// auditStatus returns the state of the audit log, or nil if nothing is recorded.
func (a *App) auditStatus() *control.Audit {
	s, on := a.audit.State()
	if !on {
		return nil
	}
	return &control.Audit{File: s.File, Backlog: s.Backlog, Dropped: s.Dropped, Failing: s.Failing, Refusing: s.Refusing}
}

// auditHealth returns the state of the audit log for health checks, or nil if nothing is
// recorded.
func (a *App) auditHealth() *httpserver.AuditHealth {
	s, on := a.audit.State()
	if !on {
		return nil
	}
	return &httpserver.AuditHealth{Failing: s.Failing, Refusing: s.Refusing}
}

// noteReload records a reload.
func (a *App) noteReload(by string, changes *Reloaded, diags config.Diagnostics, err error) {
	e := &audit.Event{Kind: audit.Reload, Outcome: audit.OK, By: by}
	if err == nil && changes == nil {
		err = diags.Err()
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	if changes != nil {
		e.Detail = fmt.Sprintf("generation %d", changes.Generation) + changeText(changes.Added, changes.Changed, changes.Removed)
	}
	a.audit.Note(e)
}

// maxChangeNames is the number of names of each kind of change in a row.
const maxChangeNames = 50

// changeText lists changes, each kind after a semicolon.
func changeText(added, changed, removed []string) (text string) {
	return namesText("added", added) + namesText("changed", changed) + namesText("removed", removed)
}

// namesText lists names after a semicolon. It is empty without names.
func namesText(what string, names []string) (text string) {
	n := len(names)
	if n == 0 {
		return ""
	}
	text = "; " + what + " " + strings.Join(names[:min(n, maxChangeNames)], ", ")
	if n > maxChangeNames {
		text += fmt.Sprintf(" and %d more", n-maxChangeNames)
	}
	return text
}

// noteTools records that the tools of a server changed.
func (a *App) noteTools(c catalog.ToolsChange) {
	detail := changeText(c.Added, c.Changed, c.Removed) + namesText("held back", c.Held)
	a.audit.Note(&audit.Event{Kind: audit.ToolChange, Server: c.Server, Outcome: audit.OK, Detail: strings.TrimPrefix(detail, "; ")})
}

// noteRestart records that an operator restarted a server. err is that of the new connection.
func (a *App) noteRestart(begun time.Time, server, by string, err error) {
	e := &audit.Event{Kind: audit.Restart, Time: begun, DurationMS: audit.Milliseconds(time.Since(begun)), Server: server, By: by, Outcome: audit.OK}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	a.audit.Note(e)
}

// notePlugin records a change of a plugin's process.
func (a *App) notePlugin(name, server string, state plugin.State, err error) {
	e := &audit.Event{Kind: audit.PluginStart, Plugin: name, Server: server, Outcome: audit.OK}
	switch state {
	case plugin.Backoff:
		e.Kind = audit.PluginCrash
	case plugin.Quarantined:
		e.Kind = audit.Quarantine
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	a.audit.Note(e)
}

// noteServerFailure records that a server could not be reached, or that the list of a method
// could not be read.
func noteServerFailure(to audit.Recorder, server, tenant, method string, err error) {
	f := fault.As(err)
	e := &audit.Event{Kind: audit.ServerFailure, Server: server, Tenant: tenant, Method: method, Outcome: audit.Failed, Plugin: f.Plugin, Code: string(f.Code), Message: f.Message}
	if isLoginMissing(err) {
		e.Outcome = audit.LoginRequired
	}
	to.Note(e)
}

// noteFailures returns a function that records the failures of a connection. A failure that
// follows another one with the same code is not recorded: each call makes a new attempt.
func noteFailures(to audit.Recorder, server, tenant string) func(upstream.State, error) {
	var failed fault.Code // "": the connection was never made, or is ready
	return func(s upstream.State, why error) {
		switch s {
		case upstream.Ready:
			failed = ""
		case upstream.Failed:
			if code := fault.As(why).Code; code != failed {
				failed = code
				noteServerFailure(to, server, tenant, "", why)
			}
		}
	}
}

// mostAuthorities bounds the file of forward_ca, in bytes.
const mostAuthorities = 1 << 20

// noteLogin records a login or a logout.
func (a *App) noteLogin(kind audit.Kind, begun time.Time, server, tenant, account string, err error) {
	e := &audit.Event{Kind: kind, Time: begun, DurationMS: audit.Milliseconds(time.Since(begun)), Server: server, Tenant: tenant, Outcome: audit.OK}
	if account != "" {
		e.Detail = "as " + account
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	a.audit.Note(e)
}
