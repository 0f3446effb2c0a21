package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

func init() { programs["host"] = killHost }

// killHost is a host that uses one server until it is killed. It reports on standard
// output: "ready" with the ids of the plugin and the server, and "ended" with the fault's
// code.
func killHost() {
	if err := process.Adopt(); err != nil {
		panic(err)
	}
	dir := os.Getenv("KILL_DIR")
	s := New(Options{
		Version: "test", Log: hclog.NewNullLogger(),
		RunDir: filepath.Join(dir, "run"), Cache: cache.Dir(filepath.Join(dir, "cache")),
		LogDir: filepath.Join(dir, "logs"), Orphans: process.EndAdopted,
	})
	run := os.Getenv("KILL_RUN")
	if !strings.HasPrefix(run, "stale") {
		s.opts.run = run
	}
	s.limits.exit = 10 * time.Second // tolerate a busy machine
	s.limits.crashes, s.limits.backoffMax = 1<<30, s.limits.backoffFirst
	settings, err := json.Marshal(map[string]any{"command": []string{os.Getenv("KILL_SERVER"), run}})
	if err != nil {
		panic(err)
	}
	for {
		if err := converse(s, Request{
			Spec: Spec{Name: "stdio", Path: os.Getenv("KILL_PLUGIN")}, Component: "stdio",
			Server: "s", Settings: settings,
			MaxMessage: 1 << 20, Dir: dir,
		}); err != nil {
			fmt.Println("ended", fault.As(err).Code)
		}
	}
}

// converse opens a connection and uses it until it ends.
func converse(s *Supervisor, r Request) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := s.Open(ctx, r)
	if err != nil {
		return err
	}
	defer c.Close(0)
	// The test kills the processes between and during calls.
	for said := false; ; time.Sleep(time.Millisecond) {
		if err := errors.Join(c.Write([]byte(`{"m":1}`)), c.Flush()); err != nil {
			_, err = c.Read() // Read returns the reason
			return err
		}
		if _, err := c.Read(); err != nil {
			return err
		}
		if said {
			continue
		}
		said = true
		st, err := c.Status(ctx)
		if err != nil {
			return err
		}
		fmt.Println("ready", s.Status()[0].PID, st.PID)
	}
}

// A killed is a host that the test kills.
type killed struct {
	*process.Process
	t    *testing.T
	run  string
	pipe *os.File
	out  *bufio.Reader
}

func startHost(t *testing.T, kind string) *killed {
	t.Helper()
	t.Cleanup(nothingPrinted(t))
	dir, err := os.MkdirTemp("", "jk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server := filepath.Join(dir, FilePrefix+"evil-server")
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "run"), 0o700), os.Link(build(t, evilSource), server)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	k := &killed{t: t, run: fmt.Sprint(kind, "-", os.Getpid(), "-", rand.Uint64()), pipe: r, out: bufio.NewReader(r)}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, programVariable + "=host", "KILL_DIR=" + dir, "KILL_RUN=" + k.run,
		"KILL_SERVER=" + server, "KILL_PLUGIN=" + build(t, "plugins/stdio"),
	}
	k.Process, err = process.Start(process.Command{Path: "/proc/self/exe", Args: []string{"host"}, Env: env, Dir: dir,
		Stdout: w, Stderr: printed})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.Kill()
		k.Wait(patience)
		if t.Failed() {
			endAdopted()
		}
	})
	return k
}

// says reads up to a line that begins with word, and returns the rest of the line.
func (k *killed) says(word string) []string {
	k.t.Helper()
	_ = k.pipe.SetReadDeadline(time.Now().Add(patience))
	for {
		line, err := k.out.ReadString('\n')
		if err != nil {
			_ = syscall.Kill(k.PID(), syscall.SIGQUIT)
			time.Sleep(time.Second) // the host prints its stacks
			k.t.Fatalf("the host did not print %q: %v", word, err)
		}
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == word {
			return fields[1:]
		}
	}
}

// living returns the processes below the host, including daemons.
func (k *killed) living() []string {
	return append(marked(process.RunVariable+"="+k.run), marked(k.run+"-hidden")...)
}

func killRounds(t *testing.T) int {
	rounds, err := strconv.Atoi(os.Getenv("JUNCTOR_KILL_ROUNDS"))
	switch {
	case err == nil:
		return rounds
	case os.Getenv("JUNCTOR_SOAK") != "":
		return 100
	case testing.Short():
		return 1
	}
	return 5
}

// TestKillBelow kills the plugin and the server of a host at random times. Waiting calls
// must fail within a second, and the next connection must work. R1 R2
func TestKillBelow(t *testing.T) {
	k := startHost(t, "kill")
	rounds := killRounds(t)
	var slowestEnd, slowestStart time.Duration
	pids := k.says("ready")
	for n := range 2 * rounds {
		time.Sleep(rand.N(30 * time.Millisecond)) // the process is killed at any time
		pid, err := strconv.Atoi(pids[n%2])
		if err != nil {
			t.Fatal(err)
		}
		kill(t, pid, syscall.SIGKILL)
		begun := time.Now()
		code := k.says("ended")
		slowestEnd = max(slowestEnd, time.Since(begun))
		if want := []fault.Code{fault.PluginExited, fault.UpstreamExited}[n%2]; code[0] != string(want) {
			t.Errorf("kill %d: ended with %s, want %s", n, code[0], want)
		}
		begun = time.Now()
		pids = k.says("ready")
		slowestStart = max(slowestStart, time.Since(begun))
	}
	maxEnd, maxStart := time.Second, 5*time.Second
	if os.Getenv("JUNCTOR_SOAK") == "" {
		maxEnd, maxStart = patience, patience
	}
	if slowestEnd > maxEnd || slowestStart > maxStart {
		t.Errorf("waiting calls failed after %s, and a new connection took %s", slowestEnd, slowestStart)
	}
	t.Logf("waiting calls failed within %s, and a new connection took %s", slowestEnd, slowestStart)
	eventually.NoError(t, func() error {
		if list := marked(k.run); len(list) != 6 {
			return fmt.Errorf("%q remain, and not the last server and five of its children", list)
		}
		return nil
	})
}

// TestKillHost kills the host at random times. No descendant may survive it by more than
// half a second. #3 P1 P17 P18, R20
func TestKillHost(t *testing.T) {
	most := patience
	if os.Getenv("JUNCTOR_SOAK") != "" {
		most = 500 * time.Millisecond
	}
	var slowest time.Duration
	for n := range killRounds(t) {
		k := startHost(t, "kill")
		if n%2 == 0 {
			k.says("ready")
			if list := k.living(); len(list) < 5 {
				t.Errorf("before the test: %q", list)
			}
		}
		time.Sleep(rand.N(100 * time.Millisecond)) // the host is killed at any time, also during its start
		kill(t, k.PID(), syscall.SIGKILL)
		begun := time.Now()
		eventually.NoError(t, func() error {
			if list := k.living(); len(list) > 0 {
				return fmt.Errorf("round %d: %q remain", n, list)
			}
			return nil
		})
		d := time.Since(begun)
		slowest = max(slowest, d)
		if d > most {
			t.Errorf("round %d: the last process ended after %s", n, d)
		}
	}
	t.Logf("the last process survived its host by %s", slowest)
}

// TestKillTogether kills the host and a plugin at the same time. The next host must clean
// up. R21
func TestKillTogether(t *testing.T) {
	k := startHost(t, "stale")
	pids := k.says("ready")
	plugin, err := strconv.Atoi(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	freeze(t, k.PID()) // the host does not notice the plugin's end
	kill(t, plugin, syscall.SIGKILL)
	kill(t, k.PID(), syscall.SIGKILL)
	k.Wait(patience)
	takes(t, "cleaning up", time.Second, process.EndStale)
	eventually.NoError(t, func() error { return none(marked(k.run)) })
	endAdopted() // daemons are known only to their parent
}
