package main

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// canary is the text that no attack may bring to light.
const canary = "CANARY7f3a"

// A site is a working directory and what lies around it: a secret that must not
// be read, and a directory in which nothing may be created.
type site struct {
	top, work, out, home string
	url                  string
	heard                *heard
	before               []string // what out holds at first
}

// heard is what a server was sent.
type heard struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = r.Header.Write(&h.text)
	h.text.Write(body)
	_, _ = io.WriteString(w, "answer\n")
}

func (h *heard) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.text.Reset()
	return h.text.String()
}

// newSite makes a site for a program.
func newSite(t *testing.T, program string) *site {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{top: top, work: filepath.Join(top, "work"), out: filepath.Join(top, "outside"), home: filepath.Join(top, "home"), heard: &heard{}}
	server := httptest.NewServer(s.heard)
	t.Cleanup(server.Close)
	s.url = server.URL
	s.fill(t)
	s.prepareFor(program)
	s.before = s.outside(t)
	return s
}

// fill writes the files of a site.
func (s *site) fill(t *testing.T) {
	t.Helper()
	files := map[string]string{
		"outside/secret": canary + "\n", "outside/secret.json": `"` + canary + `"`, "outside/secret.hdr": "X: " + canary + "\n", "outside/secret.b64": base64.StdEncoding.EncodeToString([]byte(canary+"\n")) + "\n",
		"outside/mod.jq": `def leak: "` + canary + `";`, "home/.keep": "",
		"work/a.txt": "alpha\nbeta\n", "work/b.txt": "alpha\ngamma\n", "work/sub/c.txt": "x\n", "work/names": s.out + "/secret\n",
		"work/evil.curlrc": "output = " + s.out + "/mark\nurl = " + s.url + "\n", "work/env.jq": "env.JQ_SECRET", "work/evil.m4": "syscmd(`" + s.out + "/evil')",
		"work/evil.lua": "os.execute('" + s.out + "/evil')", "work/evil.mk": "x:\n\t" + s.out + "/evil\n", "work/evil.sql": ".shell " + s.out + "/evil\n",
		"work/p.diff": "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n-alpha\n+omega\n beta\n", "work/new.diff": "--- /dev/null\n+++ b/mark\n@@ -0,0 +1 @@\n+x\n",
		"work/prog.go": "package main\n\nfunc main() {}\n", "work/prog.c": "int main(void) { return 0; }\n", "work/go.mod": "module x\n\ngo 1.21\n",
		"work/page.1": ".TH PAGE 1\n.SH NAME\npage \\- a page\n", "work/big.txt": strings.Repeat("some line of text that is sorted\n", 3000), "work/big.bin": strings.Repeat("\x00", 40<<10),
		"work/evil.nse":     "description=''\nauthor=''\nlicense=''\ncategories={'safe'}\nprerule=function() return true end\naction=function() os.execute('" + s.out + "/evil') end\n",
		"work/evil.cnf":     "[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN=x\n",
		"work/evil.kube":    "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- {name: c, cluster: {server: \"https://127.0.0.1:1\"}}\ncontexts:\n- {name: c, context: {cluster: c, user: u}}\nusers:\n- name: u\n  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: " + s.out + "/evil, interactiveMode: Never}}\n",
		"work/pkg/setup.py": "import os\nopen('" + s.out + "/mark','w')\nfrom setuptools import setup\nsetup(name='pkg')\n",
	}
	for name, text := range files {
		s.write(t, filepath.Join(s.top, name), text, 0o644)
	}
	evil := "#!/bin/sh\necho x > " + s.out + "/mark\ncat >/dev/null 2>&1 </dev/null\nexit 0\n"
	s.write(t, filepath.Join(s.out, "evil"), evil, 0o755)
	s.write(t, filepath.Join(s.work, "hooked", "hooks", "post-checkout"), evil, 0o755)
	for name, target := range map[string]string{"link": "../outside/secret", "sub/link": "../../outside/secret", "dangling": "../outside/mark"} {
		if err := os.Symlink(target, filepath.Join(s.work, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// prepareFor makes the repository or the archive that a program works on.
func (s *site) prepareFor(program string) {
	switch program {
	case "git":
		s.prepare("git", "init", "-q", "-b", "main", ".")
		s.prepare("git", "config", "diff.external", s.out+"/evil")
		for _, file := range []string{"a.txt", "b.txt"} {
			s.prepare("git", "add", file)
			s.prepare("git", "commit", "-qm", "add "+file)
		}
	case "tar":
		s.prepare("tar", "-cf", "t.tar", "a.txt")
	case "zip", "unzip", "7z":
		s.prepare("zip", "-q", "z.zip", "a.txt")
	}
}

func (s *site) write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// prepare runs a program for the site; one that is absent does nothing.
func (s *site) prepare(name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.work, s.environ()
	_ = cmd.Run()
}

// variables are what env of the wrapped program has.
func (s *site) variables() map[string]string {
	return map[string]string{
		"HOME": s.home, "JQ_SECRET": canary, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
		"GIT_CONFIG_NOSYSTEM": "1", "GOFLAGS": "-mod=mod", "GOCACHE": filepath.Join(os.TempDir(), "junctor-attack-gocache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
	}
}

func (s *site) environ() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "TERM=dumb", "GIT_PAGER=cat"}
	for name, value := range s.variables() {
		env = append(env, name+"="+value)
	}
	return env
}

// expand puts the site's paths into a text.
func (s *site) expand(text string) string {
	return strings.NewReplacer("$EVIL", s.out+"/evil", "$MARK", s.out+"/mark", "$SECRET", s.out+"/secret", "$OUT", s.out, "$WORK", s.work, "$URL", s.url).Replace(text)
}

// outside lists what is in the directory where nothing may be created.
func (s *site) outside(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(s.out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// harm says what an attack achieved, "" for nothing, and undoes it.
func (s *site) harm(t *testing.T, printed string) string {
	t.Helper()
	did := ""
	if strings.Contains(strings.ToUpper(printed+s.heard.take()), strings.ToUpper(canary)) {
		did = "the secret was read"
	}
	for _, name := range s.outside(t) {
		if !slices.Contains(s.before, name) {
			did = "outside/" + name + " was created"
			_ = os.RemoveAll(filepath.Join(s.out, name))
		}
	}
	return did
}
