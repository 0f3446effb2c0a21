package httpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// killRounds returns how often a process is killed.
func killRounds() int {
	if n, err := strconv.Atoi(os.Getenv("JUNCTOR_KILL_ROUNDS")); err == nil {
		return n
	}
	if soak() {
		return 100
	}
	return 3
}

// inFlight is the number of calls in flight at a kill.
const inFlight = 16

// TestKillFailsPendingCallsOnly kills a server, or its plugin, while calls are
// in flight. They must fail at once, the next call must succeed, and calls of a
// server of another plugin must not notice.
func TestKillFailsPendingCallsOnly(t *testing.T) {
	t.Parallel()
	config := "plugin \"stdio\" {\n  isolation = \"server\"\n}\n" + serverBlocks(t, "", "hang", "ok")
	var p *process
	var slowestEnd, slowestStart time.Duration
	for n := range 2 * killRounds() {
		if n%killsPerHost == 0 {
			if p != nil {
				p.closeInput()
			}
			p = startStdioWith(t.TempDir(), t, config)
			p.expectEcho("a")
			p.expectEcho("b")
		}
		end, start := p.killRound(n)
		slowestEnd, slowestStart = max(slowestEnd, end), max(slowestStart, start)
	}
	p.within("kill -9: calls in flight failed within", slowestEnd, 100*time.Millisecond)
	p.within("kill -9: the next call worked within", slowestStart, time.Second)
}

// killsPerHost is below the number of crashes that puts a plugin into
// quarantine.
const killsPerHost = 6

// killRound kills server a, or its plugin. It returns how long calls in flight
// took to fail and the next one to succeed.
func (p *process) killRound(n int) (end, start time.Duration) {
	p.t.Helper()
	victim := p.child("evil\x00hang")
	if n%2 == 0 {
		victim = parentOf(p.t, victim)
	}
	var waiting []string
	for range inFlight {
		waiting = append(waiting, p.start("tools/call", `{"name":"a__bad","arguments":{}}`))
	}
	p.awaitInFlight("a", inFlight) // a call that begins after the kill would reach the next process
	other := p.start("tools/call", `{"name":"b__echo","arguments":{}}`)
	pauseRandomly()
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		p.t.Fatal(err)
	}
	begun := time.Now()
	for _, id := range waiting {
		if a := p.keptAnswer(id); !strings.Contains(a, `"code":-32000`) || !strings.Contains(a, `"reason":"`) {
			p.t.Errorf("round %d: %.300s", n, a)
		}
	}
	end = time.Since(begun)
	begun = time.Now()
	p.expectEcho("a")
	start = time.Since(begun)
	p.expectEcho("b")
	if a := p.keptAnswer(other); !strings.Contains(a, `"echo"`) {
		p.t.Errorf("round %d: the other server answers %.300s", n, a)
	}
	return end, start
}

// awaitInFlight waits until a server has a number of calls in flight.
func (p *process) awaitInFlight(server string, want int) {
	p.t.Helper()
	eventually.NoError(p.t, func() error {
		cmd := exec.Command(p.cmd.Path, append(slices.Clone(p.cmd.Args[1:3]), "status", "--json", "--instance",
			strconv.Itoa(p.cmd.Process.Pid), server)...)
		cmd.Env = p.cmd.Env
		out, err := cmd.Output()
		var status struct {
			Processes []struct {
				Servers []struct {
					Server   string
					InFlight int `json:"in_flight"`
				}
			}
		}
		if err == nil {
			err = json.Unmarshal(out, &status)
		}
		if err == nil && len(status.Processes) == 1 && len(status.Processes[0].Servers) == 1 &&
			status.Processes[0].Servers[0].InFlight == want {
			return nil
		}
		return fmt.Errorf("no %d calls of server %s are in flight: %v\n%s", want, server, err, out)
	})
}

// pauseRandomly lets the processes get to some point of their calls.
func pauseRandomly() {
	time.Sleep(rand.N(20 * time.Millisecond)) // a kill may come at any moment
}

// TestKilledHostLeavesNoProcess kills the host under load.
func TestKilledHostLeavesNoProcess(t *testing.T) {
	var slowest time.Duration
	var p *process
	for range killRounds() {
		p = startStdio(t, "", "hang", "ok")
		p.expectEcho("a")
		p.expectEcho("b")
		for range inFlight {
			p.start("tools/call", `{"name":"a__bad","arguments":{}}`)
		}
		if len(p.children()) < 3 {
			t.Errorf("the processes are %v, want a plugin and two servers", p.children())
		}
		pauseRandomly()
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.ended = true
		begun := time.Now()
		for range p.lines {
		}
		_ = p.cmd.Wait()
		eventually.True(t, "the processes of the host have ended", func() bool { return len(p.children()) == 0 })
		slowest = max(slowest, time.Since(begun))
	}
	p.within("kill -9 of the host: the last of its processes ended after", slowest, 500*time.Millisecond)
}

// children returns the processes below the host, by the mark in their
// environment.
func (p *process) children() (pids []int) {
	mark := fmt.Appendf(nil, "\x00JUNCTOR_RUN_ID=%d.", p.cmd.Process.Pid)
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && bytes.Contains(append([]byte{0}, env...), mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// child returns the process below the host whose command line contains words.
func (p *process) child(words string) int {
	p.t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		for _, pid := range p.children() {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(line, []byte(words)) {
				return pid
			}
		}
	}
	p.t.Fatalf("no process %q", words)
	return 0
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, tail, _ := strings.Cut(string(text), ") ")
	parent, err := strconv.Atoi(strings.Fields(tail)[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// keptAnswer is waitForAnswer for an answer that may have arrived already.
func (p *process) keptAnswer(id string) string {
	p.t.Helper()
	for _, line := range p.notes {
		if strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`+id+`,`) {
			return line
		}
	}
	return p.waitForAnswer(id)
}
