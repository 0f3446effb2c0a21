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

// ending are the ways in which junctor serve is told to end.
var ending = map[string]func(g *gateway){
	"end of input": func(g *gateway) { _ = g.stdin.Close() },
	"SIGTERM":      func(g *gateway) { _ = g.cmd.Process.Signal(syscall.SIGTERM) },
	"SIGINT":       func(g *gateway) { _ = g.cmd.Process.Signal(syscall.SIGINT) },
}

// beginWith begins to call a tool that reports progress and waits until it
// does: then the call is in flight for sure.
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

// aboutStart reports whether progress is that of a server's start, which the
// gateway reports, and not that of the call.
func aboutStart(t *testing.T, params json.RawMessage) bool {
	t.Helper()
	var report struct{ Message string }
	decode(t, params, &report)
	return strings.HasPrefix(report.Message, "starting server ") || strings.HasSuffix(report.Message, "waits for its turn to start")
}

// TestServeEnds: with calls in flight, it answers what it can, exits 0 and
// leaves nothing running.
func TestServeEnds(t *testing.T) {
	for name, end := range ending {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newSite(t, gosdk(), fastmcp(t), mcpserver(t), everything(t)).serve()
			p := g.speak(oldDialect)
			p.greet()
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
			g.noneLeft()
		})
	}
}

// TestInheritedChildren: what a shell started in the background before it became
// junctor is not junctor's to end.
func TestInheritedChildren(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux has foster parents")
	}
	t.Parallel()
	s := newSite(t, gosdk())
	cmd := exec.Command("sh", append([]string{"-c", `sleep 300 & echo $!; exec "$0" "$@"`}, s.command("call", "go__echo", "text=x").Args...)...)
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
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("sleep is gone: %v", err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// TestServeEndsDespiteCalls: what does not end by itself is cancelled after a
// while, and the servers are told.
func TestServeEndsDespiteCalls(t *testing.T) {
	t.Parallel()
	g := newSite(t, gosdk(), fastmcp(t), mcpserver(t)).serve()
	p := g.speak(oldDialect)
	p.greet()
	var calls []string
	for i, tool := range []string{"go__wait", "py1__wait", "py2__wait"} {
		calls = append(calls, p.beginWith(i, tool, object{}))
	}
	_ = g.stdin.Close()
	for _, id := range calls {
		if e := p.answer(id).failure(t); !strings.Contains(string(e.Data), `"reason":`) {
			t.Errorf("a call that was ended gives no reason: %d %s %s", e.Code, e.Message, e.Data)
		}
	}
	if status := g.wait(); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	g.noneLeft()
}

// TestProcessesAreMarked: whoever looks for what a host left behind finds it by
// the mark in its environment, plugin and servers alike.
func TestProcessesAreMarked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of processes")
	}
	t.Parallel()
	g := newSite(t, gosdk(), gosdk().under("other")).serve()
	p := g.speak(oldDialect)
	p.greet()
	p.awaits("go")
	p.awaits("other")
	if found := marked(g.cmd.Process.Pid); len(found) != 3 {
		t.Errorf("a plugin and two servers should carry the mark of the host: %q", found)
	}
}

// TestServeEndsSoonWhenIdle: nobody waits for a process that has nothing to do.
func TestServeEndsSoonWhenIdle(t *testing.T) {
	for name, end := range ending {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newSite(t, gosdk(), fastmcp(t)).serve()
			p := g.speak(oldDialect)
			p.greet()
			p.list("tools/list", "tools")
			begin := time.Now()
			end(g)
			if status := g.wait(); status != 0 {
				t.Errorf("exit status %d, want 0", status)
			}
			if took := time.Since(begin); took > 5*time.Second && (whole() || took > patience) {
				t.Errorf("it took %s to end", took)
			}
			g.noneLeft()
		})
	}
}

// TestClientThatGoesAway: its calls end with it.
func TestClientThatGoesAway(t *testing.T) {
	t.Parallel()
	g := newSite(t, gosdk()).serve()
	p := g.speak(oldDialect)
	p.greet()
	p.tool("go__echo", object{"text": "x"}).text(t)
	_ = g.stdout.Close()
	p.begin("tools/call", object{"name": "go__echo", "arguments": object{"text": "nobody reads this"}})
	if status := g.wait(); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	g.noneLeft()
}
