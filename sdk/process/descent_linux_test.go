package process

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// TestDescendantsAreRecognized: whatever the server of a plugin does to hide, it is recognized.
// A released process is not, and neither is one that this package did not start.
func TestDescendantsAreRecognized(t *testing.T) {
	const report = `grep "Max file locks" /proc/self/limits`
	for name, command := range map[string]string{
		"as it is":                   report,
		"with another environment":   "exec env -i /bin/sh -c '" + report + "'",
		"in a session of its own":    "exec setsid -w env -i /bin/sh -c '" + report + "'",
		"forked twice":               "( ( exec env -i /bin/sh -c '" + report + "' ) )",
		"in a PID namespace":         "unshare -U -r -p -f /bin/sh -c '" + report + "' || " + report,
		"with a soft limit":          "prlimit --pid $$ --locks=7:; " + report,
		"after it lowered the limit": "prlimit --pid $$ --locks=1000:1000; " + report,
		"after it raised the limit": "exec setpriv --bounding-set -sys_resource /bin/sh -c 'prlimit --pid $$ --locks=unlimited:unlimited 2>/dev/null; " +
			report + "'",
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], command)
			cmd.Env = as("pluginlike")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if most, err := locksIn(string(out)); err != nil || most >= ownLocks() {
				t.Errorf("the limit is %d, %v", most, err)
			}
		})
	}
	for name, want := range map[string]bool{"started": true, "released": false} {
		p := start(t, "read line; "+report, func(k *Command) { k.Release = name == "released" })
		if _, err := p.stdin.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
		if most, err := locksIn(p.rest()); err != nil || most < ownLocks() != want {
			t.Errorf("%s: the limit is %d, %v", name, most, err)
		}
	}
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got, err := IsDescendant(cmd.Process.Pid); got || err != nil {
		t.Errorf("a process of another package: %t, %v", got, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if got, err := IsDescendant(cmd.Process.Pid); got || err == nil {
		t.Errorf("a process that has ended: %t, %v", got, err)
	}
	if got, err := IsDescendant(os.Getpid()); got || err != nil {
		t.Errorf("this process: %t, %v", got, err)
	}
}

// TestMarkedProcessesMarkWhatTheyStart: what a program starts after it has marked itself is
// marked from the beginning, whatever starts it.
func TestMarkedProcessesMarkWhatTheyStart(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = as("marking")
	out, err := cmd.Output()
	if want := "false true true\n"; string(out) != want || err != nil {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// TestLimitedHostIsNoDescendant: a host that inherits a limit of locks from an administrator keeps it,
// and what it releases has it, too.
func TestLimitedHostIsNoDescendant(t *testing.T) {
	cmd := exec.Command("prlimit", "--locks=1000:1000", os.Args[0])
	cmd.Env = as("limited")
	out, err := cmd.Output()
	if want := "1000 1000\n1000 1000\n"; string(out) != want || err != nil {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// limited starts two released processes, and prints the limits of each and of itself.
func limited([]string) {
	for range 2 {
		r, w, _ := os.Pipe()
		p, err := Start(Command{Path: "/bin/cat", Args: []string{"cat", "/proc/self/limits"}, Env: os.Environ(),
			Stdout: w, Release: true})
		_ = w.Close()
		if err != nil {
			fmt.Println(err)
			return
		}
		out, _ := io.ReadAll(r)
		<-p.Done()
		child, _ := locksIn(string(out))
		own, _ := locksIn(string(read(os.Getpid(), "limits")))
		fmt.Println(child, own)
	}
}

// pluginlike marks itself, as a plugin does, and starts a shell with a command.
func pluginlike(args []string) {
	_ = MarkDescendants()
	p, err := Start(Command{Path: "/bin/sh", Args: sh(args[0]), Env: os.Environ(), Stdout: os.Stdout})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-p.Done()
}

// marking prints whether it is a descendant before and after it has marked itself, and whether
// its child is one.
func marking([]string) {
	before, _ := IsDescendant(os.Getpid())
	_ = MarkDescendants()
	after, _ := IsDescendant(os.Getpid())
	out, _ := exec.Command("cat", "/proc/self/limits").Output()
	most, err := locksIn(string(out))
	fmt.Println(before, after, err == nil && most < ownLocks())
}

// TestDaemonsEndWithTheirRun: what a run leaves behind ends with it, also if it cleared its
// environment and changed its session. What another run or the plugin's author started lives on.
func TestDaemonsEndWithTheirRun(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = as("daemons")
	out, err := cmd.Output()
	if want := "before 3\nafter one run 2\nafter both runs 1\n"; string(out) != want || err != nil {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// daemons is a plugin that starts two runs, and a program by other means, that each leave a
// daemon. It prints how many daemons there are.
func daemons([]string) {
	const daemon = "env -i setsid sh -c 'setsid sleep 1000 & setsid true' &\nwait"
	_, _ = MarkDescendants(), Adopt()
	count := func(when string, want int) {
		found := 0
		holdsWithin(patience, func() bool {
			found = len(adopted())
			return found == want
		})
		fmt.Println(when, found)
	}
	var runs [2]*Process
	var ends [2]*os.File
	for i := range runs {
		r, w, err := os.Pipe()
		if err != nil {
			fmt.Println(err)
			return
		}
		ends[i] = w
		if runs[i], err = Start(Command{Path: "/bin/sh", Args: sh(daemon + "; read line"), Env: os.Environ(),
			Stdin: r}); err != nil {
			fmt.Println(err)
			return
		}
		_ = r.Close()
	}
	other := exec.Command("/bin/sh", "-c", daemon)
	other.Env = []string{"PATH=" + os.Getenv("PATH"), RunVariable + "=" + Run()}
	_ = other.Run()
	count("before", 3)
	for i, when := range []string{"after one run", "after both runs"} {
		_ = ends[i].Close()
		<-runs[i].Done()
		count(when, 2-i)
	}
	EndAll(endTime)
}

// TestSiblingsEndWithTheirRun: a program that starts a process as a child of the plugin, and
// not as its own, does not leave it behind.
func TestSiblingsEndWithTheirRun(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = as("siblings")
	out, err := cmd.Output()
	if want := "before 1\nafter 0\n"; string(out) != want || err != nil {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// siblingsOfRun is a plugin that starts a run which leaves a sibling. It prints how many
// there are.
func siblingsOfRun([]string) {
	_, _ = MarkDescendants(), Adopt()
	runtime.LockOSThread() // so that another thread than the first one starts the run
	var run *Process
	count := func(when string, want int) {
		found := 0
		holdsWithin(patience, func() bool {
			if found = len(ownChildren()); run != nil && !closed(run.Done()) {
				found--
			}
			return found == want
		})
		fmt.Println(when, found)
	}
	r, w, err := os.Pipe()
	started := make(chan struct{})
	go func() {
		defer close(started)
		if err == nil {
			run, err = Start(Command{Path: "/proc/self/exe", Args: []string{"sibling"}, Env: as("sibling"), Stdin: r})
		}
	}()
	if <-started; err != nil {
		fmt.Println(err)
		return
	}
	_ = r.Close()
	count("before", 1)
	_ = w.Close()
	<-run.Done()
	count("after", 0)
	EndAll(endTime)
}

// sibling starts a process as a child of its own parent, and ends with its input.
func sibling([]string) {
	cmd := exec.Command("/bin/sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_PARENT, Setsid: true}
	cmd.Env = []string{}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// TestHostsThatJunctorStartedKnowTheUsersProcesses: a host that is itself a server of Junctor
// has the limit of a server. It recognizes other servers, and takes no process of the user for one.
func TestHostsThatJunctorStartedKnowTheUsersProcesses(t *testing.T) {
	p := start(t, "nested")
	if _, err := p.stdin.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.rest(), "self true parent false\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// nested prints whether it, and the process that started it, are descendants.
func nested([]string) {
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until it is marked
	self, _ := IsDescendant(os.Getpid())
	parent, _ := IsDescendant(syscall.Getppid())
	fmt.Println("self", self, "parent", parent)
}

func TestLocksInLimits(t *testing.T) {
	for text, want := range map[string]uint64{
		"Limit Soft Hard Units\nMax file locks            unlimited            unlimited            locks     \n": math.MaxUint64,
		"Max file locks            5            4611686018427387904            locks\nMax x 1 1\n":                1 << 62,
		"Max file locks            unlimited            0            locks\n":                                     0,
	} {
		if got, err := locksIn(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Max file size 1 1", "Max file locks ", "Max file locks 1",
		"Max file locks 1 many locks", "Max file locks 1 -1 locks"} {
		if got, err := locksIn(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestCarriesMark(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "A=1": false, RunVariable + "=1.a.b": true, RunVariable + "=": true, MarkVariable + "=1.2.3": true,
		MarkVariable + "=" + releasedMark: false, "X" + RunVariable + "=1": false, "A=" + RunVariable + "=1": false,
	} {
		if got := CarriesMark([]string{"HOME=/", text}); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
