package interoptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A server is one server block of a configuration: a command that Junctor runs,
// or a running server.
type server struct {
	name    string
	command []string
	env     map[string]string
	web     *webServer // running server; nil: command starts it
	more    string     // more lines of the block
}

// under returns the server under another name.
func (s server) under(name string) server {
	s.name = name
	return s
}

// with returns the server with more lines in its block.
func (s server) with(lines string) server {
	s.more += lines
	return s
}

// hcl returns the server's block.
func (s server) hcl() string {
	var b strings.Builder
	fmt.Fprintf(&b, "server %q {\n%s%s", s.name, s.transport(), s.more)
	if !strings.Contains(s.more, "timeouts") {
		// Test machines are busy.
		b.WriteString("  timeouts {\n    start = \"60s\"\n  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// transport returns the transport block.
func (s server) transport() string {
	if s.web != nil {
		return s.web.hcl()
	}
	var b strings.Builder
	var words []string
	for _, w := range s.command {
		words = append(words, quoted(w))
	}
	fmt.Fprintf(&b, "  transport \"stdio\" {\n    command = [%s]\n    env = {\n", strings.Join(words, ", "))
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		fmt.Fprintf(&b, "      %s = %s\n", name, quoted(s.env[name]))
	}
	b.WriteString("    }\n  }\n")
	return b.String()
}

func quoted(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(fmt.Sprintf("%q", s))
}

// direct returns the client's end of a conversation with the server itself,
// which it starts if necessary.
func (s server) direct(t *testing.T, d dialect) *peer {
	t.Helper()
	if s.web != nil {
		return s.web.direct(t, d)
	}
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Env = os.Environ()
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	p := launch(t, cmd)
	return newPeer(t, p, d)
}

// A workspace is a configuration with its own home directory.
type workspace struct {
	t      *testing.T
	dir    string
	config string
	env    []string // more variables for junctor
}

// newWorkspace writes the configuration.
func newWorkspace(t *testing.T, servers ...server) *workspace {
	t.Helper()
	if err := watchSources(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &workspace{t: t, dir: dir, config: filepath.Join(dir, "junctor.hcl")}
	var text strings.Builder
	for _, one := range servers {
		one.env = maps.Clone(one.env)
		if one.env == nil {
			one.env = map[string]string{}
		}
		one.env[workspaceVariable] = dir
		text.WriteString(one.hcl())
	}
	if err := os.WriteFile(s.config, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// command returns a junctor command line.
func (s *workspace) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program("junctor"), args...)
	cmd.Dir = s.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "JUNCTOR_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "JUNCTOR_HOME="+filepath.Join(s.dir, "home"),
		"JUNCTOR_CONFIG="+s.config, workspaceVariable+"="+s.dir)
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// An outcome is the result of a command line.
type outcome struct {
	t              *testing.T
	args           []string
	stdout, stderr string
	status         int
}

// run runs a junctor command line to its end.
func (s *workspace) run(args ...string) outcome {
	s.t.Helper()
	return s.runWith("", args...)
}

// runWith is run with standard input.
func (s *workspace) runWith(stdin string, args ...string) outcome {
	s.t.Helper()
	return s.runWithin(testTimeout, stdin, args...)
}

// runWithin is runWith with another time limit.
func (s *workspace) runWithin(limit time.Duration, stdin string, args ...string) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := s.command(args...)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	_ = cmd.Wait() // checked by the status
	if ctx.Err() != nil {
		s.t.Fatalf("junctor %s did not end\n%s", strings.Join(args, " "), stderr.String())
	}
	return outcome{t: s.t, args: args, stdout: stdout.String(), stderr: stderr.String(),
		status: cmd.ProcessState.ExitCode()}
}

// exits checks the exit status.
func (o outcome) exits(status int) outcome {
	o.t.Helper()
	if o.status != status {
		o.t.Fatalf("junctor %s: exit status %d, want %d\nstdout: %s\nstderr: %s",
			strings.Join(o.args, " "), o.status, status, clip(o.stdout), clip(o.stderr))
	}
	return o
}

// says checks that standard error contains each of the texts.
func (o outcome) says(texts ...string) outcome {
	o.t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.stderr, text) {
			o.t.Errorf("junctor %s: standard error does not contain %q:\n%s",
				strings.Join(o.args, " "), text, clip(o.stderr))
		}
	}
	return o
}

// into decodes standard output, which must be one JSON value.
func (o outcome) into(v any) {
	o.t.Helper()
	if err := json.Unmarshal([]byte(o.stdout), v); err != nil {
		o.t.Fatalf("junctor %s: standard output: %v\n%s", strings.Join(o.args, " "), err, clip(o.stdout))
	}
}

// servers decodes the output of status.
func (o outcome) servers() []status {
	o.t.Helper()
	var v struct{ Servers []status }
	o.into(&v)
	return v.Servers
}

func clip(s string) string {
	const most = 4000
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// A gateway is a running junctor serve.
type gateway struct {
	*process
	site *workspace
}

// serve starts junctor serve. At the end of the test its input is closed, if
// the test did not end it, and it must leave no process.
func (s *workspace) serve(args ...string) *gateway {
	s.t.Helper()
	g := &gateway{process: launch(s.t, s.command(append([]string{"serve"}, args...)...)), site: s}
	s.t.Cleanup(func() {
		select {
		case <-g.exited:
		default:
			g.finish()
		}
	})
	return g
}

// finish closes the input of the gateway and expects an exit.
func (g *gateway) finish() {
	g.t.Helper()
	_ = g.stdin.Close()
	if status := g.wait(); status != 0 {
		g.t.Errorf("junctor serve: exit status %d after the end of its input, want 0", status)
	}
	g.expectNoProcesses()
}

// speak returns the client's end of a conversation with the gateway.
func (g *gateway) speak(d dialect) *peer {
	g.t.Helper()
	return newPeer(g.t, g.process, d)
}

// transport returns the gateway as a transport of the Go SDK.
func (g *gateway) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: g.stdout, Writer: g.stdin}
}

// An endpoint is a running junctor serve --http.
type endpoint struct {
	*process
	site *workspace
	url  string // of /mcp
}

// serving matches the line with the address of the listener.
var serving = regexp.MustCompile(`serving over HTTP: address=(\S+)`)

// serveHTTP starts junctor serve --http on a free port.
func (s *workspace) serveHTTP() *endpoint {
	s.t.Helper()
	return s.serveHTTPAt("127.0.0.1:0")
}

// serveHTTPAt starts junctor serve --http at an address. It is terminated at
// the end of the test, and must leave no process.
func (s *workspace) serveHTTPAt(address string) *endpoint {
	s.t.Helper()
	e := &endpoint{process: launch(s.t, s.command("serve", "--http="+address, "--log", "info")), site: s}
	s.t.Cleanup(e.finish)
	eventually.NoError(s.t, func() error {
		if found := serving.FindStringSubmatch(e.stderr.String()); found != nil {
			e.url = "http://" + found[1] + "/mcp"
			return nil
		}
		select {
		case <-e.exited:
			s.t.Fatalf("junctor serve --http ended: %s", e.stderr)
		default:
		}
		return fmt.Errorf("junctor serve --http does not listen: %s", e.stderr)
	})
	return e
}

// finish terminates the endpoint.
func (e *endpoint) finish() {
	e.t.Helper()
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	if status := e.wait(); status != 0 {
		e.t.Errorf("junctor serve --http: exit status %d after SIGTERM, want 0", status)
	}
	expectNone(e.t, func() []string { return append(marked(e.cmd.Process.Pid), e.site.running()...) })
}
