package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// sh returns a command that runs a shell script.
func sh(script string) Command {
	return Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Timeout: 20 * time.Second, MaxOutput: 1 << 20, MaxStderr: 8 << 10,
	}
}

func mustRun(t *testing.T, c Command) *Outcome {
	t.Helper()
	o, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestProgramReceivesTheArgumentList runs drawn calls in this test binary, which
// prints its arguments.
func TestProgramReceivesTheArgumentList(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runs, enough := 0, 300
	if testing.Short() {
		enough = 20 // a program with the race detector is slow to start
	}
	gen := rapid.Custom(func(t *rapid.T) []string {
		tl, args := drawCall(t)
		argv, _, err := Argv(tl, args)
		if err != nil {
			return nil
		}
		return append([]string{}, argv...)
	})
	for seed := 0; runs < enough; seed++ {
		argv := gen.Example(seed)
		if argv == nil {
			continue
		}
		runs++
		o := mustRun(t, Command{
			Path: self, Args: append([]string{"prog"}, argv...), Env: []string{recordVariable + "=1"},
			Timeout: 10 * time.Second, MaxOutput: 1 << 20, MaxStderr: 1 << 10,
		})
		var got []string
		if err := json.Unmarshal(o.Stdout.Head, &got); err != nil || !slices.Equal(got, valid(argv)) {
			t.Fatalf("%q arrived as %q, %v: %s", argv, got, err, o.Stderr.Text())
		}
	}
}

// valid replaces invalid UTF-8 as encoding/json does.
func valid(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

func TestRun(t *testing.T) {
	in := "one\ntwo"
	withStdin := sh("cat; echo err >&2; exit 3")
	withStdin.Stdin = &in
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := sh("pwd -P")
	elsewhere.Dir = dir
	for _, c := range []struct {
		name           string
		command        Command
		stdout, stderr string
		code           int
		ended          string
	}{
		{"stdin, both outputs and a status", withStdin, in, "err\n", 3, "exited with status 3"},
		{"nothing to read", sh("cat; echo end"), "end\n", "", 0, "exited with status 0"},
		{"no terminal",
			sh("test -t 0 || test -t 1 || test -t 2 || echo none"), "none\n", "", 0, "exited with status 0"},
		{"in a directory", elsewhere, dir + "\n", "", 0, "exited with status 0"},
		{"only its own environment", sh(`echo "$HOME$JUNCTOR_TEST"`), "\n", "", 0, "exited with status 0"},
		{"a signal", sh("kill -SEGV $$"), "", "", -1, "was killed by SIGSEGV (segmentation fault)"},
		{"a child process keeps the output open",
			sh("(sleep 20; echo late) & echo now"), "now\n", "", 0, "exited with status 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("JUNCTOR_TEST", "secret")
			o := mustRun(t, c.command)
			if o.Stdout.Text() != c.stdout || o.Stderr.Text() != c.stderr || o.ExitCode != c.code ||
				o.Ended != c.ended || o.TimedOut || o.Canceled {
				t.Errorf("stdout %q, stderr %q, status %d, the program %s",
					o.Stdout.Text(), o.Stderr.Text(), o.ExitCode, o.Ended)
			}
		})
	}
}

func TestUnreadStdinDoesNotDelayTheEnd(t *testing.T) {
	large := strings.Repeat("x", 4<<20)
	c := sh("echo done")
	c.Stdin = &large
	if o := mustRun(t, c); o.Stdout.Text() != "done\n" || o.Duration > 5*time.Second {
		t.Errorf("%q after %s", o.Stdout.Text(), o.Duration)
	}
}

func TestFailedStartLeavesNoPipeOpen(t *testing.T) {
	before := descriptors(t)
	for _, c := range []Command{{Path: "/nowhere"}, {Path: "/"}, {Path: "/bin/sh", Dir: "/nowhere"}} {
		in := "x"
		c.Args, c.Stdin = []string{"x"}, &in
		if _, err := Run(t.Context(), c); err == nil {
			t.Errorf("%+v started", c)
		}
	}
	c := sh("echo " + strings.Repeat("x", 3<<20))
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("an argument larger than the system allows was taken")
	}
	eventually.NoError(t, func() error { // the runtime may have opened a descriptor as well
		if after := descriptors(t); after > before {
			return fmt.Errorf("%d descriptors are open, %d before", after, before)
		}
		return nil
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// family starts a child in the group of the shell, a child that ignores SIGTERM
// and a child in its own session. It writes their process IDs to a file and waits.
const family = `
trap '' TERM
sleep 300 & a=$!
(trap '' TERM; while :; do sleep 1; done) & b=$!
setsid sh -c 'echo $$ > "$0"; exec sleep 300' "$1" & 
while ! test -s "$1"; do sleep 0.01; done
echo $$ $a $b $(cat "$1") > "$1.all"
while :; do sleep 1; done
`

// startFamily runs the script family. It returns the process IDs and a channel
// that receives the outcome.
func startFamily(t *testing.T, ctx context.Context, change func(*Command)) (pids []int, ended chan *Outcome) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "session")
	c := sh(family)
	c.Args = append(c.Args, "sh", file)
	change(&c)
	ended = make(chan *Outcome, 1)
	go func() {
		o, err := Run(ctx, c)
		if err != nil {
			t.Error(err)
		}
		ended <- o
	}()
	eventually.True(t, "the processes have started", func() bool {
		text, _ := os.ReadFile(file + ".all")
		pids = nil
		for _, f := range strings.Fields(string(text)) {
			n, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
		return len(pids) == 4
	})
	return pids, ended
}

// TestChildProcessesEndWithTheRun ends runs by timeout, by force and by
// cancellation.
func TestChildProcessesEndWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	force := make(chan struct{})
	for _, c := range []struct {
		name   string
		change func(*Command)
		end    func()
		most   time.Duration
		right  func(*Outcome) bool
	}{
		{"timeout", func(c *Command) { c.Timeout = 4 * time.Second }, func() {}, 20 * time.Second,
			func(o *Outcome) bool { return o.TimedOut && !o.Canceled }},
		{"force", func(c *Command) { c.Force = force }, func() { close(force); cancel() }, 10 * time.Second,
			func(o *Outcome) bool { return o.Canceled }},
	} {
		t.Run(c.name, func(t *testing.T) {
			pids, ended := startFamily(t, ctx, c.change)
			begun := time.Now()
			c.end()
			o := <-ended
			took := time.Since(begun)
			waitForEnd(t, pids)
			if !c.right(o) || took > c.most {
				t.Errorf("after %s: %+v", took, o)
			}
		})
	}
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		pids, ended := startFamily(t, ctx, func(*Command) {})
		begun := time.Now()
		cancel()
		o := <-ended
		if took := time.Since(begun); took > 20*time.Second || !o.Canceled {
			t.Errorf("after %s: %+v", took, o)
		}
		waitForEnd(t, pids)
	})
}

// waitForEnd waits until processes have ended.
func waitForEnd(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		eventually.True(t, fmt.Sprintf("process %d of %v has ended", pid, pids), func() bool {
			return syscall.Kill(pid, 0) != nil || zombie(pid)
		})
	}
}

func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text[strings.LastIndexByte(string(text), ')'):]), ") Z")
}

// TestEndlessOutputUsesBoundedMemory runs a program that prints until its timeout.
func TestEndlessOutputUsesBoundedMemory(t *testing.T) {
	c := sh("exec yes")
	c.Timeout = 2 * time.Second
	runtime.GC()
	before := resident(t)
	o := mustRun(t, c)
	grown := resident(t) - before
	if !o.TimedOut || o.Duration > 10*time.Second {
		t.Errorf("the run ended after %s: %+v", o.Duration, o.Ended)
	}
	if n := len(o.Stdout.Head) + len(o.Stdout.Tail); n > 1<<20 || o.Stdout.Omitted < 10<<20 {
		t.Errorf("%d bytes were kept, %d left out", n, o.Stdout.Omitted)
	}
	if grown > 16<<20 {
		t.Errorf("%d MiB more are in use", grown>>20)
	}
	t.Logf("%d MiB passed, %d KiB more are in use", o.Stdout.Omitted>>20, grown>>10)
}

func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestOrphanDoesNotDelayTheEnd starts a process that carries no mark of package
// process and keeps the output open.
func TestOrphanDoesNotDelayTheEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	c := sh(`setsid env -i /bin/sh -c 'echo $$ > "$0"; exec sleep 300' "$1" & while ! test -s "$1"; do sleep 0.01; done; echo out`)
	c.Args = append(c.Args, "sh", file)
	begun := time.Now()
	o := mustRun(t, c)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	}
	if took := time.Since(begun); took > 20*time.Second || o.Stdout.Text() != "out\n" {
		t.Errorf("%q after %s", o.Stdout.Text(), took)
	}
}

func TestProgressReportsBothOutputsOnceASecond(t *testing.T) {
	var reports []Progress
	c := sh("echo a; echo b; echo 'step 1' >&2; printf '\\033[31mstep 2\\033[0m\\n' >&2; sleep 2.5")
	c.Progress = func(p Progress) { reports = append(reports, p) }
	mustRun(t, c)
	if len(reports) < 2 { // on a busy machine there may be more
		t.Fatalf("%+v", reports)
	}
	if p := reports[1]; p.Bytes != 4 || p.Lines != 2 || p.Last != "step 2" || p.Elapsed < 1900*time.Millisecond {
		t.Errorf("%+v", p)
	}
}

func TestLimitsReachTheProgram(t *testing.T) {
	c := sh("sleep 0.1; ulimit -n")
	c.Limits = process.Limits{Files: 17}
	if o := mustRun(t, c); o.Stdout.Text() != "17\n" {
		t.Errorf("%q", o.Stdout.Text())
	}
}
