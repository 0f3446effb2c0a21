package plugin

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// RunVariable is set in the environment of every process under a host, to a
// value that names the host.
const RunVariable = "JUNCTOR_RUN_ID"

// inherited are the variables of the host that every plugin gets.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TMP", "TEMP",
	"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "COMSPEC",
}

// Options are what a supervisor needs to know of its host.
type Options struct {
	Version string // of the host
	Log     hclog.Logger
	RunDir  string    // for sockets; private to the user
	Cache   cache.Dir // for manifests
	LogDir  string    // for the plugins' logs; empty: none are kept
	Lookup  func(string) (string, bool)
	Granter func(capability string) (sdk.Host, bool)
	// Orphans ends what a plugin that died left behind. Only a program that
	// adopts orphans and starts everything through sdk/process has it.
	Orphans func()
}

func (o *Options) orphans() {
	if o.Orphans != nil {
		o.Orphans()
	}
}

// A Spec says which program to run, and how. Specs that are equal share a
// process.
type Spec struct {
	Name   string // of the plugin in the configuration
	Path   string // of its program
	SHA256 string // hex digest the program must have; empty: any
	Env    []string
	// Alone names the one server that a process of its own is for; empty: the
	// process is shared.
	Alone string
}

func (s Spec) key() string {
	return strings.Join(append([]string{s.Name, s.Path, s.SHA256, s.Alone}, s.Env...), "\x00")
}

// A Supervisor runs plugin processes. Its methods may be called concurrently.
type Supervisor struct {
	opts   Options
	run    string // names this host in the environment of its descendants
	ctx    context.Context
	cancel context.CancelFunc

	mu        sync.Mutex
	binaries  map[string]*known   // guarded by mu; by path
	processes map[string]*proc    // guarded by mu; by Spec.key
	grants    map[string]sdk.Host // guarded by mu; by capability
	stopped   bool                // guarded by mu
	logs      logs
}

// known is a program and what it said about itself. Whoever needs it first
// finds out, the others wait.
type known struct {
	mu       sync.Mutex
	binary   *program
	manifest sdk.Manifest
}

// New makes a supervisor that runs nothing yet.
func New(o Options) *Supervisor {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Supervisor{
		opts: o, ctx: ctx, cancel: cancel,
		run:      fmt.Sprintf("%d.%d", os.Getpid(), time.Now().UnixNano()),
		binaries: map[string]*known{}, processes: map[string]*proc{}, grants: map[string]sdk.Host{},
	}
}

// Describe returns what the program at path says about itself, and its digest.
// It does not start it as a plugin.
func (s *Supervisor) Describe(ctx context.Context, path, pin string) (m sdk.Manifest, digest string, err error) {
	k := s.known(path)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := s.learn(ctx, k, path, pin); err != nil {
		return m, "", err
	}
	return k.manifest, k.binary.digest, nil
}

func (s *Supervisor) known(path string) *known {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.binaries[path]
	if k == nil {
		k = new(known)
		s.binaries[path] = k
	}
	return k
}

// learn fills in k. The caller holds k.mu, which nothing else needs meanwhile:
// it is the lock of this one program's description.
func (s *Supervisor) learn(ctx context.Context, k *known, path, pin string) error {
	if k.binary == nil {
		b, err := openProgram(path)
		if err != nil {
			return err
		}
		if err := pinned(b, pin); err != nil {
			b.close()
			return err
		}
		m, err := s.describe(ctx, b)
		if err != nil {
			b.close()
			return err
		}
		k.binary, k.manifest = b, m
	}
	return pinned(k.binary, pin)
}

func pinned(b *program, pin string) error {
	if pin == "" || strings.EqualFold(pin, b.digest) {
		return nil
	}
	return fault.New(fault.PluginChecksum, "%s has sha256 %s, the configuration wants %s", b.path, b.digest, pin).
		WithHint("if you replaced the program on purpose, update sha256; otherwise do not run it")
}

// start starts one process of a plugin, if its program is still the one that
// was described.
func (s *Supervisor) start(ctx context.Context, spec Spec) (*link, error) {
	k := s.known(spec.Path)
	k.mu.Lock()
	err := s.learn(ctx, k, spec.Path, spec.SHA256)
	b, m := k.binary, k.manifest
	k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := speaks(m); err != nil {
		return nil, err
	}
	if !b.unchanged() {
		again, err := openProgram(spec.Path)
		if err != nil {
			return nil, err
		}
		again.close()
		if again.digest != b.digest {
			return nil, fault.New(fault.PluginChecksum, "%s changed while junctor was running", b.path).
				WithHint("start junctor again to use the new version")
		}
	}
	return s.launch(ctx, spec, b, m)
}

// process returns the process for a spec.
func (s *Supervisor) process(spec Spec) (*proc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, fault.New(fault.UpstreamStopped, "junctor is shutting down")
	}
	p := s.processes[spec.key()]
	if p == nil {
		p = newProc(s, spec)
		s.processes[spec.key()] = p
	}
	return p, nil
}

// Validate asks a plugin for its opinion of settings, starting it when need be.
func (s *Supervisor) Validate(ctx context.Context, spec Spec, kind, component string, settings []byte) error {
	p, err := s.process(spec)
	if err != nil {
		return err
	}
	l, err := p.get(ctx)
	if err != nil {
		return err
	}
	defer p.put()
	return l.wire.Validate(ctx, kind, component, settings)
}

// Grant says what the holder of a capability may ask the host for.
func (s *Supervisor) Grant(capability string) (sdk.Host, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.grants[capability]
	return h, ok
}

// A Status is how one plugin process is at one moment.
type Status struct {
	Name        string
	Version     string
	State       State
	PID         int
	Connections int
	Starts      int
	Retry       time.Time
	Err         error
}

// Status lists the processes that were ever asked for, by name.
func (s *Supervisor) Status() []Status {
	s.mu.Lock()
	var all []*proc
	for _, p := range s.processes {
		all = append(all, p)
	}
	s.mu.Unlock()
	var list []Status
	for _, p := range all {
		k := s.known(p.spec.Path)
		k.mu.Lock()
		version := k.manifest.Version
		k.mu.Unlock()
		p.mu.Lock()
		st := Status{
			Name: p.spec.Name, Version: version, State: p.state, Connections: p.open, Starts: p.starts, Err: p.lastErr,
		}
		if p.link != nil {
			st.PID = p.link.runner.proc.PID()
		}
		if p.state == Backoff || p.state == Quarantined {
			st.Retry = p.retry
		}
		p.mu.Unlock()
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Stop ends every process, all at the same time, and gives their connections
// grace to end in order. Nothing can be opened afterwards.
func (s *Supervisor) Stop(grace time.Duration) {
	s.mu.Lock()
	s.stopped = true
	var all []*proc
	for _, p := range s.processes {
		all = append(all, p)
	}
	s.mu.Unlock()
	s.cancel()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() { p.stop(grace) })
	}
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.binaries {
		if k.binary != nil {
			k.binary.close()
		}
	}
	s.logs.close()
}

// environment is what a plugin's process gets: the variables every plugin
// gets, those that its configuration names, and the mark of this host.
func (s *Supervisor) environment(names []string) []string {
	var env []string
	seen := map[string]bool{}
	for _, name := range append(slices.Clone(inherited), names...) {
		if v, ok := s.opts.Lookup(name); ok && !seen[name] {
			seen[name] = true
			env = append(env, name+"="+v)
		}
	}
	return append(env, RunVariable+"="+s.run)
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
