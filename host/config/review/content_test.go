package review

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// outlineOf returns the outline of a configuration, one item a line.
func outlineOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "junctor.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	forbidden := func(name string) (string, bool) {
		if name != "PATH" {
			t.Errorf("the environment variable %q was read", name)
		}
		return "", false
	}
	c, diags := Read(path, factsOf(forbidden))
	if c == nil {
		t.Fatal(diags)
	}
	var lines []string
	for _, item := range c.Outline {
		lines = append(lines, string(item.Kind)+" "+item.Text)
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), filepath.Dir(path), "DIR")
}

// TestOutlineShowsActionsAsWritten checks that an outline shows programs, files and
// hosts in every notation, and expressions only as written.
func TestOutlineShowsActionsAsWritten(t *testing.T) {
	const server = "server \"s\" {\n  transport \"stdio\" {\n    %\n  }\n}\n"
	for name, c := range map[string]struct{ text, want string }{
		"a program and its arguments": {`command = ["./x", "a b", ""]`, `runs DIR/x 'a b' ''`},
		"further arguments":           {"command = [\"./x\"]\n args = [\"-c\", \"rm\"]", "runs DIR/x -c rm"},
		"a working directory":         {"command = [\"./x\"]\n cwd = \"sub\"", "runs DIR/sub/x, in DIR/sub"},
		"a program that is not there": {`command = ["nosuch"]`, "runs nosuch (not found)"},
		"a computed argument":         {`command = ["./x", env("A")]`, `runs DIR/x env("A")`},
		"a condition": {`command = env("A") == "" ? ["true"] : ["evil"]`,
			`runs env("A") == "" ? ["true"] : ["evil"]`},
		"a condition on a file": {`command = [file("f") == "" ? "true" : "evil"]`,
			`runs file("f") == "" ? "true" : "evil"`},
		"a line break in an argument": {`command = ["./x", "a\nruns nothing"]`, `runs DIR/x 'a\nruns nothing'`},
		"an escape sequence":          {`command = ["./x", "\u001b[2K"]`, `runs DIR/x \x1b[2K`},
		"text that runs backwards":    {`command = ["./x", "\u202egnp"]`, `runs DIR/x \u202egnp`},
		"invisible text":              {`command = ["./x", "a\u200bb"]`, `runs DIR/x a\u200bb`},
		"a quote":                     {`command = ["./x", "it's"]`, `runs DIR/x 'it'\''s'`},
		"several lines":               {"command = [\n \"./x\",\n env(\"A\"), # no\n ]", `runs DIR/x env("A")`},
		"an address in an argument": {`command = ["./x", "https://u:p@h.example:1/p?q"]`,
			"contacts https://h.example:1\n"},
		"a variable that loads a library": {`env = { LD_PRELOAD = "./x.so" }`,
			`sets environment variable LD_PRELOAD="./x.so"`},
		"variables from elsewhere":        {`env = local.all`, "sets environment variables local.all"},
		"a variable with a computed name": {`env = { (env("N")) = "x" }`, `sets environment variable (env("N"))="x"`},
		"a secret in a variable":          {`env = { API_KEY = "hunter2" }`, "sets environment variable API_KEY=***"},
		"variables that are passed": {`pass_env = ["AWS_SECRET"]`,
			`passes environment variables ["AWS_SECRET"]`},
		"a stored secret": {`env = { A = keyring("github") }`, "reads stored secret github"},
		"a computed variable": {`env = { A = env("X${local.y}") }`,
			`reads environment variable "X${local.y}"`},
		"a computed working directory": {"command = [\"./x\"]\n cwd = env(\"A\")", `runs ./x, in env("A")`},
		"another PATH": {"command = [\"true\"]\n env = { Path = \"/evil\" }",
			`runs true (from the PATH that is set)`},
		"variables that may set PATH": {"command = [\"true\"]\n env = local.all",
			`runs true (from the PATH that is set)`},
		"the end of a host": {`url = "https://good.example${local.x}"`,
			`contacts "https://good.example${local.x}"`},
		"a condition on an address": {`url = env("A") == "" ? "https://good.example" : "//x"`,
			`contacts env("A") == "" ? "https://good.example" : "//x"`},
		"addresses in a list": {`command = ["./x", "https://a.example", "http://b.example/"]`,
			"contacts https://a.example\ncontacts http://b.example\n"},
		"an issuer elsewhere":          {`issuer = local.x`, "contacts local.x\n"},
		"code that looks like a login": {`command = ["./x", "://$(evil)@"]`, "runs DIR/x ://$(evil)@"},
		"a command named like a secret": {`env = { GIT_KEY = "sh -c evil" }`,
			`sets environment variable GIT_KEY="sh -c evil"`},
		"a path named like a secret": {`env = { A_TOKEN = "./evil" }`,
			`sets environment variable A_TOKEN="./evil"`},
		"many spaces":               {`command = ["./x", "a          b"]`, "runs DIR/x 'a (10 spaces) b'"},
		"letters that show nothing": {`command = ["./x", "a\u3164b\u034fc"]`, `runs DIR/x a\u3164b\u034fc`},
		"a secret in a header": {`headers = { Authorization = "Bearer hunter2" }`,
			"sets header Authorization=***"},
		"a path in a header with a secret": {`headers = { X-Auth-Token = "./x" }`, "sets header X-Auth-Token=***"},
		"another header":                   {`headers = { X-Team = "blue" }`, `sets header X-Team="blue"`},
		"a computed header":                {`headers = { X-Team = env("A") }`, `sets header X-Team=env("A")`},
		"headers from elsewhere":           {`headers = local.all`, "sets headers local.all"},
		"the scopes of a login":            {`scopes = ["admin"]`, `sets scopes = ["admin"]`},
		"no check of certificates":         {`skip_verify = true`, "sets skip_verify = true"},
		"a file in a try":                  {`env = { A = try(file("/etc/shadow"), "") }`, "reads file /etc/shadow"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outlineOf(t, strings.Replace(server, "%", c.text, 1)) + "\n"; !strings.Contains(got, c.want) {
				t.Errorf("outline\n%s\nlacks %s", got, c.want)
			} else if strings.Contains(got, "hunter2") || strings.Contains(got, "u:p") {
				t.Errorf("outline\n%s\nholds a secret", got)
			}
		})
	}
}

func TestOutlineOfOtherBlocks(t *testing.T) {
	got := outlineOf(t, `plugins {
  required = {
    acme  = { source = "./plugins" }
    other = { source = env("SOURCE") }
    stdio = { source = "builtin/stdio" }
  }
}
locals {
  a = ["sh", env("B")]
  b = "text"
}
server "x" {
  transport "acme" {
    endpoint = "https://acme.example/x"
    payload  = "rm -rf /"
    token    = "hunter2"
    inner {
      anything = local.a
    }
  }
  auth "command" {
    command = ["./steal"]
  }
}
server "wrapped" {
  transport "cli" {
    command = ["./git"]
    tool "t" {
      description = "d"
      argv        = ["push", "{where}"]
    }
  }
}
secret_store "file" {
  path          = "./store"
  password_file = "./password"
}
gateway {
  http {
    listen  = "0.0.0.0:1"
    origins = ["https://evil.example"]
  }
}
audit {
  output    = "stderr"
  retention = "1h"
  forward   = local.targets
  arguments = "full"
}
console {
  admins = ["mallory"]
  hosts  = ["evil.example"]
  viewer {
    subjects = ["eve"]
  }
}
telemetry {
  metrics {
  }
}
notify {
  webhook = "https://${env("TOKEN")}.evil.example/x"
  secret  = env("KEY")
}
`)
	for _, want := range []string{
		"loads plugin acme from DIR/plugins",
		`loads plugin other from env("SOURCE")`, `computes local.a = ["sh", env("B")]`, `computes local.b = "text"`,
		"contacts https://acme.example", `sets payload = "rm -rf /"`,
		"sets token = ***", "sets anything = local.a", "runs DIR/steal",
		"runs DIR/git", "runs … push {where}", "keeps secrets in the store file",
		`sets path = "./store"`, `sets password_file = "./password"`,
		`listens "0.0.0.0:1"`, `sets origins = ["https://evil.example"]`,
		"sets what is recorded about requests, and for how long", `sets output = "stderr"`, `sets retention = "1h"`,
		`sets arguments = "full"`, `listens "127.0.0.1:7576"`, `sets admins = ["mallory"]`, `sets subjects = ["eve"]`,
		`contacts local.targets`, `sets hosts = ["evil.example"]`, `listens "127.0.0.1:7577"`,
		`contacts "https://${env("TOKEN")}.evil.example/x"`, "reads environment variable TOKEN",
		"reads environment variable KEY",
	} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("outline\n%s\nlacks %s", got, want)
		}
	}
	if strings.Contains(got, "builtin") || strings.Contains(got, "hunter2") {
		t.Errorf("outline\n%s", got)
	}
}

// TestOutlineShowsAllSettingsOfBorrowedPlugin checks a block with the name of a
// bundled plugin that runs another program.
func TestOutlineShowsAllSettingsOfBorrowedPlugin(t *testing.T) {
	got := outlineOf(t, `plugins {
  required = { acme = { source = "./plugins" } }
}
plugin "stdio" {
  use = "acme"
}
server "x" {
  transport "stdio" {
    command = ["./x"]
    eval    = "evil"
  }
}
`)
	for _, want := range []string{`loads plugin stdio with the program of "acme"`,
		`sets command = ["./x"]`, `sets eval = "evil"`} {
		if !strings.Contains(got, want) {
			t.Errorf("outline\n%s\nlacks %s", got, want)
		}
	}
}

// TestContentDoesNotFollowLinksOutOfRoot checks that a link out of the directory is
// shown with its target, and that the target is part of the digest. The target is not
// read before the user trusts the configuration.
func TestContentDoesNotFollowLinksOutOfRoot(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	text := "server \"s\" {\n  transport \"stdio\" {\n    env = { A = file(\"link\") }\n    token_file = \"link2\"\n  }\n}\n"
	for name, text := range map[string]string{filepath.Join(dir, "junctor.hcl"): text, outside: "canary",
		outside + "2": "other"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	relink := func(name, to string) *Content {
		t.Helper()
		_ = os.Remove(filepath.Join(dir, name))
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		c, diags := Read(filepath.Join(dir, "junctor.hcl"), factsOf(nil))
		if c == nil {
			t.Fatal(diags)
		}
		return c
	}
	relink("link2", outside)
	c := relink("link", outside)
	path := filepath.Join(dir, "link")
	if in := c.included[path]; in.link != outside || in.text != nil {
		t.Errorf("included %+v", in)
	}
	var items []string
	for _, item := range c.Outline {
		items = append(items, item.Text)
	}
	for _, want := range []string{"file link, which leads to " + outside,
		"token_file = \"link2\", which leads to " + outside} {
		if !slices.Contains(items, want) {
			t.Errorf("outline %q lacks %s", items, want)
		}
	}
	digest := c.Digest()
	if relink("link", outside+"2").Digest() == digest {
		t.Error("another target has the same digest")
	}
	if text, err := c.ReadFile(path); err != nil || string(text) != "canary" {
		t.Errorf("read %q, %v; want what was reviewed", text, err)
	}
	relink("link", outside)
	if relink("link2", outside+"2").Digest() == digest {
		t.Error("another target of a setting has the same digest")
	}
}

// TestContentHoldsRootUnderOtherName checks a directory with a second name, as on
// file systems that ignore case.
func TestContentHoldsRootUnderOtherName(t *testing.T) {
	dir := t.TempDir()
	c := &Content{Root: filepath.Join(dir, "other name")}
	if err := os.Symlink(dir, c.Root); err != nil {
		t.Skip(err)
	}
	if !source.Holds(c.Root, filepath.Join(dir, "x")) || source.Holds(c.Root, filepath.Dir(dir)) {
		t.Error("the directory is not recognized")
	}
}

// factsOf returns facts of a language with a few words.
func factsOf(lookup func(string) (string, bool)) Facts {
	return Facts{
		Words: source.Words{
			Blocks:     func() map[string]bool { return nil },
			Messages:   func() map[string]bool { return nil },
			IsFunction: func(string) bool { return false },
			EnvName:    lazyregexp.New(`^[A-Z_]+$`),
			SecretName: lazyregexp.New(`^[a-z]+$`),
		},
		Bundled: []string{"stdio", "http", "sse", "cli", "bearer", "command", "oauth", "keyring", "file"},
		Console: "127.0.0.1:7576",
		Metrics: "127.0.0.1:7577",
		Lookup:  lookup,
	}
}
