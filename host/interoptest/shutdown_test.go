package interoptest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ending are the ways to end junctor serve.
var ending = map[string]func(g *gateway){
	"end of input": func(g *gateway) { _ = g.stdin.Close() },
	"SIGTERM":      func(g *gateway) { _ = g.cmd.Process.Signal(syscall.SIGTERM) },
	"SIGINT":       func(g *gateway) { _ = g.cmd.Process.Signal(syscall.SIGINT) },
}

// beginWith calls a tool that reports progress and waits for the first report,
// which shows that the call is in flight.
func (p *peer) beginWith(token int, tool string, arguments object) string {
	p.t.Helper()
	id := p.begin("tools/call", object{"name": tool, "arguments": arguments, "_meta": object{"progressToken": token}})
	p.note(0, "notifications/progress", func(params json.RawMessage) bool {
		var report struct{ ProgressToken int }
		decode(p.t, params, &report)
		return report.ProgressToken == token && !aboutStart(p.t, params)
	})
	return id
}

// aboutStart reports whether a progress report is about the start of a server,
// and not about the call.
func aboutStart(t *testing.T, params json.RawMessage) bool {
	t.Helper()
	var report struct{ Message string }
	decode(t, params, &report)
	return isStartReport(report.Message)
}

// isStartReport reports whether the message of a progress report is about the start of a
// server.
func isStartReport(message string) bool {
	return strings.HasPrefix(message, "starting server ") || strings.HasSuffix(message, "waits for its turn to start")
}

// TestServeEnds checks that junctor answers calls in flight, exits with 0 and
// leaves no process.
func TestServeEnds(t *testing.T) {
	for name, end := range ending {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newWorkspace(t, gosdk(), fastmcp(t), mcpserver(t), everything(t)).serve()
			p := g.speak(oldDialect)
			p.initialize()
			p.tool("every__echo", object{"message": "connect"}).text(t)
			var calls []string
			for i := range 20 {
				calls = append(calls, p.beginWith(i, "go__count", object{"steps": 1, "millis": 1000}))
			}
			end(g)
			for _, id := range calls {
				p.answer(id).text(t)
			}
			if status := g.wait(); status != 0 {
				t.Errorf("exit status %d, want 0", status)
			}
			g.expectNoProcesses()
		})
	}
}

// TestInheritedChildrenAreKept checks that background processes of the shell
// that became junctor are not ended.
func TestInheritedChildrenAreKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux has child subreapers")
	}
	t.Parallel()
	s := newWorkspace(t, gosdk())
	cmd := exec.Command("sh", append([]string{"-c", `sleep 300 & echo $!; exec "$0" "$@"`},
		s.command("call", "go__echo", "text=x").Args...)...)
	like := s.command()
	cmd.Env, cmd.Dir = like.Env, like.Dir
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	err = cmd.Run()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(r, &pid); err != nil {
		t.Fatal(err)
	}
	sleep, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := sleep.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("sleep was ended: %v", err)
	}
	_ = sleep.Kill()
}

// TestServeEndsDespiteCalls checks that calls that do not end are cancelled
// after a while, and that servers are notified.
func TestServeEndsDespiteCalls(t *testing.T) {
	t.Parallel()
	g := newWorkspace(t, gosdk(), fastmcp(t), mcpserver(t)).serve()
	p := g.speak(oldDialect)
	p.initialize()
	var calls []string
	for i, tool := range []string{"go__wait", "py1__wait", "py2__wait"} {
		calls = append(calls, p.beginWith(i, tool, object{}))
	}
	_ = g.stdin.Close()
	for _, id := range calls {
		if e := p.answer(id).failure(t); !strings.Contains(string(e.Data), `"reason":`) {
			t.Errorf("a cancelled call has no reason: %d %s %s", e.Code, e.Message, e.Data)
		}
	}
	if status := g.wait(); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	g.expectNoProcesses()
}

// TestProcessesAreMarked checks that the plugin and the servers have the host's
// mark in their environment.
func TestProcessesAreMarked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of processes")
	}
	t.Parallel()
	g := newWorkspace(t, gosdk(), gosdk().under("other")).serve()
	p := g.speak(oldDialect)
	p.initialize()
	p.waitForTools("go")
	p.waitForTools("other")
	if found := marked(g.cmd.Process.Pid); len(found) != 3 {
		t.Errorf("processes with the mark of the host: %q, want a plugin and two servers", found)
	}
}

// TestServeEndsSoonWhenIdle checks that an idle process exits at once.
func TestServeEndsSoonWhenIdle(t *testing.T) {
	for name, end := range ending {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newWorkspace(t, gosdk(), fastmcp(t)).serve()
			p := g.speak(oldDialect)
			p.initialize()
			p.list("tools/list", "tools")
			begin := time.Now()
			end(g)
			if status := g.wait(); status != 0 {
				t.Errorf("exit status %d, want 0", status)
			}
			if took := time.Since(begin); took > 5*time.Second && (allCombinations() || took > testTimeout) {
				t.Errorf("the exit took %s", took)
			}
			g.expectNoProcesses()
		})
	}
}

// TestClosedInputCancelsCalls checks that calls end with their client.
func TestClosedInputCancelsCalls(t *testing.T) {
	t.Parallel()
	g := newWorkspace(t, gosdk()).serve()
	p := g.speak(oldDialect)
	p.initialize()
	p.tool("go__echo", object{"text": "x"}).text(t)
	_ = g.stdout.Close()
	p.begin("tools/call", object{"name": "go__echo", "arguments": object{"text": "unread"}})
	if status := g.wait(); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	g.expectNoProcesses()
}

// TestHostsKeepProcessesOfOthers checks that a starting host ends processes of
// killed hosts only. A running host on the same machine, or in a container with
// its own process ids, keeps its processes.
func TestHostsKeepProcessesOfOthers(t *testing.T) {
	for name, inside := range map[string][]string{
		"same machine": nil,
		"container":    {"unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(inside) > 0 {
				if runtime.GOOS != "linux" || exec.Command(inside[0], append(inside[1:], "true")...).Run() != nil {
					skip(t, "unshare cannot make a PID namespace here")
				}
			}
			s := newWorkspace(t, gosdk())
			cmd := s.command("serve")
			if len(inside) > 0 {
				outer := exec.Command(inside[0], append(inside[1:], cmd.Args...)...)
				outer.Env, outer.Dir = cmd.Env, cmd.Dir
				cmd = outer
			}
			p := newPeer(t, launch(t, cmd), oldDialect)
			p.initialize()
			id := p.beginWith(1, "go__count", object{"steps": 1, "millis": 750})
			newWorkspace(t, gosdk()).serve().finish()
			p.answer(id).text(t)
		})
	}
}
