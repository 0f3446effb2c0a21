package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outlineOf is the outline of a configuration, one item a line.
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
	c, diags := ReadContent(path, forbidden)
	if c == nil {
		t.Fatal(diags)
	}
	var lines []string
	for _, item := range c.Outline {
		lines = append(lines, string(item.Kind)+" "+item.Text)
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), filepath.Dir(path), "DIR")
}

// TestOutline: what would run, be read or be contacted is shown however it is
// written, and never as something else than what is written.
func TestOutline(t *testing.T) {
	const server = "server \"s\" {\n  transport \"stdio\" {\n    %\n  }\n}\n"
	for name, c := range map[string]struct{ text, want string }{
		"a program and its arguments":     {`command = ["./x", "a b", ""]`, `runs DIR/x 'a b' ''`},
		"further arguments":               {"command = [\"./x\"]\n args = [\"-c\", \"rm\"]", "runs DIR/x -c rm"},
		"a working directory":             {"command = [\"./x\"]\n cwd = \"sub\"", "runs DIR/sub/x, in DIR/sub"},
		"a program that is not there":     {`command = ["nosuch"]`, "runs nosuch (not found)"},
		"a computed argument":             {`command = ["./x", env("A")]`, `runs DIR/x env("A")`},
		"a condition":                     {`command = env("A") == "" ? ["true"] : ["evil"]`, `runs env("A") == "" ? ["true"] : ["evil"]`},
		"a condition on a file":           {`command = [file("f") == "" ? "true" : "evil"]`, `runs file("f") == "" ? "true" : "evil"`},
		"a line break in an argument":     {`command = ["./x", "a\nruns nothing"]`, `runs DIR/x 'a\nruns nothing'`},
		"an escape sequence":              {`command = ["./x", "\u001b[2K"]`, `runs DIR/x \x1b[2K`},
		"text that runs backwards":        {`command = ["./x", "\u202egnp"]`, `runs DIR/x \u202egnp`},
		"invisible text":                  {`command = ["./x", "a\u200bb"]`, `runs DIR/x a\u200bb`},
		"a quote":                         {`command = ["./x", "it's"]`, `runs DIR/x 'it'\''s'`},
		"several lines":                   {"command = [\n \"./x\",\n env(\"A\"), # no\n ]", `runs DIR/x env("A")`},
		"an address in an argument":       {`command = ["./x", "https://u:p@h.example:1/p?q"]`, "contacts https://h.example:1\n"},
		"a variable that loads a library": {`env = { LD_PRELOAD = "./x.so" }`, `sets environment variable LD_PRELOAD="./x.so"`},
		"variables from elsewhere":        {`env = local.all`, "sets environment variables local.all"},
		"a variable with a computed name": {`env = { (env("N")) = "x" }`, `sets environment variable (env("N"))="x"`},
		"a secret in a variable":          {`env = { API_KEY = "hunter2" }`, "sets environment variable API_KEY=***"},
		"variables that are passed":       {`pass_env = ["AWS_SECRET"]`, `passes environment variables ["AWS_SECRET"]`},
		"a stored secret":                 {`env = { A = keyring("github") }`, "reads stored secret github"},
		"a computed variable":             {`env = { A = env("X${local.y}") }`, `reads environment variable "X${local.y}"`},
		"a file in a try":                 {`env = { A = try(file("/etc/shadow"), "") }`, "reads file /etc/shadow"},
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
    listen = "0.0.0.0:1"
  }
}
`)
	for _, want := range []string{
		"loads plugin acme from DIR/plugins", `loads plugin other from env("SOURCE")`, `computes local.a = ["sh", env("B")]`,
		"contacts https://acme.example", `sets payload = "rm -rf /"`, "sets token = ***", "sets anything = local.a", "runs DIR/steal",
		"runs DIR/git", "runs … push {where}", "keeps secrets in the store file", `sets path = "./store"`, `sets password_file = "./password"`,
		`listens "0.0.0.0:1"`,
	} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("outline\n%s\nlacks %s", got, want)
		}
	}
	if strings.Contains(got, "builtin") || strings.Contains(got, "hunter2") {
		t.Errorf("outline\n%s", got)
	}
}
