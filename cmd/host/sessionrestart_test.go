//go:build unix

package main

import (
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
	if line := s.waitLog("sessions are kept in memory"); !strings.Contains(line, "[WARN]") || !strings.Contains(line, "hint=") {
		t.Errorf("the warning is %s", line)
	}
	s.url = s.endpoint()
	s.client("").initialize().expect("a session in memory", http.StatusOK)
}
