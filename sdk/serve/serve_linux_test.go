package serve_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// TestWithoutHost runs the program as a user would.
func TestWithoutHost(t *testing.T) {
	for _, c := range []struct {
		name, program  string
		args           []string
		status         int
		stdout, stderr string // prefix of the output; empty: no output
	}{
		{"describe", "a-plugin", []string{"describe"}, 0, "{\n  \"name\": \"author\",", ""},
		{"by hand", "a-plugin", nil, 2, "", "author 1.2.3 is a Junctor plugin"},
		{"unknown argument", "a-plugin", []string{"descibe"}, 2, "", "author 1.2.3 is a Junctor plugin"},
		{"broken", "a-broken-plugin", []string{"describe"}, 2, "", `error: plugin name "Broken"`},
		{"broken, without arguments", "a-broken-plugin", nil, 2, "", `error: plugin name "Broken"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			cmd := exec.Command(program(t, c.program), c.args...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run()
			fits := func(got, want string) bool { return strings.HasPrefix(got, want) && (want != "" || got == "") }
			if cmd.ProcessState.ExitCode() != c.status || !fits(out.String(), c.stdout) ||
				!fits(errs.String(), c.stderr) {
				t.Errorf("%s, printed %.100q and %.100q", cmd.ProcessState, &out, &errs)
			}
			if c.stdout != "" && !json.Valid(out.Bytes()) {
				t.Error("the manifest is not JSON")
			}
		})
	}
}

// TestAuthorSeesNoHandshake checks that the author's code has neither the
// lifeline nor the variables of the handshake.
func TestAuthorSeesNoHandshake(t *testing.T) {
	err := start(t, "KEPT=1").do("look")
	if sdk.CodeOf(err) != sdk.Denied {
		t.Fatal(err)
	}
	seen := err.Error()
	if !strings.HasPrefix(seen, "stdin <nil>\nargs []\n") || !strings.Contains(seen, "KEPT=1") {
		t.Errorf("the author's code sees %q", seen)
	}
	for _, hidden := range []string{wire.CookieKey, "PLUGIN_"} {
		if strings.Contains(seen, "\n"+hidden) {
			t.Errorf("the author's code sees %s: %q", hidden, seen)
		}
	}
}

// TestLog checks that messages of every logging package arrive in the host's
// format, and that printed output is separate.
func TestLog(t *testing.T) {
	c := start(t)
	if err := c.do("log"); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]any{
		"hclog":        {"@level": "info", "@module": "author", "server": "s", "k": 1.0},
		"package log":  {"@level": "warn"},
		"package slog": {"@level": "error", "a": 1.0, "g.b": 2.0, "g.h.c": 3.0},
		"fine":         {"@level": "debug"},
	}
	holdsWithin(patience, func() bool {
		got := c.stderr.String() // two pipes, so the order is undefined
		return strings.Contains(got, `"fine"`) && strings.Contains(got, "complained\n") &&
			strings.Contains(c.printed.String(), "printed\n")
	})
	if got := c.printed.String(); got != "printed\n" {
		t.Errorf("printed %q", got)
	}
	said := c.stderr.String()
	if !strings.Contains(said, "complained\n") { // the descriptor, and not a pipe
		t.Errorf("standard error is %q", said)
	}
	for line := range strings.Lines(strings.Replace(said, "complained\n", "", 1)) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		message, _ := fields["@message"].(string)
		for name, value := range want[message] {
			if fields[name] != value {
				t.Errorf("%s: %s is %v, want %v", message, name, fields[name], value)
			}
		}
		delete(want, message)
	}
	if len(want) > 0 {
		t.Errorf("missing are %v in %s", want, c.stderr)
	}
}

// TestEnds checks that a plugin leaves no process that its servers forked,
// however it ends.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(*conversation){
		"lifeline": func(c *conversation) { _ = c.lifeline.Close() },
		"SIGTERM":  func(c *conversation) { _ = syscall.Kill(c.pid, syscall.SIGTERM) },
		"quit":     func(c *conversation) { _ = c.session.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			family := t.Name()
			c := start(t, familyVariable+"="+family)
			if err := c.do("fork"); err != nil {
				t.Fatal(err)
			}
			count(t, family, 1+forked, patience)
			end(c)
			count(t, family, 0, patience)
		})
	}
}

// TestHostKilled checks that no process outlives a host that is killed.
func TestHostKilled(t *testing.T) {
	family := t.Name()
	host := exec.Command(program(t, "a-host"), program(t, "a-plugin"))
	host.Env = append(os.Environ(), familyVariable+"="+family)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Errorf("the host says %q, %v", line, err)
	}
	count(t, family, 2+forked, patience)
	begun := time.Now()
	_ = host.Process.Kill()
	_ = host.Wait()
	count(t, family, 0, 5*time.Second)
	t.Logf("all ended after %s", time.Since(begun).Round(time.Millisecond)) // the promise is 500 ms
}
