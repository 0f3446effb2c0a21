package interoptest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// scripted returns a server that a shell script starts, after it has recorded
// the start in a file.
func scripted(name, notes, script string) server {
	return server{
		name: name, command: []string{"sh", "-c", `echo start >> "$1"; ` + script, "sh", notes, program("demo")},
		more: "  timeouts {\n    start = \"10s\"\n  }\n",
	}
}

// starts returns how often a scripted server was started.
func starts(t *testing.T, notes string) int {
	t.Helper()
	b, err := os.ReadFile(notes)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "start")
}

// TestServerThatExitsRepeatedly checks that a server that exits soon after its
// start is started ten times a minute at most. Calls in between fail at once,
// with a code and the time to wait.
func TestServerThatExitsRepeatedly(t *testing.T) {
	t.Parallel()
	notes := filepath.Join(t.TempDir(), "notes")
	s := newWorkspace(t, scripted("flaps", notes, `timeout 0.5 "$2"; exit 3`))
	p := s.serve().speak(oldDialect)
	p.initialize()
	p.list("tools/list", "tools")
	var refused []time.Duration
	// Calls come at a steady pace while the server is down.
	for begun := time.Now(); time.Since(begun) < 25*time.Second; time.Sleep(20 * time.Millisecond) {
		at := time.Now()
		m := p.tool("flaps__add", object{"a": 1, "b": 2})
		var e struct {
			Data struct {
				Code  string
				Retry int `json:"retry_after_ms"`
			}
		}
		if m.Error == nil || json.Unmarshal(m.Error, &e) != nil || e.Data.Retry <= 200 {
			continue
		}
		refused = append(refused, time.Since(at))
		if e.Data.Code != "upstream.exited" {
			t.Errorf("refused with %s", m.raw)
		}
	}
	n := starts(t, notes)
	if n < 2 || n > 10 || len(refused) == 0 {
		t.Fatalf("%d starts, %d calls refused", n, len(refused))
	}
	slices.Sort(refused)
	half, last := refused[len(refused)/2], refused[len(refused)-1]
	t.Logf("%d starts, %d calls refused, half of them within %s (limit 5ms), all within %s",
		n, len(refused), half, last)
	if half > testTimeout/100 || allCombinations() && half > 5*time.Millisecond {
		t.Error("a call was not refused at once")
	}
}

// TestHangingServersDoNotDelayOthers has three of twenty servers hang. The
// others must be in the first list, and their calls must not wait.
func TestHangingServersDoNotDelayOthers(t *testing.T) {
	if !allCombinations() {
		t.Parallel()
	}
	dir := t.TempDir()
	var servers []server
	for i := range 20 {
		script := `exec "$2"`
		if i < 3 {
			script = "exec sleep 600"
		}
		servers = append(servers, scripted(fmt.Sprintf("s%02d", i), filepath.Join(dir, fmt.Sprint(i)), script))
	}
	p := newWorkspace(t, servers...).serve().speak(oldDialect)
	begun := time.Now()
	p.initialize()
	greeted := time.Since(begun)
	begun = time.Now()
	list := p.begin("tools/list", nil)
	for _, name := range []string{"s19", "s03"} {
		p.tool(name+"__add", object{"a": 1, "b": 2}).text(t)
	}
	called := time.Since(begun)
	p.answer(list)
	got := names(t, p.list("tools/list", "tools"), "name")
	for i := 3; i < 20; i++ {
		if want := fmt.Sprintf("s%02d__add", i); !slices.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	t.Logf("the gateway was ready after %s (limit 1s), two calls took %s (limit 1s)", greeted, called)
	if allCombinations() && max(greeted, called) > time.Second || called > testTimeout/2 {
		t.Error("hanging servers delay others")
	}
}

// TestManyColdServers has 200 servers that compute at their start. A call of
// one must not wait for the others, and all must start.
func TestManyColdServers(t *testing.T) {
	rarely(t)
	const many = 200
	dir := t.TempDir()
	var servers []server
	for i := range many {
		servers = append(servers, scripted(fmt.Sprintf("s%03d", i), filepath.Join(dir, fmt.Sprint(i)), `exec "$2"`))
	}
	p := newWorkspace(t, servers...).serve().speak(oldDialect)
	p.initialize()
	begun := time.Now()
	list := p.begin("tools/list", nil)
	var slowest time.Duration
	for _, name := range []string{"s199", "s150", "s100"} {
		at := time.Now()
		p.tool(name+"__add", object{"a": 1, "b": 2}).text(t)
		slowest = max(slowest, time.Since(at))
	}
	p.answer(list)
	for complete := false; !complete; complete = len(p.list("tools/list", "tools")) == 3*many {
		if time.Since(begun) > 4*testTimeout {
			t.Fatal("the list is not complete")
		}
	}
	took := time.Since(begun)
	t.Logf("the slowest call took %s (limit 1s), the complete list %s (limit 20s)", slowest, took)
	if slowest > 2*time.Second || took > 20*time.Second {
		t.Error("cold servers delay each other")
	}
}
