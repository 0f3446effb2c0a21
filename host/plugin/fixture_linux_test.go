package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// The comments of the tests refer to the cases they cover: #1 to #22 are defects of
// go-plugin, P1 to P19 measurements of its behaviour, L1 to L22 threats of a malicious
// plugin, R1 to R23 fault tests.

// patience is how long a test waits for an event that should be immediate.
const patience = 20 * time.Second

// programVariable selects the program that this test binary becomes.
const programVariable = "PLUGIN_TEST_PROGRAM"

var programs = map[string]func(){}

func TestMain(m *testing.M) {
	beTalker()
	if f := programs[os.Getenv(programVariable)]; f != nil {
		f()
		os.Exit(0)
	}
	if err := errors.Join(process.Adopt(), capturePrinted()); err != nil { // like a host
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(builds.dir)
	os.Exit(status)
}

// builds holds the programs of the tests, each built once.
var builds struct {
	sync.Mutex
	dir  string
	path map[string]string // path by package
}

// build builds a package of this module and returns its path.
func build(t testing.TB, pkg string) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	if path := builds.path[pkg]; path != "" {
		return path
	}
	if builds.dir == "" {
		dir, err := os.MkdirTemp("", "junctor-plugin-test")
		if err != nil {
			t.Fatal(err)
		}
		builds.dir, builds.path = dir, map[string]string{}
	}
	path := filepath.Join(builds.dir, strings.ReplaceAll(pkg, "/", "-"))
	cmd := exec.Command("go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", path, "./"+pkg)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	builds.path[pkg] = path
	return path
}

// A testHost is a supervisor in its own directory. At the end of the test no process,
// file, descriptor or goroutine of it may remain.
type testHost struct {
	*Supervisor
	t    *testing.T
	dir  string
	env  map[string]string // environment of the host
	logs *logBuffer
}

func newHost(t *testing.T, change ...func(*testHost)) *testHost {
	t.Helper()
	dir, err := os.MkdirTemp("", "jp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	build(t, evilSource)
	h := &testHost{t: t, dir: dir, env: map[string]string{"PATH": os.Getenv("PATH"), "HOME": dir}, logs: new(logBuffer)}
	for _, name := range []string{"run", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.Supervisor = New(Options{
		Version: "test", RunDir: filepath.Join(dir, "run"), Cache: cache.Dir(filepath.Join(dir, "cache")),
		LogDir:  filepath.Join(dir, "logs"),
		Log:     hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, JSONFormat: true, Output: h.logs}),
		Lookup:  func(name string) (string, bool) { v, ok := h.env[name]; return v, ok },
		Orphans: process.EndAdopted,
	})
	h.limits.exit = 2 * time.Second                                           // tolerate a busy machine
	h.opts.run = fmt.Sprint("test-", os.Getpid(), "-", time.Now().UnixNano()) // identifies the processes of this test
	for _, f := range change {
		f(h)
	}
	files, goroutines, silence := descriptors(), goleak.IgnoreCurrent(), nothingPrinted(t)
	t.Cleanup(func() {
		defer silence()
		h.end(files, goroutines)
	})
	return h
}

// printed replaces standard error, so that tests can check that nothing is printed.
// yamux prints to os.Stderr as it is when a connection begins; go-plugin uses package
// log. #8
var printed *os.File

// capturePrinted redirects standard error to printed.
func capturePrinted() (err error) {
	if printed, err = os.CreateTemp("", "junctor-plugin-test"); err != nil {
		return err
	}
	os.Stderr = printed
	log.SetOutput(printed)
	return os.Remove(printed.Name())
}

// nothingPrinted returns a function that fails the test if text was printed meanwhile.
func nothingPrinted(t *testing.T) func() {
	before, err := printed.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if text, _ := io.ReadAll(io.NewSectionReader(printed, before, 1<<20)); len(text) > 0 {
			t.Errorf("printed: %s", text)
		}
	}
}

// end stops the supervisor and checks that nothing remains.
func (h *testHost) end(files []string, goroutines goleak.Option) {
	h.t.Helper()
	defer func() {
		if h.t.Failed() {
			h.t.Logf("the log:\n%.8000s", h.logs.String())
		}
	}()
	begun := time.Now()
	h.Stop(time.Second)
	if d := time.Since(begun); d > patience/2 {
		h.t.Errorf("Stop took %s", d)
	}
	eventually.NoError(h.t, func() error { return none(marked(process.RunVariable + "=" + h.opts.run)) })
	if left, _ := filepath.Glob(filepath.Join(h.dir, "run", "*")); len(left) > 0 {
		h.t.Errorf("the run directory still has %q", left)
	}
	eventually.NoError(h.t, func() error { return none(minus(descriptors(), files)) })
	eventually.NoError(h.t, func() error {
		return goleak.Find(goroutines,
			goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"),
			goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreTopFunction("os/signal.loop"))
	})
}

// hurried shortens the timeouts of starts and descriptions.
func hurried(h *testHost) { h.limits.start, h.limits.describe = 2*time.Second, 2*time.Second }

// watchful shortens the interval of health checks.
func watchful(h *testHost) {
	h.limits.healthEvery, h.limits.healthTime = 200*time.Millisecond, time.Second
}

// usualExit restores the default exit timeout.
func usualExit(h *testHost) { h.limits.exit = defaults.exit }

const evilSource = "testdata/evil/plugin"

// brokenProgram returns the path of the test plugin with the given defect; "" selects an
// ordinary plugin.
func (h *testHost) brokenProgram(mode string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, "bin", FilePrefix+"evil")
	if mode != "" {
		path += "-" + mode
	}
	if err := os.Link(build(h.t, evilSource), path); err != nil && !errors.Is(err, os.ErrExist) {
		h.t.Fatal(err)
	}
	return path
}

// spec returns the spec of a test plugin; arg is passed in its environment.
func (h *testHost) spec(mode, arg string) Spec {
	h.t.Helper()
	h.env["EVIL"] = arg
	name := "evil"
	if mode != "" {
		name = mode
	}
	return Spec{Name: name, Path: h.brokenProgram(mode), Env: []string{"EVIL"}}
}

// request returns a request for a server with the given behaviour.
func (h *testHost) request(mode, do, arg string) Request {
	h.t.Helper()
	settings, err := json.Marshal(map[string]string{"do": do, "arg": arg})
	if err != nil {
		h.t.Fatal(err)
	}
	return Request{Spec: h.spec(mode, ""), Component: "evil", Server: "s", MaxMessage: 1 << 20, Settings: settings}
}

// mustOpen opens a connection that must succeed. It is closed at the end of the test.
func (h *testHost) mustOpen(r Request) *Connection {
	h.t.Helper()
	c, err := h.Open(h.soon(), r)
	if err != nil {
		h.t.Fatalf("opening %s: %v\n%v", r.Settings, err, fault.As(err).Output)
	}
	h.t.Cleanup(func() { c.Close(0) })
	return c
}

// mustNotOpen opens a connection that must fail soon with the given code. The fault must
// contain all words.
func (h *testHost) mustNotOpen(r Request, code fault.Code, words ...string) *fault.Error {
	h.t.Helper()
	begun := time.Now()
	_, err := h.Open(h.soon(), r)
	if d := time.Since(begun); d > patience/2 {
		h.t.Errorf("Open took %s to fail", d)
	}
	return mustFail(h.t, err, code, words...)
}

func mustFail(t *testing.T, err error, code fault.Code, words ...string) *fault.Error {
	t.Helper()
	f := new(fault.Error)
	if !errors.As(err, &f) || f.Code != code {
		t.Fatalf("got %v (%T), want a fault of code %s", err, err, code)
	}
	text := strings.Join(append([]string{f.Message, f.Hint}, f.Output...), "\n")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("the fault does not contain %q:\n%s", w, text)
		}
	}
	return f
}

func (h *testHost) soon() context.Context {
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	h.t.Cleanup(cancel)
	return ctx
}

// pid returns the process id of the named plugin, or of the only one.
func (h *testHost) pid(name ...string) int {
	h.t.Helper()
	for _, s := range h.Status() {
		if s.PID != 0 && (len(name) == 0 || s.Name == name[0]) {
			return s.PID
		}
	}
	h.t.Fatal("no process is running")
	return 0
}

// echoes checks that a connection works.
func (c *Connection) echoes(t *testing.T) {
	t.Helper()
	const hello = `{"hello":"you"}`
	c.send(t, hello)
	if m, err := c.Read(); err != nil || string(m) != hello {
		t.Fatalf("got %q, %v", m, err)
	}
}

func (c *Connection) send(t *testing.T, message string) {
	t.Helper()
	if err := errors.Join(c.Write([]byte(message)), c.Flush()); err != nil {
		t.Fatal(err)
	}
}

// takes returns the duration of f. It fails the test if f takes longer than most.
func takes(t *testing.T, what string, most time.Duration, f func()) time.Duration {
	t.Helper()
	done := make(chan struct{})
	begun := time.Now()
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		panic(t.Name() + ": " + what + " does not return")
	}
	d := time.Since(begun)
	if os.Getenv("JUNCTOR_SOAK") == "" {
		most *= 5 // the machine may be busy
	}
	if d > most {
		t.Errorf("%s took %s, the limit is %s", what, d, most)
	}
	return d
}

// endAdopted kills the processes that a test left deliberately.
func endAdopted() { process.EndAdopted() }

func none[T any](list []T) error {
	if len(list) > 0 {
		return fmt.Errorf("%v remain", list)
	}
	return nil
}

func minus(list, less []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return slices.Contains(less, s) })
}

// marked returns the running processes whose environment or arguments contain a word.
func marked(word string) []string {
	var list []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		if pid == strconv.Itoa(os.Getpid()) || zombie(dir) {
			continue
		}
		args, _ := os.ReadFile(dir + "/cmdline")
		env, _ := os.ReadFile(dir + "/environ")
		if slices.Contains(strings.Split(string(args)+string(env), "\x00"), word) {
			list = append(list, pid+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return list
}

func zombie(dir string) bool {
	text, err := os.ReadFile(dir + "/stat")
	state := text[bytes.LastIndexByte(text, ')')+1:]
	return err != nil || len(state) < 2 || state[1] == 'Z' || state[1] == 'X'
}

// descriptors returns the open files of this process, except those of the runtime.
func descriptors() []string {
	var open []string
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/sys/") &&
			!strings.HasPrefix(target, "/proc/") {
			open = append(open, e.Name()+" "+target)
		}
	}
	return open
}

func kill(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// freeze stops a process and waits until all its threads have stopped.
func freeze(t *testing.T, pid int) {
	t.Helper()
	kill(t, pid, syscall.SIGSTOP)
	eventually.NoError(t, func() error {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, path := range threads {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // the thread has ended
			}
			if _, after, _ := strings.Cut(string(text), ") "); !strings.HasPrefix(after, "T") {
				return fmt.Errorf("a thread is not stopped: %s", text)
			}
		}
		return err
	})
}

// A logBuffer holds the log, up to a fixed size.
type logBuffer struct {
	mu    sync.Mutex
	text  []byte
	total int
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total += len(p)
	if len(b.text) < 8<<20 {
		b.text = append(b.text, p...)
	}
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

func (b *logBuffer) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}
