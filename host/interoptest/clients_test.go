package interoptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An npmClient is a client from npm with its own home directory, which uses
// junctor serve in a workspace.
type npmClient struct {
	t    *testing.T
	site *workspace
	home string
}

func newNPMClient(t *testing.T) *npmClient {
	t.Helper()
	npmClients.require(t)
	f := &npmClient{t: t, site: newWorkspace(t, gosdk(), everything(t)), home: t.TempDir()}
	// A client that lists once does not wait for a slow server, but gets its
	// cached list.
	if out, err := f.site.command("tools").CombinedOutput(); err != nil {
		t.Fatalf("junctor tools: %v\n%s", err, out)
	}
	return f
}

// command returns a command of the kit.
func (f *npmClient) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("node", append([]string{npmClients.bin(name)}, args...)...)
	cmd.Dir = f.home
	// The workspace's variables, for clients that pass their environment on.
	cmd.Env = append(f.site.command().Env, "HOME="+f.home, "NO_COLOR=1", "CI=1")
	return cmd
}

// run runs a program of the kit to its end and returns its output.
func (f *npmClient) run(name string, args ...string) string {
	f.t.Helper()
	return string(output(f.t, f.command(name, args...)))
}

// expect checks that an output contains each of the texts.
func (f *npmClient) expect(what, printed string, texts ...string) {
	f.t.Helper()
	for _, text := range texts {
		if !strings.Contains(printed, text) {
			f.t.Errorf("%s: no %q in:\n%s", what, text, clip(printed))
		}
	}
}

// TestMcporter uses a client that makes functions of tools.
func TestMcporter(t *testing.T) {
	t.Parallel()
	f := newNPMClient(t)
	serve := program("junctor") + " serve"
	f.expect("list", f.run("mcporter", "list", "--stdio", serve), "go__echo", "every__get-sum",
		"Returns the sum of two numbers")
	f.expect("call", f.run("mcporter", "call", "--stdio", serve, "go__echo", "text=hello"), "hello")
}

// TestMcpc uses a client that keeps its session in a separate process.
func TestMcpc(t *testing.T) {
	rarely(t) // it gives its own process 5 s to start, which a busy machine exceeds
	t.Parallel()
	f := newNPMClient(t)
	env := map[string]string{}
	for _, kv := range f.site.command().Env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "JUNCTOR_") || name == workspaceVariable {
			env[name] = value
		}
	}
	config, err := json.Marshal(object{
		"mcpServers": object{"junctor": object{"command": program("junctor"), "args": []string{"serve"}, "env": env}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.home, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	f.expect("connect", connectMcpc(t, func() *exec.Cmd { return f.command("mcpc", "connect", file+":junctor", "@j") }),
		"junctor", "go__echo")
	defer f.run("mcpc", "@j", "close")
	f.expect("tools", f.run("mcpc", "@j", "tools-list"), "go__echo", "task:forbidden")
	f.expect("call", f.run("mcpc", "@j", "tools-call", "go__echo", "text:=hello"), "hello")
	f.expect("read", f.run("mcpc", "@j", "resources-read", "go://resource/one"), "what stands at")
	f.expect("prompt", f.run("mcpc", "@j", "prompts-get", "go__topic", "topic:=trains"), "trains")
	f.expect("ping", f.run("mcpc", "@j", "ping"), "successful")
}
