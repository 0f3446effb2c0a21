package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The tests start real processes. Programs that only sleep or exit are shells.
// The others are this test binary, which runs the program that helperVariable
// names. Starting it with the race detector is slow.
const (
	helperVariable = "PROCESS_TEST_PROGRAM"
	familyVariable = "PROCESS_TEST_FAMILY" // inherited by all processes of one test
)

// patience is the timeout for events that normally happen at once.
const patience = 20 * time.Second

var programs = map[string]func(args []string){
	"environ": func([]string) { fmt.Print(strings.Join(os.Environ(), "\n")) },
	"descriptors": func([]string) {
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			target, err := os.Readlink("/proc/self/fd/" + e.Name())
			own := strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, "/sys/fs/cgroup") ||
				strings.HasPrefix(target, "/proc/")
			if err == nil && !own { // own: opened by the runtime and by this listing
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
	"family":     family,
	"parent":     parent,
	"endall":     endAll,
	"endothers":  endOthers,
	"execwait":   execWait,
	"execdrop":   execDrop,
	"letgo":      letGo,
	"marking":    marking,
	"limited":    limited,
	"nested":     nested,
	"daemons":    daemons,
	"siblings":   siblingsOfRun,
	"sibling":    sibling,
	"pluginlike": pluginlike,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVariable); name != "" {
		programs[name](os.Args[1:])
		os.Exit(0)
	}
	// The goroutines of Adopt and of the first Start last as long as the
	// program.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"),
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.reapAdopted"),
		goleak.IgnoreTopFunction("os/signal.signal_recv"),
		goleak.IgnoreTopFunction("os/signal.loop"))
}

// as returns an environment in which this binary runs one of the programs.
func as(name string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, helperVariable+"=") })
	return append(env, helperVariable+"="+name)
}

// sh returns the arguments of a shell that runs command: "sleep", "exit N" or
// any other.
func sh(command string) []string {
	if command == "sleep" {
		command = "exec sleep 1000"
	}
	return []string{"/bin/sh", "-c", command}
}

// child starts a shell with package os/exec, as a plugin author's code may do.
func child(attr *syscall.SysProcAttr, command string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", sh(command)[1:]...)
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return cmd
}

// family starts one child in its own process group, one in a new group and one
// in a new session. It also leaves two orphans, one of them in a new session.
// It prints "ready" and ends with its standard input.
func family([]string) {
	child(nil, "sleep")
	child(&syscall.SysProcAttr{Setpgid: true}, "sleep")
	child(&syscall.SysProcAttr{Setsid: true}, "sleep")
	_ = child(&syscall.SysProcAttr{Setsid: true}, "sleep 1000 & exit").Wait()
	_ = child(nil, "sleep 1000 & exit").Wait()
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString(0)
}

// parent starts programs with this package, prints "ready" and waits.
func parent(args []string) {
	for _, name := range args {
		c := Command{Path: "/proc/self/exe", Args: []string{name}, Env: as(name), Soft: true, Stdout: os.Stdout}
		if name != "polite" {
			c.Path, c.Args, c.Soft = "/bin/sh", sh("echo ready; exec sleep 1000"), false
		}
		if _, err := Start(c); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour) // until the test kills it
}

// endAll starts descendants of every kind, including one without MarkVariable,
// and ends them with EndAll.
func endAll([]string) {
	_ = Adopt()
	for range 3 {
		startFamily()
	}
	_ = child(&syscall.SysProcAttr{Setsid: true}, "sleep 1000 & exit").Wait()
	child(&syscall.SysProcAttr{Setsid: true}, "unset "+MarkVariable+"; exec sleep 1000")
	EndAll(patience)
	fmt.Println("left:", len(children(os.Getpid())))
}

// endOthers checks that EndAdopted ends adopted processes and no others.
func endOthers([]string) {
	_ = Adopt()
	p := startFamily()
	_ = syscall.Kill(p.PID(), syscall.SIGSTOP) // so that it does not end and clean up
	q, _ := Start(Command{Path: "/bin/sh", Args: sh("sleep"), Env: os.Environ()})
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

// execWait checks that this package does not reap children of package os/exec,
// whose exit status would be lost.
func execWait([]string) {
	_ = Adopt()
	for i := range 60 {
		var attr *syscall.SysProcAttr
		if i%2 == 1 {
			attr = &syscall.SysProcAttr{Setpgid: true}
		}
		cmd := child(attr, "exit 3")
		if i%3 == 0 { // call Wait late
			p, _ := Start(Command{Path: "/bin/sh", Args: sh("exit 0")})
			<-p.Done()
			time.Sleep(5 * time.Millisecond) // this package could reap the other child meanwhile
		}
		if _ = cmd.Wait(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
			fmt.Println("lost the status of", i, cmd.ProcessState)
		}
	}
	fmt.Println("done")
}

// execDrop starts programs with package os/exec without waiting for them. This
// package reaps them in the end.
func execDrop([]string) {
	unclaimed = 50 * time.Millisecond
	_ = Adopt()
	child(nil, "exit 0")
	child(&syscall.SysProcAttr{Setpgid: true}, "exit 0")
	if !holdsWithin(patience, func() bool { return len(children(os.Getpid())) == 0 }) {
		fmt.Println("left:", children(os.Getpid()))
	}
	fmt.Println("done")
}

var kept []*os.File // referenced, so that their finalizers do not close them

// startFamily starts a family and waits until it is complete.
func startFamily() *Process {
	r, w, _ := os.Pipe()
	in, inW, _ := os.Pipe()
	kept = append(kept, inW) // closing it would end the family
	p, err := Start(Command{Path: "/proc/self/exe", Args: []string{"family"}, Env: as("family"), Stdin: in, Stdout: w})
	if err != nil {
		panic(err)
	}
	w.Close()
	_, _ = bufio.NewReader(r).ReadString('\n')
	return p
}

// A run is a program that a test started. Its family is the value of
// familyVariable.
type run struct {
	*Process
	t      *testing.T
	family string
	stdin  *os.File
	out    *bufio.Reader
}

var families int

// start starts one of the programs, or a shell, with this package. The test's
// cleanup ends it.
func start(t *testing.T, name string, change ...func(*Command)) *run {
	t.Helper()
	families++
	family := fmt.Sprintf("%d-%d", os.Getpid(), families)
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	c := Command{Path: "/bin/sh", Args: sh(name), Stdin: inR, Stdout: outW,
		Env: []string{familyVariable + "=" + family}}
	if programs[name] != nil {
		c.Path, c.Args, c.Env = "/proc/self/exe", []string{name}, append(c.Env, helperVariable+"="+name)
	}
	for _, f := range change {
		f(&c)
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
		if t.Failed() {
			for _, pid := range members(family) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
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

// line returns the next line that the program prints.
func (r *run) line() string {
	r.t.Helper()
	s, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Errorf("after %q: %v", s, err)
	}
	return strings.TrimSpace(s)
}

// rest returns the output of the program until it ends.
func (r *run) rest() string {
	var b bytes.Buffer
	_, _ = b.ReadFrom(r.out)
	return b.String()
}

// members returns the ids of the living processes of a family.
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

// count waits until the family has n living members.
func (r *run) count(n int) {
	r.t.Helper()
	var got []int
	if !holdsWithin(patience, func() bool {
		got = members(r.family)
		return len(got) == n
	}) {
		r.t.Errorf("the family has %d members, want %d: %v", len(got), n, got)
	}
}

// holdsWithin calls holds until it returns true or the limit has passed. It returns the last
// result.
func holdsWithin(limit time.Duration, holds func() bool) bool {
	// The tests of this module cannot use testdata/eventually.
	for begun := time.Now(); time.Since(begun) < limit; time.Sleep(time.Millisecond) {
		if holds() {
			return true
		}
	}
	return holds()
}

// descriptors returns the open pipes and files of this process, except those of
// the runtime.
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
