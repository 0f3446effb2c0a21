package host

import (
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/pins"
)

// newPins returns the store of the digests that were accepted.
func (p *Process) newPins() *pins.Store {
	o := pins.Options{
		Log:       p.opts.Log,
		Cache:     p.opts.Dirs.Cache,
		Secret:    p.redactor.finds,
		KeepTrust: p.opts.KeepTrust,
		HoldNew:   p.opts.HoldNewTools,
	}
	if p.opts.Dirs.Data != "" {
		o.Locks = filepath.Join(p.opts.Dirs.Data, "locks")
	}
	o.Warn = p.opts.Warn
	o.FirstUse = func(server string, tools []string) {
		p.record.noteToolChange(server, "first use", namesText("pinned", tools), nil)
	}
	return pins.New(o)
}

// newLockfiles returns the lock files of the configuration in effect.
func newLockfiles(a *App) *pins.Lockfiles {
	return &pins.Lockfiles{
		Store:   a.process.pins,
		Catalog: a.Catalog,
		Config:  a.Config,
		Program: func(p config.Plugin) (pins.Program, bool) {
			d, known := a.Described(p)
			return pins.Program{Path: d.Path, Version: d.Manifest.Version, SHA256: d.Digest}, known
		},
		Digest: a.Supervisor.Digest,
		Note:   a.process.record.noteLock,
	}
}
