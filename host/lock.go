package host

import (
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
)

// newPins returns the store of the digests that were accepted.
func (a *App) newPins() *pins.Store {
	o := pins.Options{
		Log:       a.opts.Log,
		Cache:     a.opts.Dirs.Cache,
		Secret:    a.redactor.finds,
		KeepTrust: a.opts.KeepTrust,
		HoldNew:   a.opts.HoldNewTools,
	}
	if a.opts.Dirs.Data != "" {
		o.Locks = filepath.Join(a.opts.Dirs.Data, "locks")
	}
	o.Warn = a.opts.Warn
	o.FirstUse = func(server string, tools []string) {
		a.noteToolChange(server, "first use", namesText("pinned", tools), nil)
	}
	return pins.New(o)
}

// newLockfiles returns the lock files of the configuration in effect.
func (a *App) newLockfiles() *pins.Lockfiles {
	return &pins.Lockfiles{
		Store:   a.pins,
		Catalog: a.Catalog,
		Config:  a.Config,
		Program: func(p config.Plugin) (pins.Program, bool) {
			d, known := a.Described(p)
			return pins.Program{Path: d.Path, Version: d.Manifest.Version, SHA256: d.Digest}, known
		},
		Digest: a.Supervisor.Digest,
		Note:   a.noteLock,
	}
}

// lockedProgram says what to do about a program that differs from the lock file.
func (a *App) lockedProgram(p config.Plugin, path string, err error) error {
	if now, _ := a.Supervisor.Digest(path); now == p.SHA256 { // it was accepted since the start
		return fault.New(
			fault.PluginChecksum, "the program of plugin %q was replaced while junctor was running", p.Name,
		).WithHint("start junctor again to use the program that was accepted")
	}
	return fault.As(err).WithHint("%s", config.PluginHint(p.Name))
}

// noteLock records that a person accepted tools or a plugin.
func (a *App) noteLock(c pins.Change, err error) {
	detail := namesText("accepted", c.Accepted) + namesText("forgotten", c.Forgotten)
	if p := c.Plugin; p.Name != "" {
		detail = "accepted plugin " + p.Name
		if p.Version != "" {
			detail += " " + p.Version
		}
		detail += " with sha256 " + p.SHA256
	}
	a.noteToolChange(c.Server, c.By, detail, err)
}

// noteToolChange records that a person or a configuration accepted tools.
func (a *App) noteToolChange(server, by, detail string, err error) {
	e := &audit.Event{
		Kind:    audit.ToolChange,
		Server:  server,
		By:      by,
		Outcome: audit.OK,
		Detail:  strings.TrimPrefix(detail, "; "),
	}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	a.audit.Note(e)
}
