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

// canary is the text that no attack may reveal.
const canary = "CANARY7f3a"

// A site is a working directory and its surroundings: a secret that must not be
// read, and a directory in which nothing must be created.
type site struct {
	top, work, out, home string
	url                  string
	requests             *requestRecorder
	before               []string // the initial content of out
}

// A requestRecorder is an HTTP server that records its requests.
type requestRecorder struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (r *requestRecorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = req.Header.Write(&r.text)
	r.text.Write(body)
	_, _ = io.WriteString(w, "answer\n")
}

// take returns and clears the recorded requests.
func (r *requestRecorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.text.Reset()
	return r.text.String()
}

// newSite creates a site for a program.
func newSite(t *testing.T, program string) *site {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{top: top, work: filepath.Join(top, "work"), out: filepath.Join(top, "outside"),
		home: filepath.Join(top, "home"), requests: &requestRecorder{}}
	server := httptest.NewServer(s.requests)
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
		"outside/secret": canary + "\n", "outside/secret.json": `"` + canary + `"`,
		"outside/secret.hdr": "X: " + canary + "\n",
		"outside/secret.b64": base64.StdEncoding.EncodeToString([]byte(canary+"\n")) + "\n",
		"outside/secret.awk": "BEGIN{print \"" + canary + "\"}\n", "outside/mod.jq": `def leak: "` + canary + `";`,
		// Otherwise a process that go leaves behind writes here while the directory is removed.
		"home/.config/go/telemetry/mode": "off\n",
		"work/a.txt":                     "alpha\nbeta\n", "work/b.txt": "alpha\ngamma\n",
		"work/sub/c.txt": "x\n", "work/names": s.out + "/secret\n",
		"work/evil.curlrc": "output = " + s.out + "/mark\nurl = " + s.url + "\n", "work/env.jq": "env.JQ_SECRET",
		"work/evil.m4":  "syscmd(`" + s.out + "/evil')",
		"work/evil.lua": "os.execute('" + s.out + "/evil')",
		"work/evil.mk":  "x:\n\t" + s.out + "/evil\n", "work/evil.sql": ".shell " + s.out + "/evil\n",
		"work/p.diff":   "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n-alpha\n+omega\n beta\n",
		"work/new.diff": "--- /dev/null\n+++ b/mark\n@@ -0,0 +1 @@\n+x\n",
		"work/prog.go":  "package main\n\nfunc main() {}\n", "work/prog.c": "int main(void) { return 0; }\n",
		"work/go.mod":  "module x\n\ngo 1.21\n",
		"work/page.1":  ".TH PAGE 1\n.SH NAME\npage \\- a page\n",
		"work/big.txt": strings.Repeat("some line of text that is sorted\n", 3000),
		"work/big.bin": strings.Repeat("\x00", 40<<10),
		"work/evil.nse": "description=''\nauthor=''\nlicense=''\ncategories={'safe'}\nprerule=function() return true end\naction=function() os.execute('" +
			s.out + "/evil') end\n",
		"work/evil.cnf": "[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN=x\n",
		"work/evil.kube": "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- {name: c, cluster: {server: \"https://127.0.0.1:1\"}}\ncontexts:\n- {name: c, context: {cluster: c, user: u}}\nusers:\n- name: u\n  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: " +
			s.out + "/evil, interactiveMode: Never}}\n",
		"work/x.xml": "<r><a>x</a></r>\n", "outside/secret.xml": "<r>" + canary + "</r>\n",
		"work/entity.xml": "<!DOCTYPE r [<!ENTITY e SYSTEM \"file://" + s.out + "/secret\">]>\n<r>&e;</r>\n",
		"work/evil.xsl":   "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:template match=\"/\"><xsl:copy-of select=\"document('../outside/secret.xml')\"/></xsl:template></xsl:stylesheet>\n",
		"work/pkg/setup.py": "import os\nopen('" + s.out +
			"/mark','w')\nfrom setuptools import setup\nsetup(name='pkg')\n",
	}
	for name, text := range files {
		s.write(t, filepath.Join(s.top, name), text, 0o644)
	}
	evil := "#!/bin/sh\necho x > " + s.out + "/mark\ncat >/dev/null 2>&1 </dev/null\nexit 0\n"
	s.write(t, filepath.Join(s.out, "evil"), evil, 0o755)
	s.write(t, filepath.Join(s.work, "hooked", "hooks", "post-checkout"), evil, 0o755)
	for name, target := range map[string]string{"link": "../outside/secret",
		"sub/link": "../../outside/secret", "dangling": "../outside/mark"} {
		if _, err := os.Lstat(filepath.Join(s.work, name)); err == nil {
			continue
		}
		if err := os.Symlink(target, filepath.Join(s.work, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// prepareFor creates the repository or the archive that a program works on.
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

// prepare runs a program in the working directory and ignores its failure.
func (s *site) prepare(name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.work, s.environ()
	_ = cmd.Run()
}

// variables returns the attribute env of the wrapped program.
func (s *site) variables() map[string]string {
	return map[string]string{
		"HOME": s.home, "JQ_SECRET": canary, "GIT_AUTHOR_NAME": "a",
		"GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
		"GIT_CONFIG_NOSYSTEM": "1", "GOFLAGS": "-mod=mod",
		"GOCACHE": filepath.Join(os.TempDir(), "junctor-attack-gocache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
	}
}

func (s *site) environ() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "TERM=dumb", "GIT_PAGER=cat"}
	for name, value := range s.variables() {
		env = append(env, name+"="+value)
	}
	return env
}

// expand replaces the variables in a text by the site's paths.
func (s *site) expand(text string) string {
	return strings.NewReplacer("$EVIL", s.out+"/evil", "$MARK", s.out+"/mark", "$SECRET", s.out+"/secret", "$OUT",
		s.out, "$WORK", s.work, "$URL", s.url).Replace(text)
}

// outside returns the files in the directory where nothing must be created.
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

// harm returns the harm that an attack did, or "", and undoes it.
func (s *site) harm(t *testing.T, printed string) string {
	t.Helper()
	did := ""
	if strings.Contains(strings.ToUpper(printed+s.requests.take()), strings.ToUpper(canary)) {
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
