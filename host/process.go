package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/forward"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/notify"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/seal"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/host/usage"
)

// A Process has the objects that live as long as the process. No reload replaces them.
// newProcess and openServing make it, and stop ends it. Its fields do not change after
// openServing, but each of the objects may be used concurrently.
type Process struct {
	Supervisor *plugin.Supervisor
	Catalog    *catalog.Catalog
	Gateway    *gateway.Gateway

	opts        *Options
	starts      *upstream.StartQueue
	messages    *limit.Memory
	serverLog   *limit.Lines
	credentials credential.Pool
	pages       loginPages
	redactor    redactor
	usage       usage.Counter
	toolLimits  *limit.Tools
	pins        *pins.Store
	approvals   *approval.Store // nil for a command that exits after one answer
	events      *event.Stream   // nil for a command that exits after one answer
	states      *seal.Codec
	audit       *audit.Log
	copies      forward.Counts // of the rows that audit forwards
	record      *recorder
	notices     *notify.Notifier // nil for a command that exits after one answer

	pluginGrace time.Duration // for plugins to exit after their upstreams are closed
	ends        []func()      // see onStop
}

// newProcess returns a process that has what reading a configuration needs.
func newProcess(o Options) *Process {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	p := &Process{opts: &o, starts: upstream.NewStartQueue(runtime.GOMAXPROCS(0) + 2)}
	p.audit = p.newAudit()
	p.onStop(p.audit.Close) // last: the ends of all requests are recorded
	if o.Conceal != nil {
		o.Conceal(p.redactor.hide)
	}
	if !o.OneShot {
		p.events = event.NewStream(p.redactor.hide)
	}
	p.record = &recorder{p.audit, p.events, p.redactor.hide}
	p.Supervisor = NewSupervisor(o)
	p.onStop(func() { p.Supervisor.Stop(p.pluginGrace) })
	p.Supervisor.Observe(func(name, server string, s plugin.State, err error) {
		p.record.notePlugin(name, server, s, err)
		p.record.announcePlugin(name, server, s, err)
	})
	return p
}

// onStop makes stop call f. What was created last ends first. Only the goroutine of the start
// calls it.
func (p *Process) onStop(f func()) { p.ends = append(p.ends, f) }

// stop ends everything that was created, in reverse order, and returns when nothing is left.
func (p *Process) stop() {
	for _, end := range slices.Backward(p.ends) {
		end()
	}
	p.ends = nil
}

// A loginFinder returns the page for a login; see [gateway.Options].
type loginFinder func(ctx context.Context, server string, who authn.Principal) (gateway.Page, bool)

// openServing creates the objects that serve clients, with the limits of the first
// configuration. login finds the pages for logins.
func (p *Process) openServing(c *config.Config, login loginFinder) {
	o := p.opts
	p.toolLimits = limit.NewTools(o.Log)
	p.messages, p.serverLog = limit.NewMemory(messageMemory(c)), limit.NewLines(o.Log, "server")
	var gate approval.Gate = approval.Refuse{}
	if !o.OneShot {
		p.events.Watch(p.notice)
		p.approvals = approval.NewStore()
		p.approvals.Observe(p.record.announceApproval)
		gate = p.approvals
	}
	p.Catalog = p.newCatalog()
	p.onStop(p.Catalog.Stop)
	p.Gateway = gateway.New(gateway.Options{
		Version:  o.Version,
		Catalog:  p.Catalog,
		Log:      o.Log,
		Events:   p.events,
		Budget:   p.messages,
		Lines:    p.serverLog,
		Usage:    &p.usage,
		Limit:    p.toolLimits,
		Approval: gate,
		Audit:    p.audit,
		States:   p.states,
		Login:    login,
		Hide:     p.redactor.hide,
		Local:    o.Local,
		Roots:    rootsOf(o.Roots),
	})
	p.onStop(p.Gateway.Stop)
	p.pins = p.newPins()
}

// newCatalog returns the catalog, which has no servers yet.
func (p *Process) newCatalog() *catalog.Catalog {
	c := catalog.New(nil, p.opts.Dirs.Cache, p.opts.Log, nil)
	c.LeaveOut(p.redactor.finds)
	c.OnToolsChanged(func(change catalog.ToolsChange) {
		p.record.announceTools(change)
		p.record.noteTools(change)
	})
	c.OnListFailed(func(server, method string, err error) { noteServerFailure(p.audit, server, "", method, err) })
	return c
}

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

// openStates returns the codec of what clients carry from one request to the next. Processes
// of one configuration share the key and the uses, in the data directory. Without a directory
// that can be written to, both are in memory, and no state outlives the process. Clients hold
// tokens that are sealed with this key, so the scope and the key must outlive a release.
func openStates(o Options) (*seal.Codec, error) {
	if o.OneShot || o.Dirs.Data == "" {
		return inMemory(), nil
	}
	dir := filepath.Join(o.Dirs.Data, "state")
	keys, uses, err := seal.OpenDir(dir)
	if unwritable, ok := errors.AsType[*seal.UnwritableError](err); ok {
		o.Log.Warn("calls that wait for their clients do not outlive this process, "+
			"because the key of their states is kept in memory", "error", unwritable)
		return inMemory(), nil
	}
	if unsafe, ok := errors.AsType[*seal.UnsafeError](err); ok {
		return nil, fault.New(
			fault.StateKey, "the key of request states is not used: %s", unsafe,
		).WithHint("run `%s %s`", unsafe.Command, unsafe.Path)
	}
	if err != nil {
		return nil, fault.New(
			fault.StateKey, "the key of request states is not used: %s", err,
		).WithHint("see that %s can be read", dir)
	}
	return seal.New(keys, scopeOf(o.Config), uses), nil
}

func inMemory() *seal.Codec { return seal.New([]seal.Key{seal.NewKey()}, "", nil) }

// scopeOf returns what tells the servers of a configuration from those of others that have the
// same names.
func scopeOf(at config.Location) string {
	if len(at.Text) > 0 {
		return fmt.Sprintf("%x", sha256.Sum256(at.Text))
	}
	path, err := at.Canonical()
	if err != nil {
		return at.Path
	}
	return path
}

// statesDiagnostic returns the diagnostic of a key that cannot be used.
func statesDiagnostic(err error) *source.Diagnostic {
	f := fault.As(err)
	return &source.Diagnostic{Severity: source.Error, Summary: f.Message, Hint: f.Hint, Code: f.Code}
}
