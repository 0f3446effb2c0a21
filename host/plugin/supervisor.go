package plugin

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// inherited are the variables of the host that every plugin gets.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TMP", "TEMP",
	"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "COMSPEC",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// Options are what a supervisor needs to know of its host.
type Options struct {
	Version string // of the host
	Log     hclog.Logger
	RunDir  string    // for sockets; private to the user
	Cache   cache.Dir // for manifests
	LogDir  string    // for the plugins' logs; empty: none are kept
	Lookup  func(string) (string, bool)
	// Orphans ends what a plugin that died left behind. Only a program that
	// adopts orphans and starts everything through sdk/process has it.
	Orphans func()
	// OneShot is a host that ends when it has an answer. It waits less for
	// plugins that do not end their connections.
	OneShot bool
	// Warn tells the user something; nil: the log has it.
	Warn func(message, hint string)
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
	// Start is how long a start may take, where that is less than usual.
	Start time.Duration
}

func (s Spec) key() string {
	return strings.Join(append([]string{s.Name, s.Path, s.SHA256, s.Alone, s.Start.String()}, s.Env...), "\x00")
}

// A Supervisor runs plugin processes. Its methods may be called concurrently.
type Supervisor struct {
	opts   Options
	limits limits
	run    string          // names this host in the environment of its descendants
	ctx    context.Context // ends when it stops
	cancel context.CancelFunc
	begin  func(context.Context, Spec, *stage) (*link, error) // start, but in tests

	mu        sync.Mutex
	programs  map[string]*known                // guarded by mu; by path
	processes map[string]*proc                 // guarded by mu; by Spec.key
	isolated  map[string]map[string]*isolation // guarded by mu; by Spec.key of the shared process and server
	stopped   bool                             // guarded by mu
	logs      logs
	concealer atomic.Pointer[concealer]
}

// New makes a supervisor that runs nothing yet.
func New(o Options) *Supervisor {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Supervisor{
		opts: o, limits: defaults, ctx: ctx, cancel: cancel,
		run:      process.Run(),
		programs: map[string]*known{}, processes: map[string]*proc{}, isolated: map[string]map[string]*isolation{},
	}
	if o.OneShot {
		s.limits.hangUp = oneShotHangUp
	}
	s.begin = s.start
	return s
}

// start starts one process of a plugin, if its program is still the one that
// was described.
func (s *Supervisor) start(ctx context.Context, spec Spec, at *stage) (*link, error) {
	at.enter("describe itself")
	b, m, err := s.learn(ctx, spec.Path, spec.SHA256)
	if err != nil {
		return nil, untimely(err)
	}
	if err := speaks(m); err != nil {
		return nil, err
	}
	if path, ok := s.attachSocket(spec); ok {
		return s.attach(ctx, spec, path, m, at)
	}
	if !b.unchanged() {
		if b, err = s.reopen(spec.Path, b.digest); err != nil {
			return nil, err
		}
	}
	return s.launch(ctx, spec, b, m, at)
}

// A stage is what a plugin that is being started has to do next.
type stage struct{ todo atomic.Pointer[string] }

func (s *stage) enter(todo string) { s.todo.Store(&todo) }

// late is the fault of a start that takes longer than its caller waits.
func (s *stage) late(name string, err error) *fault.Error {
	todo := "get ready"
	if t := s.todo.Load(); t != nil {
		todo = *t
	}
	f := fault.New(fault.PluginStartTimeout, "plugin %q did not %s in time", name, todo)
	f.Err = err
	return f.WithHint("junctor plugin logs %s shows what it said; it is the plugin that is slow, not a server", name)
}

// untimely makes a fault of the time that passed before a program had described
// itself.
func untimely(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.Because(fault.PluginStartTimeout, err, "the plugin did not describe itself in time")
}

// reopen opens a program anew that is no longer the same file, but must be the
// same program. A process may be about to run the file from before, so that is
// closed in the end.
func (s *Supervisor) reopen(path, digest string) (*program, error) {
	k := s.known(path)
	k.learning.Lock()
	defer k.learning.Unlock()
	if s.ctx.Err() != nil {
		return nil, shuttingDown()
	}
	b, err := openProgram(path)
	if err != nil {
		return nil, err
	}
	if b.digest != digest {
		b.close()
		return nil, fault.New(fault.PluginChecksum, "%s changed while junctor was running", b.path).
			WithHint("start junctor again to use the new version")
	}
	s.mu.Lock()
	k.before = append(k.before, k.program)
	k.program = b
	s.mu.Unlock()
	return b, nil
}

// process returns the process for a spec.
func (s *Supervisor) process(spec Spec) (*proc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processIn(spec, 0)
}

// processIn returns the process for a group of servers; 0: the shared one. The
// caller holds mu.
func (s *Supervisor) processIn(spec Spec, group int) (*proc, error) {
	if s.stopped {
		return nil, shuttingDown()
	}
	key := spec.groupKey(group)
	p := s.processes[key]
	if p == nil {
		p = newProc(s, spec)
		p.group = group
		s.processes[key] = p
	}
	return p, nil
}

func shuttingDown() error { return fault.New(fault.UpstreamStopped, "junctor is shutting down") }

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
	return l.explain(l.wire.Validate(ctx, kind, component, settings))
}

// Conceal sets what takes secrets out of whatever plugins say for people, from
// now on.
func (s *Supervisor) Conceal(f func(string) string) { s.concealer.Store((*concealer)(&f)) }

// conceal takes secrets out of a text.
func (s *Supervisor) conceal(text string) string {
	if f := s.concealer.Load(); f != nil {
		return f.hide(text)
	}
	return text
}

// A Status is how one plugin process is at one moment.
type Status struct {
	Name        string
	Alone       string // the servers it is for, joined with commas; empty: any
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
	versions, alone := map[*proc]string{}, map[*proc]string{}
	for _, p := range s.processes {
		alone[p] = p.spec.Alone
		if p.group > 0 {
			alone[p] = strings.Join(s.grouped(p.spec, p.group), ", ")
		}
		versions[p] = ""
		if k := s.programs[p.spec.Path]; k != nil {
			versions[p] = k.manifest.Version
		}
	}
	s.mu.Unlock()
	var list []Status
	for p, version := range versions {
		st := p.status()
		st.Version, st.Alone = version, alone[p]
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b Status) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Alone, b.Alone))
	})
	return list
}

// Stop ends every process, all at the same time, and gives their connections
// grace to end in order. Nothing can be opened afterwards.
func (s *Supervisor) Stop(grace time.Duration) {
	s.cancel()
	s.mu.Lock()
	s.stopped = true
	processes := slices.Collect(maps.Values(s.processes))
	programs := slices.Collect(maps.Values(s.programs))
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range processes {
		wg.Go(func() { p.stop(grace) })
	}
	wg.Wait()
	for _, k := range programs {
		k.learning.Lock() // a program that describes itself is ending
		if k.program != nil {
			k.program.close()
		}
		for _, b := range k.before {
			b.close()
		}
		k.learning.Unlock()
	}
	s.logs.close()
}

// environment is what a plugin's process gets: the variables every plugin
// gets, those that its configuration names, and the mark of this host.
func (s *Supervisor) environment(names []string) []string {
	var env []string
	seen := map[string]bool{process.RunVariable: true}
	for _, name := range append(slices.Clone(inherited), names...) {
		if v, ok := s.opts.Lookup(name); ok && !seen[name] {
			seen[name] = true
			env = append(env, name+"="+v)
		}
	}
	return append(env, process.RunVariable+"="+s.run)
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
