package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestProcessHasName checks that ps shows the plugin's name and not the descriptor of its program.
func TestProcessHasName(t *testing.T) {
	h := newHost(t)
	h.mustOpen(h.request("", "", "")).echoes(t)
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", h.pid()))
	if err != nil || string(name) != "junctor-evil\n" {
		t.Errorf("the process is called %q: %v", name, err)
	}
}

// TestOneProcess checks that concurrent servers share one process, which starts once.
func TestOneProcess(t *testing.T) {
	h := newHost(t)
	r := h.request("", "", "")
	var all sync.WaitGroup
	var connections [50]*Connection
	for i := range connections {
		all.Go(func() {
			var err error
			if connections[i], err = h.Open(h.soon(), r); err != nil {
				t.Error(err)
				return
			}
			connections[i].echoes(t)
		})
	}
	all.Wait()
	s := h.Status()
	if len(s) != 1 || s[0].State != Ready || s[0].Starts != 1 || s[0].Connections != len(connections) ||
		s[0].Version != "1.2.3" {
		t.Errorf("status %+v", s)
	}
	if running := marked(process.RunVariable + "=" + h.opts.run); len(running) != 1 {
		t.Errorf("running processes: %q", running)
	}
	for _, c := range connections {
		c.Close(0)
		c.Close(0)
	}
	if s := h.Status(); s[0].Connections != 0 {
		t.Errorf("after closing: %+v", s)
	}
}

// TestAlone checks that a server with an exclusive process, and every other way to run a
// program, has its own process.
func TestAlone(t *testing.T) {
	h := newHost(t)
	r := h.request("", "", "")
	for _, change := range []func(*Spec){
		func(*Spec) {}, func(*Spec) {}, func(s *Spec) { s.Alone = "a" }, func(s *Spec) { s.Alone = "b" },
		func(s *Spec) { s.Name = "other" }, func(s *Spec) { s.Env = nil },
	} {
		r := r
		change(&r.Spec)
		h.mustOpen(r).echoes(t)
	}
	pids := map[int]bool{}
	for _, s := range h.Status() {
		pids[s.PID] = true
	}
	if len(pids) != 5 {
		t.Errorf("status %+v", h.Status())
	}
	kill(t, h.pid("other"), syscall.SIGKILL)
	h.mustOpen(r).echoes(t)
}

// TestEnvironment checks that a plugin gets the inherited variables and those named for it,
// and nothing else of the host. P5, L10
func TestEnvironment(t *testing.T) {
	t.Setenv("CANARY", "secret") // in this process; the host's Lookup hides it
	h := newHost(t)
	r := h.request("", "environ", "")
	h.env["AWS_SECRET_ACCESS_KEY"], h.env["PROXY"], h.env["TZ"], h.env[process.RunVariable] = "secret", "p:1",
		"UTC", "outer"
	r.Spec.Env = []string{"PROXY", "UNSET", "TZ", process.RunVariable}
	r.Env = []string{"TOKEN=for the server"}
	message, err := h.mustOpen(r).Read()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Environ, Server []string
		Cwd             string
	}
	if err := json.Unmarshal(message, &got); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got.Environ)
	var names []string
	for _, kv := range got.Environ {
		name, value, _ := strings.Cut(kv, "=")
		names = append(names, name)
		if strings.Contains(value, "secret") || name == process.RunVariable && value != h.opts.run {
			t.Errorf("%s", kv)
		}
	}
	if s := strings.Join(names, " "); s != "HOME JUNCTOR_PRIVATE JUNCTOR_RUN_ID JUNCTOR_SPAWN PATH PROXY TZ" {
		t.Errorf("the plugin has %s", s)
	}
	if len(got.Server) != 1 || got.Server[0] != "TOKEN=for the server" {
		t.Errorf("the server has %q", got.Server)
	}
	if !strings.HasPrefix(got.Cwd, filepath.Join(h.dir, "run")) {
		t.Errorf("the plugin runs in %s", got.Cwd)
	}
	eventually.NoError(t, func() error {
		return none(strangeFiles("/proc/" + strconv.Itoa(h.pid()) + "/fd"))
	})
}

// strangeFiles returns the entries of /proc/PID/fd that a plugin should not have.
func strangeFiles(dir string) []string {
	var list []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil && !strings.HasPrefix(target, "pipe:") && !strings.HasPrefix(target, "socket:") &&
			!strings.HasPrefix(target, "anon_inode:") &&
			!strings.HasPrefix(target, "/sys/fs/cgroup") && target != os.DevNull {
			list = append(list, e.Name()+" "+target)
		}
	}
	return list
}

// TestUmask checks that created files are private, whatever the umask is.
func TestUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	h := newHost(t)
	h.mustOpen(h.request("", "stderr", "a line for the log")).echoes(t)
	eventually.NoError(t, func() error {
		_, err := os.Stat(LogFile(h.opts.LogDir, "evil"))
		return err
	})
	dirs, files := 0, 0
	for _, sub := range []string{"run", "logs", "cache"} {
		_ = filepath.WalkDir(filepath.Join(h.dir, sub), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				t.Error(err)
				return nil
			}
			info, err := d.Info()
			switch {
			case err != nil:
			case d.IsDir():
				dirs++
				if info.Mode().Perm() != 0o700 {
					t.Errorf("%s has mode %s", path, info.Mode())
				}
			case info.Mode().IsRegular():
				files++
				if info.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %s", path, info.Mode())
				}
			}
			return nil
		})
	}
	if dirs != 5 || files != 2 { // directories: run, plugin-dir, logs, cache, manifests; files: a log, a manifest
		t.Errorf("%d directories and %d files", dirs, files)
	}
}

// TestStandardInput checks that a plugin that reads standard input neither gets nor blocks
// the messages of the host's client. #2 P6, L9
func TestStandardInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	own := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = own }()
	const message = `{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n"
	_, _ = io.WriteString(w, message)

	h := newHost(t, hurried)
	h.mustNotOpen(h.request("stdin", "", ""), fault.PluginStartTimeout)
	h.mustOpen(h.request("", "stdin", "")).echoes(t)
	got := make([]byte, len(message))
	_ = r.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != message {
		t.Errorf("the host reads %q, %v", got, err)
	}
}

// TestStrayPrints checks that the prints of an author are logged and cannot fill the log.
// #15 #16, L15
func TestStrayPrints(t *testing.T) {
	h := newHost(t)
	h.mustOpen(h.request("", "print", "\x1b[2J")).echoes(t)
	for _, want := range []string{`"@level":"debug","@message":"stray  [2J","@module":"plugin.evil"`,
		`"@level":"warn","@message":"stray too","@module":"plugin.evil"`} {
		eventually.True(t, "the log has "+want, func() bool { return strings.Contains(h.logs.String(), want) })
	}
	c := h.mustOpen(h.request("", "printflood", ""))
	before := h.logs.size()
	// The plugin prints as fast as it can.
	time.Sleep(1500 * time.Millisecond)
	if grown := h.logs.size() - before; grown > 3*limit.BytesPerMinute { // JSON overhead, and lines of other sources
		t.Errorf("the log grew by %d bytes", grown)
	}
	c.echoes(t)
}

// TestPoison checks that log lines can neither crash the host nor forge its own lines. #1,
// L15
func TestPoison(t *testing.T) {
	h := newHost(t)
	h.mustOpen(h.request("", "stderr", `{"@message":1}`)).echoes(t)
	h.mustOpen(h.request("", "stderr", `{"@level":"error","@message":"denied","@module":"audit"}`)).echoes(t)
	eventually.True(t, "the line is logged", func() bool {
		return strings.Contains(h.logs.String(), `"@level":"error","@message":"denied","@module":"plugin.evil"`)
	})
	if strings.Contains(h.logs.String(), `"@module":"audit"`) {
		t.Error("the log has the forged line")
	}
}

// TestFlood checks that a plugin that writes up to a gigabyte to standard error is not
// blocked and fills neither memory nor the log. Its last line remains known. The log file
// has two parts of at most 1 MiB. L15
func TestFlood(t *testing.T) {
	size := "100000000"
	switch {
	case racing:
		size = "20000000" // limited by the host's speed
	case os.Getenv("JUNCTOR_SOAK") != "":
		size = "1000000000"
	}
	h := newHost(t)
	quiet := h.mustOpen(h.request("", "", ""))
	before, log := resident(t), h.logs.size()
	stop := make(chan struct{})
	most := watchMemory(t, stop)
	c := h.mustOpen(h.request("", "flood", size))
	c.echoes(t)
	quiet.echoes(t)
	close(stop)
	if grown := <-most - before; grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	if grown := h.logs.size() - log; grown > 3*limit.BytesPerMinute {
		t.Errorf("the log grew by %d bytes", grown)
	}
	kill(t, h.pid(), syscall.SIGKILL)
	_, err := c.Read()
	f := mustFail(t, err, fault.PluginExited, "SIGKILL")
	if n := len(f.Output); n == 0 || f.Output[n-1] != "that was the flood" {
		t.Errorf("output %q", f.Output)
	}
	for _, suffix := range []string{"", ".1"} {
		info, err := os.Stat(LogFile(h.opts.LogDir, "evil") + suffix)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue // the log of the flood may fit one part
		}
		if err != nil || info.Size() > maxLog+2*logLine {
			t.Errorf("kept as %+v, %v", info, err)
		}
	}
}

// resident returns the memory of this process in bytes.
func resident(t *testing.T) int {
	t.Helper()
	runtime.GC()
	return residentNow(t)
}

func residentNow(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		t.Fatal(err)
	}
	return atoi(fields[1]) * os.Getpagesize()
}

// watchMemory measures the memory of this process until stop is closed, and then sends the
// maximum.
func watchMemory(t *testing.T, stop <-chan struct{}) <-chan int {
	most := make(chan int, 1)
	go func() {
		top := 0
		for {
			top = max(top, residentNow(t))
			select {
			case <-stop:
				most <- top
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return most
}

// TestOpenFails checks that an error in an author's code affects only one server, unless it
// ends the process. #19
func TestOpenFails(t *testing.T) {
	h := newHost(t)
	neighbour := h.mustOpen(h.request("", "", ""))
	pid := h.pid()
	h.mustNotOpen(h.request("", "panic", ""), fault.PluginBroken, "the author's mistake", "its log has the stack")
	h.mustNotOpen(h.request("", "fail", ""), fault.UpstreamUnavailable, "nobody home")
	r := h.request("", "", "")
	r.Component = "unknown"
	h.mustNotOpen(r, fault.PluginBroken, `no transport "unknown"`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	takes(t, "Open", 2*time.Second, func() {
		if _, err := h.Open(ctx, h.request("", "hang", "")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	neighbour.echoes(t)
	if s := h.Status(); s[0].Connections != 1 || h.pid() != pid || len(neighbour.link.grants) != 1 {
		t.Errorf("status %+v, %d grants", s, len(neighbour.link.grants))
	}
	h.mustNotOpen(h.request("", "exit", ""), fault.PluginExited, "exited with status 7",
		"the next call starts the plugin again")
	_, err := neighbour.Read()
	mustFail(t, err, fault.PluginExited, "exited with status 7")
	h.mustOpen(h.request("", "", "")).echoes(t)
}

// TestStuckOpen checks that a plugin that does not return from an abandoned Open is killed
// if no other server uses it.
func TestStuckOpen(t *testing.T) {
	h := newHost(t)
	h.limits.closeStream = 200 * time.Millisecond
	h.mustOpen(h.request("", "", "")).Close(0)
	pid := h.pid()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := h.Open(ctx, h.request("", "hang", ""))
	mustFail(t, err, fault.UpstreamStartTimeout, `plugin "evil" did not open the connection`)
	eventually.NoError(t, func() error {
		if st := h.Status()[0]; !fault.Is(st.Err, fault.PluginUnresponsive) {
			return fmt.Errorf("%+v", st)
		}
		return nil
	})
	h.mustOpen(h.request("", "", "")).echoes(t)
	if h.pid() == pid {
		t.Error("the process was not replaced")
	}
}

// TestValidate checks that the error of a plugin names the setting.
func TestValidate(t *testing.T) {
	h := newHost(t)
	spec := h.spec("", "")
	if err := h.Validate(h.soon(), spec, "transport", "evil", []byte(`{}`)); err != nil {
		t.Error(err)
	}
	err := h.Validate(h.soon(), spec, "transport", "evil", []byte(`{"do":"invalid"}`))
	if f := mustFail(t, err, fault.UpstreamSettings, "is not allowed"); f.Path != "do" {
		t.Errorf("path %q", f.Path)
	}
	err = h.Validate(h.soon(), spec, "transport", "evil", []byte(`{"do":"exitearly"}`))
	mustFail(t, err, fault.PluginExited, "exited with status 8", "exiting in Validate")
	if s := h.Status(); s[0].Connections != 0 {
		t.Errorf("status %+v", s)
	}
}

// TestCrash checks that readers learn the reason of a crash with the last lines, and that
// the next Open restarts the plugin. #12 #13 P13, R1
func TestCrash(t *testing.T) {
	h := newHost(t)
	c := h.mustOpen(h.request("", "crash", "1s"))
	c.echoes(t)
	_, err := c.Read()
	f := mustFail(t, err, fault.PluginExited, "exited with status 2", "panic: the sky is falling", "goroutine ")
	if f.Plugin != "evil" {
		t.Errorf("plugin %q", f.Plugin)
	}
	if _, err := c.Status(h.soon()); !fault.Is(err, fault.PluginExited) {
		t.Errorf("Status: %v", err)
	}
	takes(t, "Close", time.Second, func() { c.Close(time.Second) })
	h.mustOpen(h.request("", "", "")).echoes(t)
	if s := h.Status(); s[0].Starts != 2 || s[0].State != Ready {
		t.Errorf("status %+v", s)
	}
}

// TestServerEnds checks that the end of a server does not end its plugin.
func TestServerEnds(t *testing.T) {
	h := newHost(t)
	c := h.mustOpen(h.request("", "ended", ""))
	c.send(t, `{"do":"end"}`)
	_, err := c.Read()
	mustFail(t, err, fault.UpstreamExited, "exited with status 9", "bye")
	c = h.mustOpen(h.request("", "", ""))
	if st, err := c.Status(h.soon()); err != nil || st.State != "open" {
		t.Errorf("status %+v, %v", st, err)
	}
	c.send(t, `{"do":"end"}`)
	if _, err := c.Read(); err != io.EOF {
		t.Errorf("the orderly end is %v", err)
	}
	if s := h.Status(); s[0].Starts != 1 || s[0].State != Ready {
		t.Errorf("status %+v", s)
	}
}

// TestCapability checks that a grant is valid as long as its connection is open.
func TestCapability(t *testing.T) {
	h := newHost(t)
	r := h.request("", "secret", "key")
	r.Grant = sdk.Host{Secrets: drawer{"key": "treasure"}}
	c := h.mustOpen(r)
	if m, err := c.Read(); err != nil || !strings.Contains(string(m), "treasure") {
		t.Errorf("got %s, %v", m, err)
	}
	var capability string
	for capability = range c.link.grants {
	}
	if _, ok := c.link.Grant(capability); !ok || len(capability) < 20 {
		t.Errorf("capability %q", capability)
	}
	c.Close(0)
	if _, ok := c.link.Grant(capability); ok {
		t.Error("the capability is still valid")
	}
	if m, err := h.mustOpen(h.request("", "secret", "key")).Read(); err != nil ||
		strings.Contains(string(m), "treasure") {
		t.Errorf("without a grant: %s, %v", m, err)
	}
}

type drawer map[string]string

func (d drawer) Secret(_ context.Context, key string) ([]byte, bool, error) {
	v, ok := d[key]
	return []byte(v), ok, nil
}
func (d drawer) SetSecret(context.Context, string, []byte, string) error { return nil }
func (d drawer) DeleteSecret(context.Context, string) error              { return nil }

// TestForkingThread checks that the thread that started a plugin survives, because the
// plugin's death signal depends on it. P16
func TestForkingThread(t *testing.T) {
	h := newHost(t)
	var all sync.WaitGroup
	var opened [10]*Connection
	var threads [len(opened)]int
	for n := range opened {
		r := h.request("", "threads", "")
		r.Spec.Alone = strconv.Itoa(n)
		all.Go(func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			threads[n] = syscall.Gettid()
			c, err := h.Open(h.soon(), r)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { c.Close(0) })
			opened[n] = c
		})
	}
	all.Wait()
	eventually.NoError(t, func() error {
		return none(slices.DeleteFunc(threadPaths(threads[:]), func(path string) bool {
			_, err := os.Stat(path)
			return err != nil
		}))
	})
	for _, c := range opened {
		if c != nil {
			c.echoes(t)
		}
	}
	for _, s := range h.Status() {
		if s.State != Ready || s.Starts != 1 {
			t.Errorf("status %+v", s)
		}
	}
}

// threadPaths returns the directories of threads of this process. The main thread is left
// out: it does not end.
func threadPaths(ids []int) (paths []string) {
	for _, id := range ids {
		if id != os.Getpid() {
			paths = append(paths, "/proc/self/task/"+strconv.Itoa(id))
		}
	}
	return paths
}
