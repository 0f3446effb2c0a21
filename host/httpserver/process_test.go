package httpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// An httpProcess is a running "junctor serve --http".
type httpProcess struct {
	*process
	address string // address that it reports: host and port, or a path
	log     lockedBuffer
	reading sync.WaitGroup
}

// startHTTP starts a process with a configuration and a home directory, which
// may have been used before. The process ends with the test.
func startHTTP(t *testing.T, home, config, address string) *httpProcess {
	t.Helper()
	return startHTTPAs(t, home, config, address, func(*httpProcess) {})
}

// startHTTPAs is startHTTP for a process that change modifies before it starts.
func startHTTPAs(t *testing.T, home, config, address string, change func(*httpProcess)) *httpProcess {
	t.Helper()
	s := &httpProcess{process: newProcess(home, t, config)}
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
			_, _ = s.log.Write(append(lines.Bytes(), '\n'))
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
	case s.address = <-at:
	case <-time.After(testTimeout):
		_ = s.cmd.Process.Kill()
		t.Fatalf("junctor serve --http did not start\n%s", s.log.String())
	}
	return s
}

// close terminates the process and expects an orderly exit.
func (s *httpProcess) close() {
	if s.ended {
		return
	}
	s.ended = true
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(testTimeout, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	s.reading.Wait()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("junctor serve --http ended with %v\n%s", err, s.log.String())
	}
}

// kill kills the process.
func (s *httpProcess) kill() {
	s.ended = true
	_ = s.cmd.Process.Kill()
	s.reading.Wait()
	_ = s.cmd.Wait()
}

// newClient returns a client with its own connections.
func (s *httpProcess) newClient(t *testing.T) *testClient {
	return newTestClient(t, "http://"+s.host()+"/mcp", &http.Transport{MaxIdleConnsPerHost: 1000, DialContext: s.dial})
}

func (s *httpProcess) host() string {
	if s.isUnix() {
		return "junctor"
	}
	return s.address
}

func (s *httpProcess) isUnix() bool { return strings.Contains(s.address, "/") }

func (s *httpProcess) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	if s.isUnix() {
		return d.DialContext(ctx, "unix", s.address)
	}
	return d.DialContext(ctx, "tcp", s.address)
}

// gatewayBlock returns a gateway block whose http block contains words.
func gatewayBlock(words string) string {
	return fmt.Sprintf("gateway {\n  http {\n%s\n  }\n}\n", words)
}
