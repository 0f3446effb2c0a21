package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The tests start real processes: this test binary again, which becomes one of
// the programs below when helperVariable names it.
const (
	helperVariable = "PROCESS_TEST_PROGRAM"
	familyVariable = "PROCESS_TEST_FAMILY" // inherited by all that one test starts
)

// patience is how long a test waits for what should come at once.
const patience = 20 * time.Second

var programs = map[string]func(args []string){
	"sleep":   func([]string) { select {} },
	"exit":    func(args []string) { n, _ := strconv.Atoi(args[0]); os.Exit(n) },
	"signal":  func(args []string) { n, _ := strconv.Atoi(args[0]); raise(syscall.Signal(n)) },
	"environ": func([]string) { fmt.Print(strings.Join(os.Environ(), "\n")) },
	"descriptors": func([]string) {
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			target, err := os.Readlink("/proc/self/fd/" + e.Name())
			if err == nil && !strings.HasPrefix(target, "anon_inode:") { // the runtime's own
				fmt.Println(e.Name(), target)
			}
		}
	},
	"polite": func([]string) {
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println("ready")
		<-term
		fmt.Println("terminated")
		os.Exit(7)
	},
	"family":    family,
	"forkexit":  func([]string) { child(nil, "sleep").Process.Release(); os.Exit(0) },
	"parent":    parent,
	"endall":    endAll,
	"endothers": endOthers,
	"execwait":  execWait,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVariable); name != "" {
		programs[name](os.Args[1:])
		os.Exit(0)
	}
	// What Adopt and the first Start begin lasts as long as the program.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"),
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.Adopt.func1.1"),
		goleak.IgnoreTopFunction("os/signal.signal_recv"),
		goleak.IgnoreTopFunction("os/signal.loop"))
}

func raise(s syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), s)
	select {}
}

// child starts a program with package os/exec, as strangers do.
func child(attr *syscall.SysProcAttr, name string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), helperVariable+"="+name)
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return cmd
}

// family has children of every kind: one of its own, one in a session of its
// own, one whose parent is gone, one that both and forgot its environment. It
// says "ready" and ends with its input.
func family([]string) {
	child(nil, "sleep")
	child(&syscall.SysProcAttr{Setpgid: true}, "sleep")
	child(&syscall.SysProcAttr{Setsid: true}, "sleep")
	_ = child(&syscall.SysProcAttr{Setsid: true}, "forkexit").Wait()
	_ = child(nil, "forkexit").Wait()
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString(0)
}

// parent starts programs with this package, says their numbers, and waits.
func parent(args []string) {
	for _, name := range args {
		p, err := Start(Command{
			Path: "/proc/self/exe", Args: []string{"x"}, Env: append(os.Environ(), helperVariable+"="+name),
			Soft: name == "polite", Stdout: os.Stdout,
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if name != "polite" {
			fmt.Println(p.PID())
		}
	}
	fmt.Println("ready")
	select {}
}

// endAll has descendants of every kind, some that nobody could know, and ends
// them all.
func endAll([]string) {
	_ = Adopt()
	for range 3 {
		startFamily()
	}
	cmd := child(&syscall.SysProcAttr{Setsid: true}, "forkexit")
	_ = cmd.Wait()
	forgetful := exec.Command("/proc/self/exe")
	forgetful.Env = []string{helperVariable + "=sleep", familyVariable + "=" + os.Getenv(familyVariable)}
	forgetful.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = forgetful.Start()
	EndAll(patience)
	fmt.Println("left:", len(children(os.Getpid())))
}

// endOthers ends what was left to it, and nothing that it started.
func endOthers([]string) {
	_ = Adopt()
	p := startFamily()
	_ = syscall.Kill(p.PID(), syscall.SIGSTOP) // it cannot end and be cleaned up after
	q, _ := Start(Command{Path: "/proc/self/exe", Env: append(os.Environ(), helperVariable+"=sleep")})
	EndAdopted()
	for _, pid := range adopted() {
		if s, ok := statOf(pid); ok && !s.dead {
			fmt.Println("left:", pid)
		}
	}
	for _, own := range []*Process{p, q} {
		if own.Ended() != "" {
			fmt.Println("ended:", own.Ended())
		}
	}
	fmt.Println("done")
	EndAll(patience)
}

// execWait starts programs with package os/exec, of which this package must not
// take the exit status.
func execWait([]string) {
	_ = Adopt()
	for i := range 60 {
		var attr *syscall.SysProcAttr
		if i%2 == 1 {
			attr = &syscall.SysProcAttr{Setpgid: true}
		}
		cmd := child(attr, "exit", "3")
		if i%3 == 0 { // one that is waited for late
			p, _ := Start(Command{Path: "/proc/self/exe", Args: []string{"x", "0"}, Env: append(os.Environ(), helperVariable+"=exit")})
			<-p.Done()
			time.Sleep(5 * time.Millisecond)
		}
		if _ = cmd.Wait(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
			fmt.Println("lost the status of", i, cmd.ProcessState)
		}
	}
	fmt.Println("done")
}

// startFamily starts a family and waits until it is complete.
func startFamily() *Process {
	r, w, _ := os.Pipe()
	in, _, _ := os.Pipe()
	p, err := Start(Command{Path: "/proc/self/exe", Args: []string{"family"}, Env: append(os.Environ(), helperVariable+"=family"), Stdin: in, Stdout: w})
	if err != nil {
		panic(err)
	}
	w.Close()
	_, _ = bufio.NewReader(r).ReadString('\n')
	return p
}

// A run is a program that a test started.
type run struct {
	*Process
	t      *testing.T
	family string
	stdin  *os.File
	out    *bufio.Reader
}

var families int

// start starts a program with this package. Nothing of it is left when the test
// ends.
func start(t *testing.T, change func(*Command), name string, args ...string) *run {
	t.Helper()
	families++
	family := fmt.Sprintf("%d-%d-%s", os.Getpid(), families, name)
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	c := Command{
		Path: "/proc/self/exe", Args: append([]string{name}, args...), Stdin: inR, Stdout: outW,
		Env: []string{helperVariable + "=" + name, familyVariable + "=" + family},
	}
	if change != nil {
		change(&c)
	}
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	t.Cleanup(func() {
		p.Kill()
		if !p.Wait(patience) {
			t.Errorf("%s does not end", name)
		}
		for _, pid := range members(family) { // only when the test has failed
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return &run{Process: p, t: t, family: family, stdin: inW, out: bufio.NewReader(outR)}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// line reads one line that the program prints.
func (r *run) line() string {
	r.t.Helper()
	s, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Errorf("after %q: %v", s, err)
	}
	return strings.TrimSpace(s)
}

// rest reads what the program prints until it ends.
func (r *run) rest() string {
	var b bytes.Buffer
	_, _ = b.ReadFrom(r.out)
	return b.String()
}

// members returns the living processes of a family.
func members(family string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err == nil && bytes.Contains(env, []byte(familyVariable+"="+family+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// count waits until a family has n living members.
func (r *run) count(n int) {
	r.t.Helper()
	var got []int
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(time.Millisecond) {
		if got = members(r.family); len(got) == n {
			return
		}
	}
	r.t.Errorf("the family has %d members, want %d: %v", len(got), n, got)
}

// descriptors counts what this process has open.
func descriptors() int {
	runtime.GC() // a file that nobody closed closes itself, which is not a leak of ours
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}
