package host

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/forward"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/regularfile"
)

// The audit log belongs to the App and not to a generation: it lasts as long as the
// process. A reload changes its settings.

// newAudit returns the audit log, which has no settings yet. This file connects package audit
// with the configuration: its settings, its file and its status.
func (p *Process) newAudit() *audit.Log {
	return audit.New(audit.Options{
		Log: p.opts.Log, Warn: p.opts.Warn, Hide: p.redactor.hide,
		Forward: func(to audit.Copies) audit.Forwarder {
			return forward.New(to.Targets, forward.Options{
				Headers: to.Headers,
				Roots:   forward.Authorities(to.CA),
				Log:     p.opts.Log,
				Stderr:  p.opts.Stderr,
				Version: p.opts.Version,
				Counts:  &p.copies,
			})
		},
		Mask: func(value []byte) []byte { return approval.Mask(value, p.redactor.hide) },
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
	return a.process.opts.Dirs.auditFile(c)
}

// auditFile returns the path of the audit log in a file.
func (d Dirs) auditFile(c config.Audit) string {
	if c.File != "" {
		return c.File
	}
	return filepath.Join(d.Data, "audit.db")
}

// auditSettings returns the settings of the audit block; nil: there is none. stdio says that
// standard output is for messages.
func (g *generation) auditSettings(stdio bool) (*audit.Settings, error) {
	c := g.Config.Audit
	if !c.Given {
		return nil, nil
	}
	s := &audit.Settings{
		File:       g.opts.Dirs.auditFile(c),
		Full:       c.Sync == "full",
		Refuse:     c.OnFull == "refuse",
		Retention:  c.Retention,
		MaxSize:    int64(c.MaxSize),
		Forward:    audit.Copies{Targets: c.Forward, Headers: c.ForwardHeaders},
		Arguments:  c.Arguments == "full",
		Results:    c.Results == "full",
		PluginDirs: g.pluginDirs(),
	}
	s.Redacted = redacts(c.Redact)
	if c.SignKey != "" {
		key, err := audit.LoadSignKey(c.SignKey)
		if err != nil {
			return nil, err
		}
		s.SignKey = key
	}
	var err error
	if s.Forward.CA, err = forwardAuthorities(c.ForwardCA); err != nil {
		return nil, err
	}
	switch {
	// there standard output is for the result of the command
	case c.Output == "stderr", c.Output == "stdout" && g.opts.OneShot:
		s.To = g.opts.Stderr
	case c.Output == "stdout":
		s.To = g.opts.Stdout
		if stdio {
			return nil, &fault.Error{
				Code:    fault.ConfigInvalid,
				At:      c.At.String(),
				Message: "the audit log cannot be written to standard output, which carries the messages of the client",
				Hint:    `write output = "stderr" or output = "file" in the audit block, or serve over HTTP`,
			}
		}
	}
	if g.opts.Dirs.Data == "" && c.File == "" && s.To == nil {
		return nil, &fault.Error{
			Code:    fault.AuditFile,
			At:      c.At.String(),
			Message: "there is no data directory for the audit log",
			Hint:    "set file in the audit block, or HOME or JUNCTOR_HOME",
		}
	}
	return s, nil
}

// forwardAuthorities returns the certificates in the file of forward_ca, or nil without one.
func forwardAuthorities(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := regularfile.Read(path, maxAuthorities)
	if err == nil && forward.Authorities(pem) == nil {
		err = errors.New("it has no certificate in PEM")
	}
	if err != nil {
		return nil, fault.Because(fault.AuditFile, err, "%s cannot be used as forward_ca", path).
			WithHint("write the path of a file with certificates in PEM")
	}
	return pem, nil
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

// setAudit makes the settings of a generation those of the audit log. The caller holds
// App.reloading, or is the start.
func setAudit(a *App, g *generation) error {
	s, err := g.auditSettings(a.stdio.Load())
	if err == nil {
		err = a.process.audit.Set(s)
	}
	if f, ok := err.(*fault.Error); ok && f.At == "" {
		located := *f
		located.At = g.Config.Audit.At.String()
		return &located
	}
	return err
}

// auditDiagnostic returns a problem with the audit log as one of the configuration.
func auditDiagnostic(err error, at source.Position) *source.Diagnostic {
	f := fault.As(err)
	return &source.Diagnostic{
		Severity: source.Error,
		Summary:  f.Message,
		Hint:     f.Hint,
		In:       "audit",
		At:       at,
		End:      at,
		Code:     f.Code,
	}
}

// OpenAudit opens the audit log. stdio says that standard output is for messages. A process
// that serves calls it before it accepts clients; other processes open the log when they
// first use it.
func (a *App) OpenAudit(stdio bool) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.stdio.Store(stdio)
	if err := setAudit(a, a.current.Load()); err != nil {
		return err
	}
	return a.process.audit.Open()
}

// auditStatus returns the state of the audit log, or nil if nothing is recorded.
func (r report) auditStatus() *control.Audit {
	s, on := r.a.process.audit.State()
	if !on {
		return nil
	}
	return &control.Audit{
		File:     s.File,
		Backlog:  s.Backlog,
		Dropped:  s.Dropped,
		Failing:  s.Failing,
		Refusing: s.Refusing,

		CopiesDropped: int(r.a.process.copies.Dropped.Load()),
		CopiesFailing: int(r.a.process.copies.Failing.Load()),
	}
}

// auditHealth returns the state of the audit log for health checks, or nil if nothing is
// recorded.
func (p *Process) auditHealth() *httpserver.AuditHealth {
	s, on := p.audit.State()
	if !on {
		return nil
	}
	return &httpserver.AuditHealth{Failing: s.Failing, Refusing: s.Refusing}
}

// maxAuthorities bounds the file of forward_ca, in bytes.
const maxAuthorities = 1 << 20
