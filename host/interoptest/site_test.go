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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is one server block of a configuration: a command that Junctor runs,
// or a server that is running already.
type server struct {
	name    string
	command []string
	env     map[string]string
	web     *web   // where it runs; nil: command says how to start it
	more    string // further lines of the block
}

// under is the same server under another name.
func (s server) under(name string) server {
	s.name = name
	return s
}

// with is the same server with further lines in its block.
func (s server) with(lines string) server {
	s.more += lines
	return s
}

// hcl is the server's block.
func (s server) hcl() string {
	var b strings.Builder
	fmt.Fprintf(&b, "server %q {\n%s%s", s.name, s.transport(), s.more)
	if !strings.Contains(s.more, "timeouts") {
		// Machines that test are busy.
		b.WriteString("  timeouts {\n    start = \"60s\"\n  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// transport is the block that says how it is reached.
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
// which it starts unless it is running.
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

// A site is a configuration with a home directory of its own.
type site struct {
	t      *testing.T
	dir    string
	config string
	env    []string // further variables for junctor
}

// newSite writes the configuration.
func newSite(t *testing.T, servers ...server) *site {
	t.Helper()
	if err := watchSources(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &site{t: t, dir: dir, config: filepath.Join(dir, "junctor.hcl")}
	var text strings.Builder
	for _, one := range servers {
		one.env = maps.Clone(one.env)
		if one.env == nil {
			one.env = map[string]string{}
		}
		one.env[siteVariable] = dir
		text.WriteString(one.hcl())
	}
	if err := os.WriteFile(s.config, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// command is a junctor command line at this site.
func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program("junctor"), args...)
	cmd.Dir = s.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "JUNCTOR_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "JUNCTOR_HOME="+filepath.Join(s.dir, "home"), "JUNCTOR_CONFIG="+s.config, siteVariable+"="+s.dir)
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// An outcome is what a command line did.
type outcome struct {
	t              *testing.T
	args           []string
	stdout, stderr string
	status         int
}

// run runs a junctor command line to its end.
func (s *site) run(args ...string) outcome {
	s.t.Helper()
	return s.runWith("", args...)
}

// runWith is run with something on standard input.
func (s *site) runWith(stdin string, args ...string) outcome {
	s.t.Helper()
	return s.runWithin(patience, stdin, args...)
}

// runWithin is runWith for what may take longer.
func (s *site) runWithin(limit time.Duration, stdin string, args ...string) outcome {
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
	_ = cmd.Wait() // the status says it
	if ctx.Err() != nil {
		s.t.Fatalf("junctor %s did not end\n%s", strings.Join(args, " "), stderr.String())
	}
	return outcome{t: s.t, args: args, stdout: stdout.String(), stderr: stderr.String(), status: cmd.ProcessState.ExitCode()}
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

// says checks that standard error holds each of the texts.
func (o outcome) says(texts ...string) outcome {
	o.t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.stderr, text) {
			o.t.Errorf("junctor %s: standard error has no %q:\n%s", strings.Join(o.args, " "), text, clip(o.stderr))
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
	site *site
}

// serve starts junctor serve. Unless the test ended it itself, the test's end
// does: with the end of standard input, after which nothing may be left.
func (s *site) serve(args ...string) *gateway {
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

// finish ends the gateway by the end of its input.
func (g *gateway) finish() {
	g.t.Helper()
	_ = g.stdin.Close()
	if status := g.wait(); status != 0 {
		g.t.Errorf("junctor serve: exit status %d after the end of its input, want 0", status)
	}
	g.noneLeft()
}

// speak returns the client's end of a conversation with the gateway.
func (g *gateway) speak(d dialect) *peer {
	g.t.Helper()
	return newPeer(g.t, g.process, d)
}

// transport is the gateway for a client of the Go SDK.
func (g *gateway) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: g.stdout, Writer: g.stdin}
}
