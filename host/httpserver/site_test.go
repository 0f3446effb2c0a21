package httpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A site is "junctor serve --http", with clients over the network.
type site struct {
	*process
	at      string // as it says itself: host and port, or a path
	said    locked
	reading sync.WaitGroup
}

// openSite starts one with a configuration and a home that may have been used
// before. It ends with the test.
func openSite(t *testing.T, home, config, address string) *site {
	t.Helper()
	return openSiteAs(t, home, config, address, func(*site) {})
}

// openSiteAs is openSite for a process that is changed before it starts.
func openSiteAs(t *testing.T, home, config, address string, change func(*site)) *site {
	t.Helper()
	s := &site{process: prepare(home, t, config)}
	s.cmd.Args = append(s.cmd.Args, "--http="+address, "--log", "info")
	s.cmd.Env = append(s.cmd.Env, "JUNCTOR_LOG_FORMAT=json")
	change(s)
	out, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	at := make(chan string, 1)
	s.reading.Go(func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			_, _ = s.said.Write(append(lines.Bytes(), '\n'))
			var m struct {
				Message string `json:"@message"`
				Address string `json:"address"`
			}
			if json.Unmarshal(lines.Bytes(), &m) == nil && m.Message == "serving over HTTP" {
				at <- m.Address
			}
		}
	})
	t.Cleanup(s.close)
	select {
	case s.at = <-at:
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		t.Fatalf("junctor does not serve\n%s", s.said.String())
	}
	return s
}

// close asks it to end and expects that it does, in order.
func (s *site) close() {
	if s.ended {
		return
	}
	s.ended = true
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	s.reading.Wait()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("junctor serve --http ended with %v\n%s", err, s.said.String())
	}
}

// kill ends it without asking.
func (s *site) kill() {
	s.ended = true
	_ = s.cmd.Process.Kill()
	s.reading.Wait()
	_ = s.cmd.Wait()
}

// visit is a client with connections of its own.
func (s *site) visit(t *testing.T) *visitor {
	return newVisitor(t, "http://"+s.host()+"/mcp", &http.Transport{MaxIdleConnsPerHost: 1000, DialContext: s.dial})
}

func (s *site) host() string {
	if s.isUnix() {
		return "junctor"
	}
	return s.at
}

func (s *site) isUnix() bool { return strings.Contains(s.at, "/") }

func (s *site) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	if s.isUnix() {
		return d.DialContext(ctx, "unix", s.at)
	}
	return d.DialContext(ctx, "tcp", s.at)
}

// gatewayBlock is a gateway with some words in its http block.
func gatewayBlock(words string) string {
	return fmt.Sprintf("gateway {\n  http {\n%s\n  }\n}\n", words)
}

// cliPlugin builds the plugin that wraps programs, once a run.
var cliPlugin = struct {
	once sync.Once
	err  error
}{}

func withCLI(t *testing.T) {
	t.Helper()
	dir := programs(t)
	cliPlugin.once.Do(func() {
		c := exec.Command("go", "build", "-tags", "grpcnotrace", "-o", filepath.Join(dir, "plugins", "junctor-plugin-cli"), "./plugins/cli")
		c.Dir = "../.."
		if out, err := c.CombinedOutput(); err != nil {
			cliPlugin.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if cliPlugin.err != nil {
		t.Fatal(cliPlugin.err)
	}
}
