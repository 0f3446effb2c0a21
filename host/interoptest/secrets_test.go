package interoptest

import (
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// canary returns a unique secret that contains the name of its place.
func canary(place string) string { return "canary-" + place + "-" + rand.Text() }

// newMirror starts a server that refuses all requests and repeats them in its
// answers.
func newMirror(t *testing.T) (url string, seen func() string) {
	t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := fmt.Sprint(r.Header)
		mu.Lock()
		all.WriteString(shown)
		mu.Unlock()
		w.Header().Set("WWW-Authenticate",
			`Bearer error="invalid_token", error_description="no good: `+strings.ReplaceAll(shown, `"`, "")+`"`)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":%q}}`, "refused "+shown)
	}))
	t.Cleanup(web.Close)
	return web.URL + "/mcp", func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

// places are the places of secrets in a configuration, each with a server block
// that has one there. URL is an address of the mirror. The variable C_NAME, the
// file NAME and the stored secret NAME contain the canary of the place.
var places = []struct {
	name, block string
	kept        bool
	unsent      bool // no server gets it
}{
	{name: "bearer", block: `transport "http" { url = "URL" }; auth "bearer" { token = env("C_BEARER") }`},
	{name: "tokenfile", block: `transport "http" { url = "URL" }; auth "bearer" { token_file = "tokenfile" }`},
	{name: "kept", block: `transport "http" { url = "URL" }; auth "bearer" { token = keyring("kept") }`, kept: true},
	{name: "header", block: `transport "http" { url = "URL"; headers = { X-Key = env("C_HEADER") } }`},
	{name: "infile", block: `transport "http" { url = "URL"; headers = { X-Key = "is ${file("infile")}" } }`},
	{name: "keptheader",
		block: `transport "http" { url = "URL"; headers = { X-Key = "is ${keyring("keptheader")}" } }`, kept: true},
	{name: "output", block: `transport "http" { url = "URL" }; auth "command" { command = ["cat", "output"]; format = "token" }`},
	{name: "words", block: `transport "http" { url = "URL" }; auth "command" { command = ["sh", "-c", "echo $T >&2;exit 1"]; env = { T = env("C_WORDS") } }`,
		unsent: true},
	{name: "panic", block: `transport "evil" { do = "panic"; arg = env("C_PANIC") }`, unsent: true},
	{name: "stray", block: `transport "evil" { do = "print"; arg = env("C_STRAY") }`, unsent: true},
	{name: "stderr", block: `transport "evil" { do = "stderr"; arg = env("C_STDERR") }`, unsent: true},
	{name: "child", block: `transport "stdio" { command = ["sh", "-c", "env >child.$$;mv child.$$ child.env;env >&2;exit 3"]; env = { GIVEN = env("C_CHILD") } }`,
		unsent: true},
}

// TestSecretsReachOnlyTheirServer checks that a secret is sent to its server
// only. Nothing that is printed, logged or written may contain it, even with
// verbose servers and plugins.
func TestSecretsReachOnlyTheirServer(t *testing.T) {
	t.Parallel()
	url, seen := newMirror(t)
	v := newAuthServer(t)
	v.Metadata = func(m map[string]any) { m["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} }
	s := newWorkspace(
		t, v.server("  auth \"oauth\" {\n    client_id = \"me\"\n    client_secret = env(\"C_CLIENT\")\n  }\n"),
	).withSecrets()
	canaries := map[string]string{"client": canary("client"), "password": canary("password"), "mine": canary("mine")}
	s.env = append(s.env, "C_CLIENT="+canaries["client"])
	s.writeSecretFile("password", canaries["password"])
	s.appendConfig("plugins {\n  required = {\n    evil = { source = \"builtin/evil\" }\n  }\n}\n")
	for _, p := range places {
		canaries[p.name] = canary(p.name)
		s.env = append(s.env, "C_"+strings.ToUpper(p.name)+"="+canaries[p.name])
		s.writeSecretFile(p.name, canaries[p.name]+"\n")
		s.appendConfig(fmt.Sprintf("server %q {\n%s\n}\n",
			p.name, strings.NewReplacer("URL", url, " { ", " {\n", " }", "\n}", "; ", "\n").Replace(p.block)))
		if p.kept {
			s.runWith(canaries[p.name], "secret", "set", p.name).exits(0)
		}
	}
	var heard []string // everything that was printed
	run := func(args ...string) {
		o := s.run(append([]string{"--log", "trace"}, args...)...)
		heard = append(heard, fmt.Sprintf("%v\n%s%s", args, o.stdout, o.stderr))
	}
	s.runWith(canaries["mine"], "secret", "set", "mine").exits(0)
	s.run("login", "up").exits(0)
	s.run("call", "up__whoami").exits(0)
	v.Expire()
	v.Instead("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		plugintest.Reply(http.StatusBadRequest,
			object{"error": "invalid_grant", "error_description": fmt.Sprint("no good: ", r.PostForm)})(w, r)
	})
	for _, args := range [][]string{
		{"status"}, {"--text", "status"}, {"auth", "status"}, {"validate"}, {"tools"}, {"secret", "list"},
		{"call", "up__whoami"}, {"--text", "inspect", "up__whoami"},
		{"call", "--timeout", "5s", "panic__x"}, {"plugin", "list"},
	} {
		run(args...)
	}
	for _, plugin := range []string{"http", "bearer", "command", "oauth", "stdio", "evil"} {
		run("plugin", "logs", plugin)
	}
	g := launch(t, s.command("serve", "--log", "trace"))
	p := newPeer(t, g, newDialect)
	p.call("tools/list", nil)
	environs := ""
	for _, process := range marked(g.cmd.Process.Pid) {
		pid, _, _ := strings.Cut(process, " ")
		text, _ := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		environs += string(text)
	}
	_ = g.stdin.Close()
	g.wait()
	heard = append(heard, "serve "+g.stderr.String(), "environments of plugins "+environs)
	heard = append(heard, s.readFiles(t)...)

	for i, token := range v.Issued() {
		canaries[fmt.Sprint("token ", i)] = token
	}
	for place, value := range canaries {
		for _, text := range heard {
			if at := strings.Index(text, value); at >= 0 {
				t.Errorf("the canary of %s is in: %s", place, clip(text[max(0, at-300):]))
			}
		}
	}
	for _, text := range []string{"the author's mistake ***",
		"stray ***", "GIVEN=***", "Authorization:[Bearer ***]", "X-Key:[***]"} {
		if !strings.Contains(strings.Join(heard, "\n"), text) {
			t.Errorf("no output contains %q: the test needs it", text)
		}
	}
	if v.tally().refreshes == 0 {
		t.Error("no token was refreshed: the test needs it")
	}
	for _, p := range places {
		if sent := strings.Contains(seen(), canaries[p.name]); sent == p.unsent {
			t.Errorf("the canary of %s was sent to the server: %t", p.name, sent)
		}
	}
	child, err := os.ReadFile(filepath.Join(s.dir, "child.env"))
	if err != nil || strings.Count(string(child), "canary-") != 1 ||
		!strings.Contains(string(child), "GIVEN="+canaries["child"]) {
		t.Errorf("%v; the server's environment is %s", err, child)
	}
}

// writeSecretFile writes a file beside the configuration that only this user
// can read.
func (s *workspace) writeSecretFile(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// readFiles returns the content of all files that junctor wrote.
func (s *workspace) readFiles(t *testing.T) (texts []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(s.dir, "home"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		texts = append(texts, path+": "+string(text))
		return err
	})
	if err != nil || len(texts) == 0 {
		t.Fatalf("%d files, %v", len(texts), err)
	}
	return texts
}
