package httpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestServerThatKillsItsPluginIsIsolated has one server kill the process of the
// plugin repeatedly. Its neighbours lose calls in flight once, answer the next
// call, and are never in quarantine. The server itself is, and the text of that
// error agrees with retry_after_ms.
func TestServerThatKillsItsPluginIsIsolated(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"kill-parent", "kill-parent-idle"} {
		t.Run(mode, func(t *testing.T) {
			p := startStdioWith(t.TempDir(), t, serverBlocks(t, "", mode, "ok", "hang", "ok"))
			for _, server := range []string{"a", "b", "c", "d"} {
				p.expectEcho(server)
			}
			lost, kills, quarantined := 0, 0, ""
			for begun := time.Now(); quarantined == "" && time.Since(begun) < 2*testTimeout; {
				var a string
				eventually.True(t, "the server is restarted or quarantined", func() bool {
					a, _ = p.call("a__echo", "")
					return strings.Contains(a, `"quarantined"`) || strings.Contains(a, `"echo":{`)
				})
				if strings.Contains(a, `"quarantined"`) {
					quarantined = a
					continue
				}
				kills++
				waiting := p.start("tools/call", `{"name":"c__bad","arguments":{}}`)
				victim := parentOf(t, p.child("evil\x00"+mode))
				_, _ = p.call("a__bad", "")
				p.waitForExit(t, victim)
				for _, server := range []string{"b", "c", "d"} {
					p.expectRecovery(server)
				}
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`,
					waiting))
				// A cancelled call gets no answer, so one that is there came before.
				if slices.ContainsFunc(p.notes, func(line string) bool {
					return strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`+waiting+`,`) &&
						strings.Contains(line, "upstream_down")
				}) {
					lost++
				}
			}
			if kills < 5 || kills > 8 {
				t.Errorf("quarantine began after %d kills", kills)
			}
			if lost == 0 || lost > 2 {
				t.Errorf("%d calls of a neighbour were lost", lost)
			}
			checkQuarantine(t, quarantined)
			for _, server := range []string{"b", "c", "d"} {
				p.expectEcho(server)
			}
		})
	}
}

// expectRecovery expects a server's echo within a second. One call may fail
// before that, because the host sent it before it noticed the end of the
// process.
func (p *process) expectRecovery(server string) {
	p.t.Helper()
	begun := time.Now()
	if a, _ := p.call(server+"__echo", ""); strings.Contains(a, `"upstream_down"`) {
		begun = time.Now()
		p.expectEcho(server)
	} else if !strings.Contains(a, `"echo":{`) {
		p.t.Errorf("server %s answers %.300s", server, a)
	}
	p.within("a process of the plugin killed: the next call of a neighbour", time.Since(begun), time.Second)
}

// waitForExit waits until a process of the host has ended.
func (p *process) waitForExit(t *testing.T, pid int) {
	t.Helper()
	eventually.True(t, fmt.Sprintf("process %d is killed", pid), func() bool {
		return !slices.Contains(p.children(), pid)
	})
}

// checkQuarantine compares the text of the error with its data.
func checkQuarantine(t *testing.T, answer string) {
	t.Helper()
	var m struct {
		Error struct {
			Message string
			Data    struct {
				Hint  string
				Retry int64 `json:"retry_after_ms"`
			}
		}
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatalf("the server that kills its plugin is not in quarantine: %.300s", answer)
	}
	_, text, _ := strings.Cut(m.Error.Data.Hint, "the next attempt is possible at ")
	text, _, _ = strings.Cut(text, ";")
	at, err := time.ParseInLocation("15:04:05 MST", text, time.Local)
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(time.Duration(m.Error.Data.Retry) * time.Millisecond)
	seconds := func(t time.Time) int { return t.Hour()*3600 + t.Minute()*60 + t.Second() }
	if d := (seconds(then) - seconds(at) + 24*3600) % (24 * 3600); m.Error.Data.Retry < 60_000 ||
		d > 60 && d < 24*3600-60 {
		t.Errorf("the hint is %q, but retry_after_ms is %d", m.Error.Data.Hint, m.Error.Data.Retry)
	}
}
