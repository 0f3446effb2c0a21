package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var deployDir = filepath.Join("..", "..", "examples", "deploy")

// TestDeployPageQuotesRecipes: docs/deploy.md quotes each file of examples/deploy
// unchanged, and otherwise only commands.
func TestDeployPageQuotesRecipes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)`examples/deploy/([^`]+)`:\n\n```[a-z]+\n(.*?)```\n").
		FindAllStringSubmatch(string(page), -1) {
		quoted[m[1]] = m[2]
	}
	if fences := strings.Count(string(page), "```"); fences != 2*len(quoted) {
		t.Errorf("%d lines with a fence, and %d files are quoted", fences, len(quoted))
	}
	files, err := os.ReadDir(deployDir)
	if err != nil || len(files) != len(quoted) {
		t.Errorf("%d files and %d quotes, %v", len(files), len(quoted), err)
	}
	for _, f := range files {
		if text := deployFile(t, f.Name()); quoted[f.Name()] != text {
			t.Errorf("docs/deploy.md does not quote %s as it is:\n%s", f.Name(), quoted[f.Name()])
		}
	}
}

func deployFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDeployConfigurations: the configurations of the recipes are valid with a token, and invalid
// without, where clients have one.
func TestDeployConfigurations(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(deployDir, "*.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no configurations")
	}
	for _, file := range files {
		for _, token := range []string{"", "0123456789abcdef0123456789abcdef"} {
			cmd := exec.Command(program, "-c", file, "validate")
			cmd.Args[0] = "junctor" // this binary runs junctor under that name
			cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+t.TempDir(), "JUNCTOR_TOKEN="+token)
			out, err := cmd.CombinedOutput()
			if (err == nil) != (token != "" || filepath.Base(file) == "mtls.hcl") { // its clients have certificates
				t.Errorf("%s with the token %q: %v\n%s", file, token, err, out)
			}
		}
	}
}

// TestDeployTimeouts: nginx waits longer than a stream is silent. systemd and Kubernetes
// wait longer than calls in flight may take.
func TestDeployTimeouts(t *testing.T) {
	for _, one := range []struct {
		file, pattern string
		above         time.Duration
	}{
		{"nginx.conf", `proxy_read_timeout (\w+);`, 15*time.Second + time.Minute}, // the keepalive and a call
		{"junctor.service", `TimeoutStopSec=(\w+)`, 10 * time.Second},
		{"kubernetes.yaml", `terminationGracePeriodSeconds: (\w+)`, 15 * time.Second},
	} {
		m := regexp.MustCompile(one.pattern).FindStringSubmatch(deployFile(t, one.file))
		if m == nil {
			t.Errorf("%s says nothing of %s", one.file, one.pattern)
			continue
		}
		if !strings.ContainsAny(m[1], "sm") {
			m[1] += "s"
		}
		if d, err := time.ParseDuration(m[1]); err != nil || d <= one.above {
			t.Errorf("%s: %s is %v (%v), want more than %v", one.file, one.pattern, d, err, one.above)
		}
	}
}
