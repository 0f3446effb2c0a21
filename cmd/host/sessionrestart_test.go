//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// restart ends the process and starts it again with the same configuration.
func (s *gatewaySite) restart() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	s.awaitExit()
	s.start("serve", "--http")
}

// TestSessionsOutliveARestart restarts the process without any setting about sessions: the
// next request of a client of the legacy era works.
func TestSessionsOutliveARestart(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]int{
		"": http.StatusOK,
		"    sessions {\n      store = \"memory\"\n    }\n": http.StatusNotFound,
	} {
		s := startGatewaySite(t, fmt.Sprintf("    listen = %q\n%s", freeAddress(t), content))
		session := s.client("").initialize()
		session.expect("before", http.StatusOK)
		s.restart()
		session.url = s.url
		session.expect(fmt.Sprintf("after a restart with %q", content), want)
	}
}

// TestSessionsWithoutTheirFile starts where the file of sessions cannot be used: the gateway
// serves from memory and says so, unless the configuration requires the file.
func TestSessionsWithoutTheirFile(t *testing.T) {
	t.Parallel()
	s := &gatewaySite{reloadSite: newReloadSite(t)}
	var home string
	for _, kv := range s.cmd.Env {
		if value, is := strings.CutPrefix(kv, "JUNCTOR_HOME="); is {
			home = value
		}
	}
	if err := os.MkdirAll(filepath.Join(home, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "data", "sessions"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf("    listen = %q\n", freeAddress(t))
	s.configure(content + "    sessions {\n      required = true\n    }\n")
	s.trust()
	if out, _, status := s.junctor("serve", "--http"); status != 2 || out != "" {
		t.Errorf("with required it ended with %d and %q", status, out)
	}
	s.configure(content)
	s.trust()
	cmd := exec.Command("junctor", "serve", "--http")
	cmd.Dir, cmd.Env = s.cmd.Dir, s.cmd.Env
	s.reloadProcess = startProcess(t, cmd)
	if line := s.waitLog("sessions are kept in memory"); !strings.Contains(line, "[WARN]") ||
		!strings.Contains(line, "hint=") {
		t.Errorf("the warning is %s", line)
	}
	s.url = s.endpoint()
	s.client("").initialize().expect("a session in memory", http.StatusOK)
}

// TestApprovalsOutliveARestart approves a call before a restart, and leaves another one
// waiting.
func TestApprovalsOutliveARestart(t *testing.T) {
	t.Parallel()
	s := &gatewaySite{reloadSite: newReloadSite(t), servers: "server \"more\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\npolicy {\n  confirm {\n    tools = [\"*\"]\n    valid = \"10m\"\n  }\n}\n"}
	s.configure(fmt.Sprintf("    listen = %q\n", freeAddress(t)))
	s.start("serve", "--http")
	names := []string{"steady__add", "more__add"}
	for _, name := range names {
		if _, text, err := s.client("").call(name); err != nil || !strings.Contains(text, "needs an approval") {
			t.Fatalf("%s: %v, %s", name, err, text)
		}
	}
	ids := s.waitingApprovals()
	if _, errs, status := s.junctor("approvals", "approve", ids[names[0]]); status != 0 {
		t.Fatal(errs)
	}
	s.restart()
	if again := s.waitingApprovals(); again[names[1]] != ids[names[1]] || again[names[0]] != "" {
		t.Errorf("%v wait after the restart, before it %v", again, ids)
	}
	if _, text, err := s.client("").call(names[0]); err != nil || strings.Contains(text, "needs an approval") {
		t.Errorf("the call that was approved: %v, %s", err, text)
	}
	if _, text, err := s.client("").call(names[0]); err != nil || !strings.Contains(text, "needs an approval") {
		t.Errorf("a second time: %v, %s", err, text)
	}
}

// waitingApprovals returns the ids of what waits, by the exposed names of tools.
func (s *gatewaySite) waitingApprovals() map[string]string {
	s.t.Helper()
	out, errs, _ := s.junctor("--json", "approvals")
	var all []struct{ ID, State, Server, Item string }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		s.t.Fatalf("%v: %s %s", err, out, errs)
	}
	ids := map[string]string{}
	for _, a := range all {
		if a.State == "waiting" {
			ids[a.Server+"__"+a.Item] = a.ID
		}
	}
	return ids
}

// TestReadinessEndsFirst sends SIGTERM: the gateway is not ready at once, and still serves
// for the ready delay.
func TestReadinessEndsFirst(t *testing.T) {
	t.Parallel()
	s := startGatewaySite(t,
		fmt.Sprintf("    listen = %q\n    timeouts {\n      ready_delay = \"3s\"\n    }\n", freeAddress(t)))
	session := s.client("").initialize()
	ready := func() int {
		resp, err := session.request(http.MethodGet, "/readyz", "")
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := ready(); got != http.StatusOK {
		t.Fatalf("before: %d", got)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.waitLog("not ready any longer")
	if got := ready(); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz after the signal: %d", got)
	}
	session.expect("a call after the signal", http.StatusOK)
	s.client("").initialize().expect("a new session after the signal", http.StatusOK)
	s.waitLog("new requests are refused")
	s.awaitExit()
}
