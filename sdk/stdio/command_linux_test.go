package stdio

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// files creates a directory with programs and with files that are not programs.
func files(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"good":          {"#!/bin/sh\necho '{\"ok\":true}'\nexec cat\n", 0o755},
		"plain":         {"just text", 0o644},
		"npx":           {"just text", 0o644},
		"no-interp":     {"#!/nowhere/interpreter\n", 0o755},
		"no-first-line": {"echo hello\n", 0o755},
		"sub/good":      {"#!/bin/sh\npwd -P >&2\necho '{\"ok\":true}'\nexec cat\n", 0o755},
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNotStarted(t *testing.T) {
	dir := files(t)
	path := "PATH=/nowhere:" + dir
	for _, c := range []struct {
		name         string
		o            Options
		reason, at   string
		message, tip string
	}{
		{"no command", Options{}, "", "command", "names no program", ""},
		{"empty command", Options{Command: []string{""}}, "", "command", "names no program", ""},
		{"not in PATH", Options{Command: []string{"nowhere-to-be-found"}, Env: []string{path}}, "command_not_found",
			"command", "was not found in PATH (/nowhere:", "install nowhere-to-be-found"},
		{"known but missing", Options{Command: []string{"uvx"}, Env: []string{path}}, "command_not_found", "command",
			`"uvx" was not found`, "Python package manager"},
		{"known by its path",
			Options{Command: []string{"/opt/bin/node"}}, "command_not_found", "command", "does not exist", "Node.js"},
		{"no PATH", Options{Command: []string{"sh"}}, "command_not_found", "command", "was not found in PATH ()", ""},
		{"relative PATH", Options{Command: []string{"good"}, Dir: dir, Env: []string{"PATH=.:sub:"}},
			"command_not_found", "command", "was not found", ""},
		{"in PATH but not executable", Options{Command: []string{"npx"}, Env: []string{path}}, "command_not_executable",
			"command", "is not executable", "permission"},
		{"not executable", Options{Command: []string{"./plain"}, Dir: dir}, "command_not_executable", "command",
			"is not executable", "permission"},
		{"not there", Options{Command: []string{"./absent"}, Dir: dir}, "command_not_found", "command",
			"does not exist", "relative to cwd"},
		{"a directory",
			Options{Command: []string{dir}},
			"command_not_executable", "command", "is a directory", "the program in it"},
		{"a directory in PATH", Options{Command: []string{"sub"}, Env: []string{path}}, "command_not_found", "command",
			"was not found in PATH", ""},
		{"interpreter missing",
			Options{Command: []string{"./no-interp"}, Dir: dir},
			"not_started", "command", "no such file", "interpreter"},
		{"no interpreter named", Options{Command: []string{"./no-first-line"}, Dir: dir}, "not_started", "command",
			"exec format error", "#!/bin/sh"},
		{"no such cwd", Options{Command: []string{"sh"}, Dir: "/nowhere/at/all", Env: environment()}, "not_started",
			"cwd", "does not exist", "cwd"},
		{"cwd is a file", Options{Command: []string{"./good"}, Dir: filepath.Join(dir, "plain")}, "not_started", "cwd",
			"is not a directory", "cwd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Start(c.o)
			e, ok := errors.AsType[*sdk.Error](err)
			if !ok || e.Reason != c.reason || e.Path != c.at || !strings.Contains(e.Message, c.message) ||
				!strings.Contains(e.Hint, c.tip) {
				t.Errorf("got %#v", err)
			}
			if ok && e.Code != sdk.Unavailable && c.reason != "" {
				t.Errorf("code %s", e.Code)
			}
		})
	}
}

func TestStarted(t *testing.T) {
	dir := files(t)
	t.Chdir(dir)
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"by its path", Options{Command: []string{filepath.Join(dir, "good")}}},
		{"in PATH", Options{Command: []string{"good"}, Env: environment("X=y")[1:]}},
		{"relative to its directory", Options{Command: []string{"./good"}, Dir: filepath.Join(dir, "sub")}},
		{"relative to a relative directory", Options{Command: []string{"./good"}, Dir: "sub"}},
		{"relative to here", Options{Command: []string{"sub/good"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Env = []string{"PATH=relative:" + dir + ":/bin:/usr/bin"}
			conn := start(t, c.o)
			mustRecv(t, conn, `{"ok":true}`)
			if c.o.Dir != "" {
				want, _ := filepath.EvalSymlinks(filepath.Join(dir, "sub"))
				saw(t, conn, want)
			}
		})
	}
}

// TestEnviron checks that a server gets the inherited variables and those
// requested, but no others.
func TestEnviron(t *testing.T) {
	t.Setenv("CANARY_SECRET", "do not pass on")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("TZ", "UTC")
	t.Setenv("JUNCTOR_PLUGIN", "cookie")
	os.Unsetenv("SHELL")
	env := Environ([]string{"PASSED=1", "TZ=passed", "LANG=passed", "not a variable"},
		map[string]string{"SET": "2", "LANG": "set"})
	for name, want := range map[string]string{
		"PATH": os.Getenv("PATH"),
		"LANG": "set", "TZ": "passed", "PASSED": "1", "SET": "2", "CANARY_SECRET": "", "JUNCTOR_PLUGIN": "",
	} {
		if got := Getenv(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !slices.IsSorted(env) ||
		slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "SHELL=") }) {
		t.Errorf("%q", env)
	}

	for _, name := range CertificateVariables {
		t.Setenv(name, "")
	}
	t.Setenv("NODE_EXTRA_CA_CERTS", "/etc/ca.pem")
	t.Setenv("GIT_SSL_CAINFO", "/etc/git.pem")
	if got := Certificates(); !slices.Equal(got,
		[]string{"NODE_EXTRA_CA_CERTS=/etc/ca.pem", "GIT_SSL_CAINFO=/etc/git.pem"}) {
		t.Errorf("certificates %q", got)
	}

	o := shell(`env >&2; ls /proc/self/fd >&2; echo done >&2; exec cat`)
	o.Env = env
	c := start(t, o)
	saw(t, c, "done")
	var names, descriptors []string
	for _, line := range c.Status().Stderr {
		if name, _, ok := strings.Cut(line, "="); ok {
			names = append(names, name)
		} else if line != "done" {
			descriptors = append(descriptors, line)
		}
	}
	if !slices.Contains(names, process.MarkVariable) || !slices.Contains(names, "PATH") ||
		slices.Contains(names, "CANARY_SECRET") {
		t.Errorf("the server has the variables %q", names)
	}
	if !slices.Equal(descriptors, []string{"0", "1", "2", "3"}) { // 3 is the directory that ls reads
		t.Errorf("the server has the descriptors %q", descriptors)
	}
}
