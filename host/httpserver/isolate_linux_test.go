package httpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestServerThatKillsItsPluginIsIsolated has one server kill the process of the
// plugin again and again. Its neighbours lose what was in flight once, answer
// the next call, and are never in quarantine. The server itself is, and the
// text of that error agrees with retry_after_ms.
func TestServerThatKillsItsPluginIsIsolated(t *testing.T) {
	for _, mode := range []string{"kill-parent", "kill-parent-idle"} {
		t.Run(mode, func(t *testing.T) {
			p := serveText(t.TempDir(), t, blocks(t, "", mode, "ok", "hang", "ok"))
			for _, server := range []string{"a", "b", "c", "d"} {
				p.works(server)
			}
			lost, kills, quarantined := 0, 0, ""
			for begun := time.Now(); quarantined == "" && time.Since(begun) < 2*patience; {
				a, _ := p.call("a__echo", "")
				switch {
				case strings.Contains(a, `"quarantined"`):
					quarantined = a
					continue
				case !strings.Contains(a, `"echo":{`): // it is being started again
					time.Sleep(100 * time.Millisecond)
					continue
				}
				kills++
				waiting := p.start("tools/call", `{"name":"c__bad","arguments":{}}`)
				victim := parentOf(t, p.below("evil\x00"+mode))
				_, _ = p.call("a__bad", "")
				p.gone(t, victim)
				for _, server := range []string{"b", "c", "d"} {
					p.recovers(server)
				}
				p.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, waiting))
				if a := p.kept(waiting); strings.Contains(a, "upstream_down") {
					lost++
				}
			}
			if kills < 5 || kills > 8 {
				t.Errorf("quarantine came after %d kills", kills)
			}
			if lost == 0 || lost > 2 {
				t.Errorf("%d calls of a neighbour were lost", lost)
			}
			checkQuarantine(t, quarantined)
			for _, server := range []string{"b", "c", "d"} {
				p.works(server)
			}
		})
	}
}

// recovers expects a server's echo within a second. One call may fail before
// that: the host sent it before it saw the end of the process.
func (p *process) recovers(server string) {
	p.t.Helper()
	begun := time.Now()
	if a, _ := p.call(server+"__echo", ""); strings.Contains(a, `"upstream_down"`) {
		begun = time.Now()
		p.works(server)
	} else if !strings.Contains(a, `"echo":{`) {
		p.t.Errorf("server %s answers %.300s", server, a)
	}
	p.within("a process of the plugin killed: the next call of a neighbour", time.Since(begun), time.Second)
}

// gone waits until a process of the host has ended.
func (p *process) gone(t *testing.T, pid int) {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if !slices.Contains(p.all(), pid) {
			return
		}
	}
	t.Errorf("process %d was not killed", pid)
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
		t.Fatalf("the server that kills is not in quarantine: %.300s", answer)
	}
	_, text, _ := strings.Cut(m.Error.Data.Hint, "tried again at ")
	text, _, _ = strings.Cut(text, ";")
	at, err := time.ParseInLocation("15:04:05 MST", text, time.Local)
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(time.Duration(m.Error.Data.Retry) * time.Millisecond)
	seconds := func(t time.Time) int { return t.Hour()*3600 + t.Minute()*60 + t.Second() }
	if d := (seconds(then) - seconds(at) + 24*3600) % (24 * 3600); m.Error.Data.Retry < 60_000 || d > 60 && d < 24*3600-60 {
		t.Errorf("%q, and retry_after_ms is %d", m.Error.Data.Hint, m.Error.Data.Retry)
	}
}
