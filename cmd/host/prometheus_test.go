//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestPrometheus lets a real Prometheus scrape a gateway, with the alerts of the examples,
// and asks it for what was counted.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("JUNCTOR_REQUIRE_PROMETHEUS") != "" {
			t.Fatal(err)
		}
		t.Skip("prometheus is not installed")
	}
	s := newMetricsSite(t)
	ann := s.client(annToken)
	for range 3 {
		ann.must("tools/call", "echo__echo", "{}")
	}
	server := startPrometheus(t, program, s.metrics)
	for query, want := range map[string]string{
		`up{job="junctor"}`: "1",
		`sum(mcp_requests_total{tenant="acme",tool="echo__echo",outcome="ok"})`: "3",
		`sum(mcp_request_duration_seconds_count{tool="echo__echo"})`:            "3",
		`junctor_server_state{server="echo",state="ready"}`:                     "1",
		`count(ALERTS{alertstate="firing",severity="critical"}) or vector(0)`:   "0",
	} {
		awaitQuery(t, server, query, want)
	}
}

// startPrometheus starts a Prometheus that scrapes an address every second. It returns its
// URL. The test ends it.
func startPrometheus(t *testing.T, program, target string) string {
	t.Helper()
	dir, address := t.TempDir(), freeAddress(t)
	rules, err := filepath.Abs(filepath.Join("..", "..", "examples", "monitoring", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("global:\n  scrape_interval: 1s\nrule_files:\n  - %s\nscrape_configs:\n  - job_name: junctor\n    static_configs:\n      - targets: [%q]\n",
		rules, target)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	cmd := exec.Command(program, "--config.file=prometheus.yml", "--storage.tsdb.path=data",
		"--web.listen-address="+address)
	cmd.Dir, cmd.Stderr = dir, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return "http://" + address
}

// awaitQuery asks for the value of an expression until it is the wanted one.
func awaitQuery(t *testing.T, server, query, want string) {
	t.Helper()
	eventually.NoError(t, func() error {
		if got := prometheusValue(server, query); got != want {
			return fmt.Errorf("%s is %s, want %s", query, got, want)
		}
		return nil
	})
}

// prometheusValue returns the value of the only series of an expression, or why there is
// none.
func prometheusValue(server, query string) string {
	resp, err := http.Get(server + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Error != "" {
		return fmt.Sprint(answer.Error, err)
	}
	if len(answer.Data.Result) != 1 {
		return fmt.Sprintf("%d series", len(answer.Data.Result))
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}
