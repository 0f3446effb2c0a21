package login

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// recorder returns a browser that records its arguments and its environment.
func recorder(t *testing.T, more string) (program, record string) {
	t.Helper()
	dir := t.TempDir()
	program, record = filepath.Join(dir, "browser"), filepath.Join(dir, "record")
	script := fmt.Sprintf(
		"#!/bin/sh\nfor a in \"$@\"; do echo \"arg:$a\"; done >%s.new\nenv >>%s.new\nmv %s.new %s\n%s\n",
		record, record, record, record, more,
	)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, record
}

// at returns the environment of a desktop with the given BROWSER.
func at(browser string) func(string) (string, bool) {
	set := map[string]string{"BROWSER": browser, "PATH": os.Getenv("PATH"),
		"DISPLAY": ":9", "HOME": "/nonexistent", "AWS_SECRET_ACCESS_KEY": "s3cret", "JUNCTOR_PASSWORD": "s3cret"}
	return func(name string) (string, bool) { v, ok := set[name]; return v, ok }
}

// recorded waits until the browser has run.
func recorded(t *testing.T, record string) (args []string, env string) {
	t.Helper()
	var text []byte
	eventually.NoError(t, func() (err error) {
		text, err = os.ReadFile(record)
		return err
	})
	for line := range strings.Lines(string(text)) {
		if arg, ok := strings.CutPrefix(line, "arg:"); ok {
			args = append(args, strings.TrimSpace(arg))
		} else {
			env += line
		}
	}
	return args, env
}

// TestOpenURLStartsBrowser: the address is one argument of the program in BROWSER, and
// the program gets no secret variables.
func TestOpenURLStartsBrowser(t *testing.T) {
	const hurt = "/tmp/junctor-person-pwn"
	_ = os.Remove(hurt)
	for name, c := range map[string]struct {
		url, want string
		before    string // arguments in BROWSER
	}{
		"plain":      {"https://login.example.com/a?b=c&d=e", "https://login.example.com/a?b=c&d=e", ""},
		"two in one": {"https://a/;calc&x", "https://a/%3Bcalc%26x", ""},
		"a shell": {"https://a/$(touch$IFS" + hurt + ")?`touch${IFS}" + hurt + "`",
			"https://a/%24%28touch%24IFS" + hurt + "%29?%60touch%24%7BIFS%7D" + hurt + "%60", ""},
		"arguments": {"https://a/", "https://a/", "--new-window $(touch " + hurt + ")"},
	} {
		t.Run(name, func(t *testing.T) {
			program, record := recorder(t, "")
			seen := &screen{}
			term, err := New(Options{Out: seen, Server: "demo", Lookup: at(program + " " + c.before)})
			if err != nil {
				t.Fatal(err)
			}
			if err := term.OpenURL(t.Context(), c.url, "log in"); err != nil {
				t.Fatal(err)
			}
			args, env := recorded(t, record)
			if want := append(strings.Fields(c.before), c.want); strings.Join(args, "\n") != strings.Join(want, "\n") {
				t.Errorf("its arguments are %q, want %q", args, want)
			}
			if strings.Contains(env, "s3cret") || !strings.Contains(env, "DISPLAY=:9\n") {
				t.Errorf("its environment is\n%s", env)
			}
			for _, want := range []string{"demo: log in", "\n  " + c.want + "\n", "If none appears"} {
				if !strings.Contains(seen.String(), want) {
					t.Errorf("the user does not see %q:\n%s", want, seen)
				}
			}
		})
	}
	if _, err := os.Stat(hurt); err == nil {
		t.Error("a shell interpreted the address")
	}
}

// TestOpenURLRejectsAddresses: no browser runs for a rejected address.
func TestOpenURLRejectsAddresses(t *testing.T) {
	program, record := recorder(t, "")
	seen := &screen{}
	term, err := New(Options{Out: seen, Lookup: at(program)})
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range append(evil, "http://127.0.0.1:1/") {
		err := term.OpenURL(t.Context(), raw, "x")
		if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Reason != "auth_url_rejected" {
			t.Errorf("%q: %v", raw, err)
		}
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("a browser was started")
	}
	if _, err := os.Stat("/tmp/pwn"); err == nil {
		t.Error("a shell interpreted the address")
	}
	if seen.String() != "" {
		t.Errorf("the user sees %q", seen)
	}
}

// TestOpenURLPrintsAddress: the address is printed if no browser is opened or if it
// fails.
func TestOpenURLPrintsAddress(t *testing.T) {
	program, record := recorder(t, "")
	broken := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		never  bool
		lookup func(string) (string, bool)
		says   string
	}{
		"--no-browser": {true, at(program), "none is opened here: --no-browser"},
		"no display":   {false, nowhere, "none is opened here: there is no display"},
		"absent":       {false, at("/nonexistent/browser"), "No browser was opened: "},
		"not in PATH": {false, at("junctor-has-no-such-browser"),
			"No browser was opened: there is no junctor-has-no-such-browser in PATH"},
		"relative": {false, at("./browser"), `No browser was opened: BROWSER names "./browser", which is relative`},
		"broken":   {false, at(broken), "No browser was opened: browser exited with status 3"},
	} {
		seen := &screen{}
		term, err := New(Options{Out: seen, Server: "demo", NoBrowser: c.never, Lookup: c.lookup})
		if err != nil {
			t.Fatal(err)
		}
		if err := term.OpenURL(t.Context(), "https://xn--pple-43d.com/?a=b", "log\x1b[31m in\u202e\nnow"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{c.says, "\n  https://xn--pple-43d.com/?a=b\n",
			"of xn--pple-43d.com", "demo: log[31m in now\n"} {
			if !strings.Contains(seen.String(), want) {
				t.Errorf("%s: the user does not see %q:\n%s", name, want, seen)
			}
		}
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("a browser was started")
	}
}
