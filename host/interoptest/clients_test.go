package interoptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A foreigner is a client from npm, with a home directory of its own, that
// uses junctor serve at a site.
type foreigner struct {
	t    *testing.T
	site *site
	home string
}

func newForeigner(t *testing.T) *foreigner {
	t.Helper()
	npmClients.require(t)
	f := &foreigner{t: t, site: newSite(t, gosdk(), everything(t)), home: t.TempDir()}
	// Who lists once does not wait for a server that is slow to start, but hears
	// what it had the last time.
	if out, err := f.site.command("tools").CombinedOutput(); err != nil {
		t.Fatalf("junctor tools: %v\n%s", err, out)
	}
	return f
}

// command is a program of the kit, in a home of its own.
func (f *foreigner) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("node", append([]string{npmClients.bin(name)}, args...)...)
	cmd.Dir = f.home
	// The site's own variables, for those who pass on what they have.
	cmd.Env = append(f.site.command().Env, "HOME="+f.home, "NO_COLOR=1", "CI=1")
	return cmd
}

// run runs a program of the kit to its end and returns what it prints.
func (f *foreigner) run(name string, args ...string) string {
	f.t.Helper()
	return string(output(f.t, f.command(name, args...)))
}

// holds checks that a program printed each of the texts.
func (f *foreigner) holds(what, printed string, texts ...string) {
	f.t.Helper()
	for _, text := range texts {
		if !strings.Contains(printed, text) {
			f.t.Errorf("%s: no %q in:\n%s", what, text, clip(printed))
		}
	}
}

// TestMcporter: a client that makes functions of tools.
func TestMcporter(t *testing.T) {
	t.Parallel()
	f := newForeigner(t)
	serve := program("junctor") + " serve"
	f.holds("list", f.run("mcporter", "list", "--stdio", serve), "go__echo", "every__get-sum", "Returns the sum of two numbers")
	f.holds("call", f.run("mcporter", "call", "--stdio", serve, "go__echo", "text=hello"), "hello")
}

// TestMcpc: a client that keeps its session in a process of its own.
func TestMcpc(t *testing.T) {
	t.Parallel()
	f := newForeigner(t)
	env := map[string]string{}
	for _, kv := range f.site.command().Env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "JUNCTOR_") || name == siteVariable {
			env[name] = value
		}
	}
	config, err := json.Marshal(object{"mcpServers": object{"junctor": object{"command": program("junctor"), "args": []string{"serve"}, "env": env}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.home, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	f.holds("connect", connectMcpc(t, func() *exec.Cmd { return f.command("mcpc", "connect", file+":junctor", "@j") }), "junctor", "go__echo")
	defer f.run("mcpc", "@j", "close")
	f.holds("tools", f.run("mcpc", "@j", "tools-list"), "go__echo", "task:forbidden")
	f.holds("call", f.run("mcpc", "@j", "tools-call", "go__echo", "text:=hello"), "hello")
	f.holds("read", f.run("mcpc", "@j", "resources-read", "go://resource/one"), "what stands at")
	f.holds("prompt", f.run("mcpc", "@j", "prompts-get", "go__topic", "topic:=trains"), "trains")
	f.holds("ping", f.run("mcpc", "@j", "ping"), "successful")
}
