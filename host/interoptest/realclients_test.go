package interoptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An account is what a client did. The scripts of the SDKs print it.
type account struct {
	Revision                          string
	Tools                             []string
	Sum, Everything, Resource, Prompt string
	Elicited, Sampled                 map[string]string    // by server: old, new
	Progress                          map[string][]float64 // by server, like the following: go, goold
	Logs, Cancelled, Grown            map[string]bool
	Updated                           bool
}

// check compares an account with the servers of the gateway.
func (r account) check(t *testing.T, revision string) {
	t.Helper()
	if r.Revision != revision {
		t.Errorf("the client and junctor speak %s, want %s", r.Revision, revision)
	}
	for _, name := range []string{"demo__add", "every__get-sum", "go__echo", "goold__echo", "old__test_sampling",
		"new__test_input_required_result_sampling"} {
		if !slices.Contains(r.Tools, name) {
			t.Errorf("%s is not among the tools %v", name, r.Tools)
		}
	}
	for got, want := range map[string]string{
		r.Sum: "42", r.Everything: "is 5", r.Resource: "junctor joins", r.Prompt: "Introduce Ada",
		r.Elicited["old"]: "username:Ada", r.Elicited["new"]: "Hello, Ada", r.Sampled["old"]: "LLM response: Paris",
		r.Sampled["new"]: "Sampling response: Paris",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	for _, of := range []string{"go", "goold"} {
		p := r.Progress[of]
		if len(p) < 2 || p[len(p)-1] != 3 || !slices.IsSorted(p) {
			t.Errorf("%s: progress %v, want 3 at the end", of, p)
		}
		if !r.Logs[of] || !r.Cancelled[of] || !r.Grown[of] {
			t.Errorf("%s: log message: %t, cancelled call: %t, list change: %t",
				of, r.Logs[of], r.Cancelled[of], r.Grown[of])
		}
	}
	if !r.Updated {
		t.Error("the update of a resource did not arrive")
	}
}

// TestRealClients has clients of four SDKs, in each era that they support, and
// programs that use them share one gateway.
func TestRealClients(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many programs")
	}
	t.Parallel()
	npmClients.require(t)
	npmWeb.require(t)
	pythonOne.require(t)
	pythonTwo.require(t)
	const own = "  share = \"session\"\n"
	all := newWorkspace(t, everything(t), server{name: "demo", command: []string{program("demo")}},
		gosdk(), gosdk().under("goold").pinned(latestLegacy),
		everythingServer(t).under("old").pinned(latestLegacy).with(own),
		everythingServer(t).under("new").pinned(modern).with(own))
	all.run("tools").exits(0) // fills the cache with servers that are slow to start
	e := all.serveHTTP()
	sdks := map[string]func(name, era string) *exec.Cmd{
		"ts1": func(name, _ string) *exec.Cmd {
			return exec.Command("node", npmClients.path("client.mjs"), e.url, name)
		},
		"ts2": func(name, era string) *exec.Cmd {
			return exec.Command("node", npmWeb.path("client.mjs"), e.url, name, era)
		},
		"py1": func(name, era string) *exec.Cmd {
			return exec.Command(pythonOne.python(), source("python/client.py"), e.url, name, era)
		},
		"py2": func(name, era string) *exec.Cmd {
			return exec.Command(pythonTwo.python(), "-W", "ignore", source("python/client.py"), e.url, name, era)
		},
	}
	t.Run("all", func(t *testing.T) {
		for sdk, command := range sdks {
			for era, d := range eras {
				if strings.HasSuffix(sdk, "1") && d.modern() {
					continue // the SDK supports no other era
				}
				t.Run(sdk+"/"+era, func(t *testing.T) {
					t.Parallel()
					var a account
					decode(t, output(t, command(sdk+"-"+era, era)), &a)
					a.check(t, d.revision)
				})
			}
		}
		for era, d := range eras {
			t.Run("go/"+era, func(t *testing.T) {
				t.Parallel()
				accountOf(e.connect(t, d, answeringAsAda), "go-"+era).check(t, d.revision)
			})
		}
		e.programs(t)
	})
	// Each of the eight clients above cancelled a call at both servers.
	s := e.connect(t, newDialect, nil)
	for _, of := range []string{"go", "goold"} {
		if got := s.call(of+"__reach", object{"number": 8}); got != "8" {
			t.Errorf("%s: %s calls were cancelled, want 8", of, got)
		}
	}
}

// programs uses the endpoint with interactive programs.
func (e *endpoint) programs(t *testing.T) {
	command := func(t *testing.T, name string, args ...string) *exec.Cmd {
		t.Helper()
		home := filepath.Join(e.site.dir, strings.ReplaceAll(t.Name(), "/", "-"))
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", append([]string{npmClients.bin(name)}, args...)...)
		cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "NO_COLOR=1", "CI=1")
		return cmd
	}
	run := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		return string(output(t, command(t, name, args...)))
	}
	holds := func(t *testing.T, printed string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(printed, text) {
				t.Errorf("no %q in:\n%s", text, clip(printed))
			}
		}
	}
	t.Run("mcporter", func(t *testing.T) {
		t.Parallel()
		to := []string{"--http-url", e.url, "--allow-http"}
		holds(t, run(t, "mcporter", append([]string{"list"}, to...)...), "demo__add", "every__get-sum")
		holds(t, run(t, "mcporter", append([]string{"call"}, append(to, "demo__add", "a=2", "b=40")...)...), "42")
	})
	t.Run("mcpc", func(t *testing.T) {
		rarely(t)
		t.Parallel()
		holds(t, connectMcpc(t, func() *exec.Cmd { return command(t, "mcpc", "connect", e.url, "@h") }), "demo__add")
		defer run(t, "mcpc", "@h", "close")
		holds(t, run(t, "mcpc", "@h", "tools-list"), "demo__add", "every__get-sum")
		holds(t, run(t, "mcpc", "@h", "tools-call", "demo__add", "a:=2", "b:=40"), "42")
		holds(t, run(t, "mcpc", "@h", "resources-read", "demo://about"), "junctor joins")
		holds(t, run(t, "mcpc", "@h", "prompts-get", "demo__introduce", "who:=Ada"), "Introduce Ada")
	})
	t.Run("inspector", func(t *testing.T) {
		rarely(t)
		t.Parallel()
		for _, one := range []struct{ args, says string }{
			{"tools/list", "every__get-sum"},
			{"tools/call --tool-name every__get-sum --tool-arg a=2 --tool-arg b=3", "is 5"},
			{"resources/read --uri demo://about", "junctor joins"},
			{"prompts/get --prompt-name demo__introduce --prompt-args who=Ada", "Introduce Ada"},
		} {
			args := append([]string{"--cli", e.url, "--transport", "http", "--method"}, strings.Fields(one.args)...)
			holds(t, run(t, "mcp-inspector", args...), one.says)
		}
	})
	t.Run("mcp-remote", func(t *testing.T) {
		t.Parallel()
		cmd := exec.Command("node", npmClients.bin("mcp-remote"), e.url, "--allow-http")
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "MCP_REMOTE_CONFIG_DIR="+t.TempDir())
		p := newPeer(t, launch(t, cmd), oldDialect)
		p.initialize()
		if tools := names(t, p.list("tools/list", "tools"), "name"); !slices.Contains(tools, "every__get-sum") {
			t.Errorf("tools: %v", tools)
		}
		if got := p.tool("demo__add", object{"a": 2, "b": 40}); !strings.Contains(got.raw, `{"sum":42}`) {
			t.Errorf("2 + 40: %s", got.raw)
		}
		holds(t, p.call("resources/read", object{"uri": "demo://about"}).raw, "junctor joins")
		holds(t, p.call("prompts/get", object{"name": "demo__introduce", "arguments": object{"who": "Ada"}}).raw,
			"Introduce Ada")
	})
}
