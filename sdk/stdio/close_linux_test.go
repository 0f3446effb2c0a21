package stdio

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestCloseEscalates checks the steps of Close: end of input, SIGTERM, SIGKILL.
// Each server has sent a message before.
func TestCloseEscalates(t *testing.T) {
	for _, c := range []struct {
		name, script string
		ctx          time.Duration // 0: no limit
		ended        string
		stderr       []string
		atLeast      time.Duration
	}{
		{"ends with its input", `echo '{}'; echo ready >&2; cat; echo eof >&2; exit 4`,
			0, "exited with status 4", []string{"ready", "eof"}, 0},
		{"ends when asked", `trap 'echo term >&2; exit 5' TERM; echo '{}'; echo ready >&2; cat; echo eof >&2; while :; do sleep 0.05; done`,
			0,
			"exited with status 5", []string{"ready", "eof", "term"}, afterEOF},
		{"does not end", `trap 'echo term >&2' TERM; echo '{}'; echo ready >&2; while :; do sleep 0.05; done`, 0,
			"was killed by SIGKILL (killed)", []string{"ready", "term"}, afterEOF + afterTERM},
		{"has no time",
			`trap 'echo term >&2' TERM; echo '{}'; echo ready >&2; while :; do sleep 0.05; done`, time.Nanosecond,
			"was killed by SIGKILL (killed)", []string{"ready"}, 0},
		{"has time for its input only",
			`trap 'echo term >&2' TERM; echo '{}'; echo ready >&2; cat; echo eof >&2; while :; do sleep 0.05; done`,
			1500 * time.Millisecond,
			"was killed by SIGKILL (killed)", []string{"ready", "eof"}, 1500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := start(t, shell(c.script))
			mustRecv(t, conn, "{}")
			saw(t, conn, "ready")
			ctx := context.Background()
			if c.ctx > 0 {
				limited, cancel := context.WithTimeout(ctx, c.ctx)
				defer cancel()
				ctx = limited
			}
			begun := time.Now()
			if err := conn.Close(ctx); err != nil {
				t.Error(err)
			}
			st := conn.Status()
			// Printed by some shells about sleep.
			st.Stderr = slices.DeleteFunc(st.Stderr, func(l string) bool { return l == "Terminated" })
			if st.State != c.ended || !slices.Equal(st.Stderr, c.stderr) || time.Since(begun) < c.atLeast {
				t.Errorf("it %s after %s, saying %q", st.State, time.Since(begun), st.Stderr)
			}
			if time.Since(begun) > c.atLeast+patience/2 {
				t.Errorf("it took %s", time.Since(begun))
			}
		})
	}
}

// TestCloseWhileStarting closes servers that have not sent a message. They
// receive SIGTERM at once and get time to clean up.
func TestCloseWhileStarting(t *testing.T) {
	const launcher = `mkdir "$1/lock"; trap 'sleep "$2"; rmdir "$1/lock"; echo clean >&2; exit 1' TERM; echo ready >&2; while :; do sleep 0.05; done`
	for _, c := range []struct {
		name, cleans string        // seconds that the launcher cleans up
		ctx          time.Duration // 0: no limit
		locked       bool          // the lock is left behind
	}{
		{"cleans up at once", "0", 0, false},
		{"cleans up for longer than a running server may", "3", 0, false},
		{"has a second", "3", time.Second, true},
		{"has no time", "0", time.Nanosecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			conn := start(t, shell(launcher, dir, c.cleans))
			saw(t, conn, "ready")
			ctx := context.Background()
			if c.ctx > 0 {
				limited, cancel := context.WithTimeout(ctx, c.ctx)
				defer cancel()
				ctx = limited
			}
			if err := conn.Close(ctx); err != nil {
				t.Error(err)
			}
			st := conn.Status()
			_, err := os.Stat(filepath.Join(dir, "lock"))
			if locked := err == nil; locked != c.locked {
				t.Errorf("lock left behind: %t, want %t; the launcher %s, saying %q",
					locked, c.locked, st.State, st.Stderr)
			}
		})
	}
}

// TestCloseKillsStartThatIgnoresSignals checks that SIGKILL follows half a
// minute after SIGTERM.
func TestCloseKillsStartThatIgnoresSignals(t *testing.T) {
	if os.Getenv("JUNCTOR_SOAK") == "" {
		t.Skip("slow: run by make soak")
	}
	t.Parallel()
	conn := start(t, shell(`trap '' TERM; echo ready >&2; while :; do sleep 0.05; done`))
	saw(t, conn, "ready")
	begun := time.Now()
	if err := conn.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took < afterStop || took > afterStop+patience/2 ||
		conn.Status().State != "was killed by SIGKILL (killed)" {
		t.Errorf("after %s it %s", took, conn.Status().State)
	}
}

// TestFamily checks that no process started by the server is left after the
// end.
func TestFamily(t *testing.T) {
	for name, end := range map[string]func(*Conn){
		"closed": func(c *Conn) { _ = c.Close(context.Background()) },
		"killed": func(c *Conn) {
			_ = syscall.Kill(c.Status().PID, syscall.SIGKILL)
			if _, err := c.Recv(); err == nil {
				t.Error("Recv returns no error")
			}
			<-c.proc.Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, program("family"))
			mustRecv(t, c, `{"ready":true}`)
			// A process in exec has no readable environment.
			if !holdsWithin(patience, func() bool { return len(relatives(t)) == 4 }) {
				t.Fatalf("there are %d processes", len(relatives(t)))
			}
			end(c)
			if left := relatives(t); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// TestClose checks that concurrent calls of Close, Recv and Send close once,
// and that Recv then returns io.EOF.
func TestClose(t *testing.T) {
	c := start(t, shell("exec sleep 1000")) // reads nothing
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Recv(); err != io.EOF {
			t.Errorf("Recv: %v", err)
		}
	})
	sending := make(chan struct{})
	wg.Go(func() {
		close(sending)
		if err := c.Send(make([]byte, 1<<20)); err == nil { // more than a pipe holds
			t.Error("Send did not block")
		}
	})
	<-sending
	for range 5 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			if err := c.Close(ctx); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
	if _, err := c.Recv(); err != io.EOF {
		t.Errorf("Recv after Close: %v", err)
	}
	if err := c.Send([]byte("{}")); err == nil {
		t.Error("Send after Close is no error")
	}
}

// TestLeavesNothing checks that opening and closing leaks no descriptors.
func TestLeavesNothing(t *testing.T) {
	open := func() []string {
		var targets []string
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			target, err := os.Readlink("/proc/self/fd/" + e.Name())
			if err == nil && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "/sys/") {
				// Those of this listing and of the runtime.
				targets = append(targets, e.Name()+" "+target)
			}
		}
		return targets
	}
	start(t, shell("exec cat")) // opens the descriptors that stay open
	before := open()
	for range 20 {
		c, err := Start(shell("exec cat"))
		if err != nil {
			t.Fatal(err)
		}
		mustSend(t, c, "{}")
		mustRecv(t, c, "{}")
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := Start(Options{Command: []string{"/"}}); err == nil {
			t.Error("a directory started")
		}
		if _, err := Start(Options{Command: []string{"/etc/passwd"}}); err == nil {
			t.Error("a text file started")
		}
	}
	if after := open(); len(after) > len(before) {
		t.Errorf("open descriptors %q, before %q", after, before)
	}
}
