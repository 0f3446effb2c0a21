package process

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestEnded(t *testing.T) {
	for _, c := range []struct {
		command, want string
		code          int
	}{
		{"exit 0", "exited with status 0", 0},
		{"exit 3", "exited with status 3", 3},
		{"exit 127", "exited with status 127", 127},
		{"kill -KILL $$", "was killed by SIGKILL (killed)", -1},
		{"kill -TERM $$", "was killed by SIGTERM (terminated)", -1},
		{"kill -SEGV $$", "was killed by SIGSEGV (segmentation fault)", -1},
		{"kill -USR1 $$", "was killed by user defined signal 1", -1},
	} {
		t.Run(c.command, func(t *testing.T) {
			p := start(t, c.command)
			<-p.Done()
			if p.Ended() != c.want || p.ExitCode() != c.code || !p.Wait(time.Second) {
				t.Errorf("it %s, code %d", p.Ended(), p.ExitCode())
			}
		})
	}
	p := start(t, "sleep")
	if p.Ended() != "" || p.ExitCode() != -1 || p.Wait(10*time.Millisecond) {
		t.Errorf("running process: Ended() = %q, ExitCode() = %d", p.Ended(), p.ExitCode())
	}
	if describe(nil) == "" {
		t.Error("describe(nil) is empty")
	}
}

func TestStartFails(t *testing.T) {
	before := descriptors()
	for _, c := range []struct {
		name string
		c    Command
		want error
	}{
		{"no file", Command{Path: "/nowhere/program"}, fs.ErrNotExist},
		{"a directory", Command{Path: "/"}, fs.ErrPermission},
		{"no directory to run in", Command{Path: "/proc/self/exe", Dir: "/nowhere"}, fs.ErrNotExist},
	} {
		_, err := Start(c.c)
		var pe *fs.PathError
		if !errors.Is(err, c.want) || !errors.As(err, &pe) || pe.Path != c.c.Path {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if after := descriptors(); !slices.Equal(after, before) {
		t.Errorf("open descriptors %q, before the test %q", after, before)
	}
}

// TestInherits checks that a process inherits only the given environment, its
// mark and the standard streams.
func TestInherits(t *testing.T) {
	t.Setenv("CANARY", "secret")
	p := start(t, "environ")
	env := strings.Split(p.rest(), "\n")
	if len(env) != 3 || !slices.Contains(env, MarkVariable+"="+p.mark) ||
		!slices.Contains(env, familyVariable+"="+p.family) {
		t.Errorf("environment %q", env)
	}
	other := start(t, "exit 0")
	if other.mark == p.mark {
		t.Error("two processes have the same mark")
	}
	// Go marks its own files close-on-exec. This descriptor is like one that a
	// C library opened.
	inherited, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	p = start(t, "descriptors")
	var got []string
	for line := range strings.Lines(p.rest()) {
		number, _, _ := strings.Cut(line, " ")
		got = append(got, number)
	}
	if !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("descriptors %q", got)
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "pwd -P", func(c *Command) { c.Dir = dir })
	want, _ := filepath.EvalSymlinks(dir)
	if got := p.line(); got != want {
		t.Errorf("runs in %s, not %s", got, want)
	}
}

// TestFile checks that Command.File is executed although its path names another
// file.
func TestFile(t *testing.T) {
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, shell, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 99\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, "exit 5", func(c *Command) { c.Path, c.File = path, f })
	<-p.Done()
	if p.ExitCode() != 5 {
		t.Errorf("it %s", p.Ended())
	}
}

func TestTerminate(t *testing.T) {
	p := start(t, "polite")
	p.line()
	p.Terminate()
	if got := p.rest(); got != "terminated\n" {
		t.Errorf("output is %q", got)
	}
	<-p.Done()
	if p.ExitCode() != 7 {
		t.Errorf("it %s", p.Ended())
	}
	p.Terminate() // no effect after the end
	p.Kill()
}

// TestFamily checks that no descendant of a process is left after its end,
// however it ends.
func TestFamily(t *testing.T) {
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		end  func(*run)
	}{
		{"in order", func(p *run) { p.stdin.Close() }},
		{"killed by us", func(p *run) { p.Kill() }},
		{"killed by another process", func(p *run) { _ = syscall.Kill(p.PID(), syscall.SIGKILL) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bystander := start(t, "family")
			p := start(t, "family")
			for _, r := range []*run{p, bystander} {
				r.line()
				r.count(6)
			}
			c.end(p)
			if !p.Wait(patience) {
				t.Fatal("it does not end")
			}
			if left := members(p.family); len(left) > 0 {
				t.Errorf("it %s and left %v", p.Ended(), left)
			}
			bystander.count(6) // the other family is untouched
			bystander.Kill()
			<-bystander.Done()
			bystander.count(0)
		})
	}
}

// TestBegins checks that descendants are killed that are in exec when their
// parent ends, and have no readable environment.
func TestBegins(t *testing.T) {
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	rounds := 40
	if testing.Short() {
		rounds = 20
	}
	var all []*run
	for range rounds {
		p := start(t, `setsid sh -c 'sleep 1000; :' & setsid sleep 1000 & exit 0`)
		all = append(all, p)
		if !p.Wait(patience) {
			t.Fatal("it does not end")
		}
	}
	time.Sleep(20 * time.Millisecond) // until exec is over
	for _, p := range all {
		p.count(0)
	}
}

// orphaned starts a process that starts children, and kills it when they run.
// It returns the further output of the children and their family.
func orphaned(t *testing.T, children ...string) (*bufio.Reader, string) {
	t.Helper()
	r, w := pipe(t)
	families++
	family := strconv.Itoa(os.Getpid()) + "-orphans-" + strconv.Itoa(families)
	parent := exec.Command("/proc/self/exe", children...)
	parent.Env, parent.Stdout = append(as("parent"), familyVariable+"="+family), w
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	out := bufio.NewReader(r)
	for range len(children) + 1 { // one line from each child and one from the parent
		if _, err := out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	(&run{t: t, family: family}).count(len(children) + 1)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	return out, family
}

// TestParentDies checks that children end with the process that started them.
func TestParentDies(t *testing.T) {
	_, family := orphaned(t, "sleep", "sleep", "sleep")
	(&run{t: t, family: family}).count(0)
}

// TestSoft checks that a child with Soft receives SIGTERM when its parent dies.
func TestSoft(t *testing.T) {
	out, family := orphaned(t, "polite")
	if got, _ := out.ReadString('\n'); got != "terminated\n" {
		t.Errorf("the child said %q", got)
	}
	(&run{t: t, family: family}).count(0)
}

// TestThreads checks that children survive the end of threads of their parent.
// The death signal depends on the thread that forked.
func TestThreads(t *testing.T) {
	var mu sync.Mutex
	var started []*run
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			runtime.LockOSThread() // without unlocking, so that the thread ends with the goroutine
			mu.Lock()
			defer mu.Unlock()
			started = append(started, start(t, "sleep"))
		})
	}
	wg.Wait()
	for range 50 {
		wg.Go(func() { runtime.LockOSThread() })
	}
	wg.Wait()
	time.Sleep(50 * time.Millisecond) // a thread ends after its goroutine, and a signal follows
	for _, p := range started {
		if p.Ended() != "" {
			t.Fatalf("a child %s", p.Ended())
		}
	}
}

// TestMany checks that concurrent starts and ends leak no process or
// descriptor.
func TestMany(t *testing.T) {
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	before := descriptors()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				code := 1 + (i+j)%5
				p, err := Start(Command{Path: "/bin/sh", Args: sh("exit " + strconv.Itoa(code))})
				if err != nil {
					t.Error(err)
					return
				}
				if j%3 == 0 {
					p.Kill()
				}
				<-p.Done()
				if got := p.ExitCode(); got != code && (j%3 != 0 || got != -1) {
					t.Errorf("it %s, want status %d", p.Ended(), code)
				}
			}
		})
	}
	wg.Wait()
	if after := descriptors(); !slices.Equal(after, before) {
		t.Errorf("open are %q, before %q", after, before)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(tracked) > 0 {
		t.Errorf("still tracks %v", tracked)
	}
}

// TestEndings runs in their own process the programs that end all children.
func TestEndings(t *testing.T) {
	for program, want := range map[string]string{"endall": "left: 0\n", "endothers": "done\n",
		"execwait": "done\n", "execdrop": "done\n"} {
		t.Run(program, func(t *testing.T) {
			p := start(t, program)
			if got := p.rest(); got != want {
				t.Errorf("it said %q", got)
			}
			<-p.Done()
			p.count(0)
		})
	}
}

func TestChildrenByScan(t *testing.T) {
	p := start(t, "sleep")
	for _, list := range [][]int{children(os.Getpid()), childrenByScan(os.Getpid())} {
		if !slices.Contains(list, p.PID()) {
			t.Errorf("%v lacks %d", list, p.PID())
		}
	}
	if got := childrenByScan(p.PID()); len(got) > 0 {
		t.Errorf("it has children: %v", got)
	}
	if _, ok := statOf(1 << 30); ok {
		t.Error("a process that does not exist has a state")
	}
}

// TestStale checks that only processes of a host that has certainly ended are
// stale.
func TestStale(t *testing.T) {
	own := Run()
	parts := strings.Split(own, ".")
	if len(parts) != 3 {
		t.Fatalf("Run() = %q", own)
	}
	pid, space, begun := parts[0], parts[1], parts[2]
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	gone := strconv.Itoa(ended.Process.Pid)
	for run, want := range map[string]bool{
		own:                              false,
		pid + "." + space + ".1":         true, // the id was reused
		gone + "." + space + "." + begun: true,
		gone + ".1." + begun:             false, // another PID namespace
		gone + "." + begun:               false,
		gone:                             false,
		gone + ".":                       false,
		"x." + space + "." + begun:       false,
		"outer":                          false,
		"":                               false,
	} {
		if got := stale([]byte("A=1\x00" + RunVariable + "=" + run + "\x00B=2")); got != want {
			t.Errorf("%s: stale is %t", run, got)
		}
	}
	if stale([]byte("X" + RunVariable + "=" + gone + "." + space + "." + begun)) {
		t.Error("a variable whose name only ends in RunVariable counts")
	}
}
