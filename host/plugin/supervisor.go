package plugin

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// inherited lists the host's environment variables that every plugin receives.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TMP", "TEMP",
	"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "COMSPEC",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// Options configure a supervisor. They do not change after New. Functions may be called
// concurrently.
type Options struct {
	Version string // version of the host
	Log     hclog.Logger
	RunDir  string    // directory for sockets; private to the user
	Cache   cache.Dir // cache for manifests
	LogDir  string    // directory for the plugins' logs; "" disables them
	Private []string  // directories of Junctor itself; programs that plugins wrap must not reach them
	Lookup  func(string) (string, bool)
	Memory  int64 // soft limit of a plugin process in bytes; 0: none
	// Orphans kills the processes that a crashed plugin left behind. It is set only in
	// a program that adopts orphans and starts all processes with sdk/process.
	Orphans func()
	// OneShot is set in a host that exits after one operation. It waits less for
	// plugins that do not close their connections.
	OneShot bool
	// Warn reports a warning to the user. If it is nil, warnings are logged.
	Warn func(message, hint string)

	run string // identifies this host in the environment of its descendants; New sets it
}

func (o *Options) orphans() {
	if o.Orphans != nil {
		o.Orphans()
	}
}

// environment returns the environment of a plugin: the inherited variables, the ones
// in its configuration, and the identity of this host.
func (o *Options) environment(names []string) []string {
	var env []string
	seen := map[string]bool{process.RunVariable: true}
	for _, name := range slices.Concat(inherited, stdio.CertificateVariables, names) {
		if v, ok := o.Lookup(name); ok && !seen[name] {
			seen[name] = true
			env = append(env, name+"="+v)
		}
	}
	private := slices.DeleteFunc(slices.Clone(o.Private), func(dir string) bool { return dir == "" })
	if o.Memory > 0 && !slices.Contains(names, "GOMEMLIMIT") {
		env = append(env, "GOMEMLIMIT="+strconv.FormatInt(o.Memory, 10))
	}
	return append(env, process.RunVariable+"="+o.run,
		sandbox.PrivateVariable+"="+strings.Join(private, string(os.PathListSeparator)))
}

// A Spec describes a program and how to run it. Equal specs share a process. It is a value that
// does not change.
type Spec struct {
	Name   string // name of the plugin in the configuration
	Path   string // path of the program
	SHA256 string // required digest in hex, or ""
	Digest string // of the program with which the configuration was read, or ""; another one is another process
	Env    []string
	// Alone is the only server that may use the process. The process is shared if
	// Alone is empty.
	Alone string
	// Start is the timeout of a start, if it is less than the default.
	Start time.Duration
}

func (s Spec) key() string {
	own := []string{s.Name, s.Path, s.SHA256, s.Digest, s.Alone, s.Start.String()}
	return strings.Join(append(own, s.Env...), "\x00")
}

// A Supervisor runs plugin processes. Its methods may be called concurrently. Package host
// makes it and calls Stop, once.
type Supervisor struct {
	opts   Options
	limits limits
	ctx    context.Context // canceled by Stop
	cancel context.CancelFunc
	begin  func(context.Context, Spec, *startStep) (*link, error) // start, except in tests

	programs knownPrograms
	logs     logs
	secrets  concealed
	observer atomic.Pointer[observer]

	mu        sync.Mutex
	processes map[string]*proc                 // guarded by mu; by Spec.key
	isolated  map[string]map[string]*isolation // guarded by mu; by Spec.key of the shared process, and by server
	stopped   bool                             // guarded by mu
}

// An observer is called when a process is ready, crashed or is quarantined.
type observer func(plugin, server string, state State, err error)

// New returns a supervisor without processes.
func New(o Options) *Supervisor {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	o.run = process.Run()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Supervisor{
		opts: o, limits: defaults, ctx: ctx, cancel: cancel,
		processes: map[string]*proc{}, isolated: map[string]map[string]*isolation{},
	}
	if o.OneShot {
		s.limits.closeStream = oneShotCloseStream
	}
	s.begin = s.start
	s.programs = knownPrograms{opts: &s.opts, limits: &s.limits, ctx: ctx, conceal: s.secrets.hide,
		known: map[string]*knownProgram{}, offers: map[string][]byte{}}
	return s
}

// Describe returns the manifest of the program at path, and its digest. It runs the
// program only to describe itself. It fails if pin is set and is not the digest.
func (s *Supervisor) Describe(ctx context.Context, path, pin string) (m sdk.Manifest, digest string, err error) {
	return s.programs.described(ctx, path, pin)
}

// DescribeUnverified is Describe, and may take the digest of a program without a pin from
// the cache. The program is hashed before it runs.
func (s *Supervisor) DescribeUnverified(ctx context.Context, path, pin string) (
	m sdk.Manifest, digest string, err error,
) {
	return s.programs.describedUnverified(ctx, path, pin)
}

// DescribeCached returns the cached manifest of the program at path, and its digest.
// It starts no process. It fails with [fault.PluginDescribe] if there is no cached
// manifest.
func (s *Supervisor) DescribeCached(path, pin string) (sdk.Manifest, string, error) {
	return s.programs.describedCached(path, pin)
}

// Digest returns the SHA-256 of the program at a path, as the file is now. It runs nothing.
func (s *Supervisor) Digest(path string) (string, error) { return s.programs.digest(path) }

// start starts one process of a plugin. It takes the program that is at the path now, as long as the
// settings of the configuration fit it.
func (s *Supervisor) start(ctx context.Context, spec Spec, at *startStep) (*link, error) {
	at.enter("describe itself")
	b, m, err := s.programs.describedProgram(ctx, spec.Path, spec.SHA256)
	if err != nil {
		return nil, describeTimeout(err)
	}
	defer s.programs.release(b)
	if err := s.programs.checkReplacement(spec.Digest, b, m); err != nil {
		return nil, err
	}
	if err := checkProtocol(m); err != nil {
		return nil, err
	}
	if path, ok := s.attachSocket(spec); ok {
		return s.attach(ctx, spec, path, m, at)
	}
	if err := b.verify(s.opts.Cache); err != nil {
		return nil, err
	}
	if runtime.GOOS != "linux" && !b.current(spec.Path) { // Linux executes the open file
		return nil, fault.New(fault.PluginChecksum, "%s was replaced while it was starting", b.path).
			WithHint("try again")
	}
	return s.launch(ctx, spec, b, m, at)
}

// A startStep is the pending step of a starting plugin. It may be used concurrently: the
// goroutine of the start sets it, and others read it for errors.
type startStep struct{ todo atomic.Pointer[string] }

func (s *startStep) enter(todo string) { s.todo.Store(&todo) }

// timeoutFault returns the fault for a start that exceeds the caller's timeout.
func (s *startStep) timeoutFault(name string, err error) *fault.Error {
	todo := "get ready"
	if t := s.todo.Load(); t != nil {
		todo = *t
	}
	f := fault.New(fault.PluginStartTimeout, "plugin %q did not %s in time", name, todo)
	f.Err = err
	return f.WithHint("run `junctor plugin logs %s`; the plugin is slow, not the server", name)
}

// describeTimeout returns the fault for a program that did not describe itself in time.
func describeTimeout(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.Because(fault.PluginStartTimeout, err, "the plugin did not describe itself in time")
}

// process returns the shared process for a spec.
func (s *Supervisor) process(spec Spec) (*proc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processIn(spec, 0)
}

// processIn returns the process for a group of servers; group 0 is the shared process.
// The caller holds mu.
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

// Validate lets a plugin validate settings. It starts the plugin if necessary.
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

// Conceal sets the function that replaces secrets in the output of plugins.
func (s *Supervisor) Conceal(f func(string) string) { s.secrets.by.Store((*concealer)(&f)) }

// Observe sets the function that is called when the process of a plugin is ready, when it
// crashed and when it is quarantined, with the reason. server is the only one that uses the
// process, or "". The function must not wait.
func (s *Supervisor) Observe(f func(plugin, server string, state State, err error)) {
	s.observer.Store((*observer)(&f))
}

func (s *Supervisor) changed(of *Spec, state State, err error) {
	if f := s.observer.Load(); f != nil {
		(*f)(of.Name, of.Alone, state, err)
	}
}

// A Status is a snapshot of one plugin process. It is a copy.
type Status struct {
	Name        string
	Alone       string // the servers that may use it, separated by commas; "" for all
	Version     string
	State       State
	PID         int
	Connections int
	Starts      int
	Retry       time.Time
	Err         error
}

// Status returns a snapshot of all processes, ordered by name. A process that has stopped is left
// out if a process of another version of its program has taken its place.
func (s *Supervisor) Status() []Status {
	s.mu.Lock()
	versions, alone := map[*proc]string{}, map[*proc]string{}
	for _, p := range s.processes {
		alone[p] = p.spec.Alone
		if p.group > 0 {
			alone[p] = strings.Join(s.grouped(p.spec, p.group), ", ")
		}
		versions[p] = s.programs.version(p.spec.Path)
	}
	s.mu.Unlock()
	var list []Status
	successors := map[[2]string]int{}
	for p, version := range versions {
		st := p.status()
		st.Version, st.Alone = cmp.Or(st.Version, version), alone[p]
		list = append(list, st)
		if st.State != Stopped {
			successors[[2]string{st.Name, st.Alone}]++
		}
	}
	list = slices.DeleteFunc(list, func(st Status) bool {
		return st.State == Stopped && successors[[2]string{st.Name, st.Alone}] > 0
	})
	slices.SortFunc(list, func(a, b Status) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Alone, b.Alone))
	})
	return list
}

// Stop stops all processes concurrently. Their connections may end within grace. No
// connection can be opened afterwards.
func (s *Supervisor) Stop(grace time.Duration) {
	s.cancel()
	s.mu.Lock()
	s.stopped = true
	processes := slices.Collect(maps.Values(s.processes))
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range processes {
		wg.Go(func() { p.stop(grace) })
	}
	wg.Wait()
	s.programs.close()
	s.logs.close()
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// limits are the timeouts and retry limits of a supervisor. They do not change after New; tests
// set others.
type limits struct {
	start       time.Duration // for a process to start and answer the first call
	describe    time.Duration // for a program to print its manifest
	lastOutput  time.Duration // for the last output of a process that ended
	exit        time.Duration // for a process to exit after its lifeline is closed or its connection breaks
	closeStream time.Duration // for a plugin to close the stream of a closed connection

	healthEvery time.Duration
	healthTime  time.Duration // for one health check
	maxMisses   int           // consecutive failures before the process is ended

	idle time.Duration // without connections before the process is stopped

	// settled is the age of a program's last change from which its digest is stored. A
	// later change has another change time, whose resolution is a few milliseconds.
	settled time.Duration

	backoffFirst time.Duration
	backoffMax   time.Duration
	stableAfter  time.Duration // uptime after which the backoff is reset
	crashes      int           // number of crashes ...
	crashWindow  time.Duration // ... within this time that cause quarantine

	groups   int           // groups of isolated servers; each has a process
	trial    time.Duration // uptime before a server may return to the shared process
	trialMax time.Duration // upper limit of trial
}

// oneShotCloseStream replaces closeStream in a host that exits after one operation.
const oneShotCloseStream = 300 * time.Millisecond

var defaults = limits{
	start: 10 * time.Second, describe: 5 * time.Second,
	lastOutput: 100 * time.Millisecond, exit: 500 * time.Millisecond, closeStream: 3 * time.Second,
	healthEvery: 5 * time.Second, healthTime: 2 * time.Second, maxMisses: 3,
	idle:         10 * time.Minute,
	settled:      2 * time.Second,
	backoffFirst: 100 * time.Millisecond, backoffMax: 30 * time.Second, stableAfter: 60 * time.Second,
	crashes: 5, crashWindow: 10 * time.Minute,
	groups: 16, trial: 10 * time.Minute, trialMax: 24 * time.Hour,
}
