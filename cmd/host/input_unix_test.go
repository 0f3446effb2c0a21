//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestCallWithSilentInput: a call without arguments ends although standard input is open
// and silent, as under a supervisor.
func TestCallWithSilentInput(t *testing.T) {
	site := silentSite(t)
	for name, c := range map[string]struct {
		args []string
		stop os.Signal // sent during the read
		code fault.Code
		says string
	}{
		"interrupted": {[]string{"call", "demo__add", "-"}, os.Interrupt, fault.Interrupted, ""},
		"terminated":  {[]string{"call", "demo__add", "-"}, syscall.SIGTERM, fault.Interrupted, ""},
		"a pipe":      {[]string{"call", "demo__add", "@pipe"}, os.Interrupt, fault.Interrupted, ""},
		"unasked": {[]string{"call", "demo__add"}, nil, fault.CallArguments,
			"hint: nothing came on standard input within 3s; - waits for it"},
		"unasked, ended": {[]string{"call", "demo__add"}, os.Interrupt, fault.Interrupted, ""},
		"timed": {[]string{"call", "--timeout", "300ms", "demo__add", "-"}, nil, fault.CallTimeout,
			"the arguments did not arrive within 300ms"},
		"timed, unasked": {[]string{"call", "--timeout", "300ms", "demo__add"}, nil, fault.CallArguments,
			"a is required"},
		"nothing is read": {[]string{"call", "demo__fail"}, nil, fault.CallToolError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("junctor", c.args...)
			cmd.Dir, cmd.Env = site.dir, site.env
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdin, err := cmd.StdinPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if c.stop != nil {
				time.Sleep(2 * time.Second) // until it reads; without an announcement it waits for 3 s
				if err := cmd.Process.Signal(c.stop); err != nil {
					t.Fatal(err)
				}
			}
			give := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer give.Stop()
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != fault.Codes[c.code].Exit {
				t.Errorf("exit status %d, want that of %s", got, c.code)
			}
			for _, want := range []string{"code: " + string(c.code), c.says} {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("does not say %q:\n%s", want, stderr.String())
				}
			}
		})
	}
}

// TestCallWithSlowInput: arguments on standard input may arrive late and in two parts.
func TestCallWithSlowInput(t *testing.T) {
	site := silentSite(t)
	cmd := exec.Command("junctor", "call", "demo__add")
	cmd.Dir, cmd.Env = site.dir, site.env
	r, w := io.Pipe()
	cmd.Stdin = r
	go func() {
		for _, part := range []string{"{\"a\": 2,\n", `"b": 40}`} {
			time.Sleep(500 * time.Millisecond) // the input is slow
			_, _ = io.WriteString(w, part)
		}
		_ = w.Close()
	}()
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"sum":42`) {
		t.Errorf("%v: %s", err, out)
	}
}

// silent is the directory of the calls.
type silent struct {
	dir string
	env []string
}

// silentSite creates a directory with a configuration and cached lists.
func silentSite(t *testing.T) silent {
	t.Helper()
	site := silent{dir: t.TempDir()}
	build(t, filepath.Join(site.dir, "demo"), "./testdata/demo")
	build(t, filepath.Join(site.dir, "plugins", "junctor-plugin-stdio"), "./plugins/stdio")
	config := "server \"demo\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"
	err := errors.Join(os.WriteFile(filepath.Join(site.dir, "junctor.hcl"), []byte(config), 0o600),
		syscall.Mkfifo(filepath.Join(site.dir, "pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	site.env = append(os.Environ(), "JUNCTOR_HOME="+filepath.Join(site.dir, "home"),
		"JUNCTOR_PLUGIN_DIR="+filepath.Join(site.dir, "plugins"), "JUNCTOR_CONFIG=junctor.hcl")
	cmd := exec.Command("junctor", "tools")
	cmd.Dir, cmd.Env = site.dir, site.env
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return site
}
