package httpserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/programs"
)

// built holds the programs for tests: junctor, its plugins for stdio servers and for command
// lines, and a server that misbehaves.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// buildPrograms builds the programs once per run and returns their directory.
// They are built without the race detector, as users run them.
func buildPrograms(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts programs")
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "listen-"); built.err != nil {
			return
		}
		built.err = buildAs(built.dir, map[string]string{
			"junctor": "./cmd/host", "plugins/junctor-plugin-stdio": "./plugins/stdio", "evil": "./testdata/evil/mcp",
			"plugins/junctor-plugin-cli": "./plugins/cli", "plugins/junctor-sandbox": "./plugins/internal/launcher",
		})
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// buildAs puts the programs of packages at paths in a directory.
func buildAs(dir string, packages map[string]string) error {
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o700); err != nil {
		return err
	}
	if err := programs.Build(dir, slices.Collect(maps.Values(packages))...); err != nil {
		return err
	}
	for target, source := range packages {
		if err := os.Rename(filepath.Join(dir, path.Base(source)), filepath.Join(dir, target)); err != nil {
			return err
		}
	}
	return nil
}

// A process is a running "junctor serve" with the test as its client.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	notes []string // notifications that arrived while an answer was awaited
	last  int
	ended bool
	err   strings.Builder
}

// startStdio starts a process with servers a, b, …, which run the misbehaving
// server in the given modes with extra configuration.
func startStdio(t *testing.T, extra string, modes ...string) *process {
	t.Helper()
	return startStdioIn(t.TempDir(), t, extra, modes...)
}

// startStdioIn is startStdio with a home directory that may have been used
// before.
func startStdioIn(home string, t *testing.T, extra string, modes ...string) *process {
	t.Helper()
	return startStdioWith(home, t, serverBlocks(t, extra, modes...))
}

// serverBlocks returns the server blocks of a configuration.
func serverBlocks(t *testing.T, extra string, modes ...string) string {
	t.Helper()
	var config strings.Builder
	for i, mode := range modes {
		var command []string
		for _, word := range append([]string{filepath.Join(buildPrograms(t), "evil")}, strings.Fields(mode)...) {
			command = append(command, fmt.Sprintf("%q", word))
		}
		fmt.Fprintf(&config, "server %q {\n  transport \"stdio\" {\n    command = [%s]\n  }\n%s\n}\n",
			string(rune('a'+i)), strings.Join(command, ", "), extra)
	}
	return config.String()
}

// startStdioWith is startStdio with a complete configuration.
func startStdioWith(home string, t *testing.T, text string) *process {
	t.Helper()
	p := newProcess(home, t, text)
	p.cmd.Stderr = &p.err
	p.startAndInitialize("error")
	return p
}

// newProcess returns a process that has not started.
func newProcess(home string, t *testing.T, text string) *process {
	t.Helper()
	dir := buildPrograms(t)
	path := filepath.Join(home, "junctor.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, lines: make(chan string, 1<<16)}
	p.cmd = exec.Command(filepath.Join(dir, "junctor"), "-c", path, "serve")
	p.cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+filepath.Join(home, "home"))
	return p
}

// startAndInitialize starts the process and initializes the session.
func (p *process) startAndInitialize(level string) {
	p.t.Helper()
	p.cmd.Args = append(p.cmd.Args, "--log", level)
	var out io.Reader
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	go p.read(out)
	p.t.Cleanup(p.closeInput)
	p.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.waitForAnswer(`"hello"`)
}

func (p *process) read(out io.Reader) {
	defer close(p.lines)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		p.lines <- strings.TrimSuffix(line, "\n")
	}
}

// closeInput closes the input and expects an orderly exit.
func (p *process) closeInput() {
	if p.ended {
		return
	}
	p.ended = true
	_ = p.in.Close()
	timer := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	for range p.lines {
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("junctor serve ended with %v\n%s", err, p.err.String())
	}
}

func (p *process) send(line string) {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("%v\n%s", err, p.err.String())
	}
}

// waitForAnswer returns the answer to a request and keeps notifications.
func (p *process) waitForAnswer(id string) string {
	p.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("junctor serve ended\n%s", p.err.String())
			}
			if strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`+id+`,`) {
				return line
			}
			p.notes = append(p.notes, line)
		case <-deadline:
			p.t.Fatalf("no answer to %s\n%s", id, p.err.String())
		}
	}
}

// start sends a request and returns its id.
func (p *process) start(method, params string) string {
	p.last++
	id := fmt.Sprint(p.last)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return id
}

// call calls a tool. It returns the answer and how long it took.
func (p *process) call(tool, more string) (string, time.Duration) {
	p.t.Helper()
	begun := time.Now()
	a := p.waitForAnswer(p.start("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}%s}`, tool, more)))
	return a, time.Since(begun)
}

// expectEcho expects the echo of a server.
func (p *process) expectEcho(server string) {
	p.t.Helper()
	if a, _ := p.call(server+"__echo", `,"n":9007199254740993`); !strings.Contains(a,
		`"echo":{"name":"echo","arguments":{},"n":9007199254740993}`) {
		p.t.Errorf("server %s answers %.300s", server, a)
	}
}

// tools returns the names of all tools.
func (p *process) tools() (names []string) {
	p.t.Helper()
	var m struct {
		Result struct {
			Tools []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(p.waitForAnswer(p.start("tools/list", `{}`))), &m); err != nil {
		p.t.Fatal(err)
	}
	for _, tool := range m.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// soak reports whether this run measures: the machine is idle, and limits are
// asserted exactly.
func soak() bool { return os.Getenv("JUNCTOR_SOAK") == "1" }

// within compares a duration with its limit. Outside a soak run the machine is
// shared, and the test only fails if something hangs.
func (p *process) within(what string, took, bar time.Duration) {
	p.t.Helper()
	limit := max(10*bar, testTimeout/2)
	if soak() {
		limit = bar
		fmt.Printf("%-46s %10s  (bar %s)\n", what, took.Round(100*time.Microsecond), bar)
	}
	if took > limit {
		p.t.Errorf("%s took %s, want at most %s", what, took, bar)
	}
}
