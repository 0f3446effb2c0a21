package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
)

const (
	groupLimit  = 200 << 20
	groupAnswer = 6 << 20 // bytes
)

// newMemoryGroup makes a control group with a limit of memory and without swap. It returns
// the file for the ids of its processes, and the one with the most memory it has used. The
// test is skipped where it may not make one.
func newMemoryGroup(t *testing.T) (procs, peak string) {
	t.Helper()
	name := fmt.Sprintf("junctor-test-%d", os.Getpid())
	for _, v := range []struct{ root, limit, peak string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.peak"},
	} {
		dir := filepath.Join(v.root, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			for range 100 {
				if os.Remove(dir) == nil {
					return
				}
				time.Sleep(20 * time.Millisecond) // its processes are ending
			}
		})
		if os.WriteFile(filepath.Join(dir, v.limit), []byte(strconv.Itoa(groupLimit)), 0) == nil {
			_ = os.WriteFile(filepath.Join(dir, "memory.swap.max"), []byte("0"), 0)
			return filepath.Join(dir, "cgroup.procs"), filepath.Join(dir, v.peak)
		}
	}
	t.Skip("no control group for memory can be made")
	return "", ""
}

// largeServer is a server over HTTP whose tool answers with 6 MB, as JSON or as an event.
func largeServer(t *testing.T, stream bool) string {
	t.Helper()
	large := strings.Repeat("x", groupAnswer)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.Unmarshal(text, &m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{"content":[{"type":"text","text":"` + large + `"}]}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"l","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"large","inputSchema":{"type":"object"}}]}`
		}
		before, after := "", ""
		w.Header().Set("Content-Type", "application/json")
		if stream && m.Method == "tools/call" {
			w.Header().Set("Content-Type", "text/event-stream")
			before, after = "data: ", "\n\n"
		}
		_, _ = fmt.Fprintf(w, `%s{"jsonrpc":"2.0","id":%s,"result":%s}%s`, before, m.ID, result, after)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// TestSmallGroupSurvivesLargeAnswers runs a gateway with defaults in a control group of 200
// MiB. 24 clients read answers of 6 MB slowly. Gateway and plugin live, and clients that
// find no memory are told.
func TestSmallGroupSurvivesLargeAnswers(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%t", stream), func(t *testing.T) {
			procs, peak := newMemoryGroup(t)
			s := &gatewaySite{reloadSite: newReloadSite(t)}
			build(t, filepath.Join(filepath.Dir(s.path), "plugins", "junctor-plugin-http"), "./plugins/http")
			s.servers = fmt.Sprintf("server \"far\" {\n  transport \"http\" {\n    url = %q\n  }\n}\n",
				largeServer(t, stream))
			s.configure(fmt.Sprintf("    listen = %q\n", freeAddress(t)))
			s.trust()
			cmd := exec.Command("sh", "-c", `echo $$ > "$0" && exec junctor serve --http`, procs)
			cmd.Dir, cmd.Env = s.cmd.Dir, s.cmd.Env
			s.reloadProcess = startProcess(t, cmd)
			s.url = s.endpoint()
			outcomes := callAll(s, 24, 3)
			t.Logf("answers: %v; at most %s bytes of %d were used", outcomes, fileText(peak), groupLimit)
			if outcomes["ok"] < 10 || outcomes["other"] > 0 {
				t.Errorf("%v", outcomes)
			}
			var st struct{ Processes []control.Status }
			out, err := (&reloadDir{t: t, site: silent{s.cmd.Dir, s.cmd.Env}}).command("status", "--json", "--instance",
				strconv.Itoa(s.cmd.Process.Pid)).Output()
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(out, &st); err != nil {
				t.Fatalf("%v: %.300s", err, out)
			}
			if len(st.Processes) != 1 || len(st.Processes[0].Plugins) == 0 {
				t.Fatalf("no plugin runs: %.300s", out)
			}
			for _, p := range st.Processes[0].Plugins {
				if p.Restarts > 0 {
					t.Errorf("the plugin %s was started %d times again", p.Plugin, p.Restarts)
				}
			}
		})
	}
}

// callAll calls the large tool with several clients at a time, and counts the outcomes.
func callAll(s *gatewaySite, clients, times int) map[string]int {
	counts := map[string]int{}
	var mu sync.Mutex
	var work sync.WaitGroup
	for range clients {
		c := s.client("")
		work.Go(func() {
			for range times {
				status, text := slowCall(c)
				outcome := "other"
				switch {
				case status == http.StatusOK && len(text) > groupAnswer:
					outcome = "ok"
				case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable,
					strings.Contains(text, "-31011"), strings.Contains(text, "-31010"):
					outcome = "refused"
				}
				mu.Lock()
				counts[outcome]++
				if outcome == "other" {
					s.t.Logf("%d: %.300s", status, text)
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return counts
}

// slowCall calls the tool, and reads the answer after a while.
func slowCall(c *gatewayClient) (int, string) {
	resp, err := c.request(http.MethodPost, "/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"far__large","arguments":{},`+modernMeta+`}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "far__large")
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	time.Sleep(time.Second) // a slow reader: the gateway holds the answers meanwhile
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

func fileText(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}
