package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/expression"
)

// cursor marks the place of a question in a text.
const cursor = "¦"

// edited returns an Editor of a text without its cursor, and the offset of the cursor.
func edited(t testing.TB, text string) (e *Editor, offset int) {
	t.Helper()
	offset = strings.Index(text, cursor)
	if offset < 0 {
		t.Fatalf("no cursor in %q", text)
	}
	return NewEditor(map[string][]byte{"/x/a.hcl": []byte(strings.Replace(text, cursor, "", 1))}, fakeDescribe), offset
}

// servers has a few definitions that the tests refer to.
const servers = `
locals {
  org   = "acme"
  token = "s3cr3t"
}
variable "region" {
  default     = "eu"
  description = "Where it is."
}
plugins {
  required = {
    kitchen = { source = "./kitchen" }
    "vault" = { source = "./vault", version = "~> 1.0" }
    unknown = { source = "./unknown" }
  }
}
plugin "apart" {
  use = "stdio"
}
server "github" {
  transport "stdio" {
    command = ["x"]
  }
}
server "orders" {
  for_each = { eu = 1 }
}
policy {
  role "dev" {
  }
}
`

// TestCompletions lists what is offered, and what is not, at places of texts that are mostly
// incomplete.
func TestCompletions(t *testing.T) {
	for _, c := range []struct{ text, want, not string }{
		{"¦", "server gateway policy locals plugins secret_store module test audit notify", "transport state"},
		{"ser¦", "server", ""},
		{"server \"a\" {\n  ¦\n}", "transport auth tool timeouts prefix idle for_each", "server http"},
		{"server \"a\" {\n  prefix = \"x\"\n  ¦\n}", "share", "prefix"},
		{"server \"a\" {\n  pre¦fix = \"x\"\n}", "prefix share", ""},
		{"server \"a\" {\n  timeouts {\n  }\n  ¦", "tools", "timeouts"},
		{"server \"a\" {\n  timeouts {\n    ¦", "start install call shutdown", "prefix"},
		{"server \"a\" {\n  share = ¦\n}", `"global" "tenant" "session" env try local.org var.region`, "adaptive"},
		{"server \"a\" {\n  share = \"¦\"\n}", "global tenant session", "local.org"},
		{"server \"a\" {\n  share = \"ten¦\n  idle = 3\n}", "tenant", ""},
		{"server \"a\" {\n  enabled = ¦\n}", "true false", `"true"`},
		{"server \"a\" {\n  context = [\"¦\n}", "subject client", ""},
		{"server \"a\" {\n  prefix = local.¦\n}", "org token", "region env"},
		{"server \"a\" {\n  prefix = \"${var.¦}\"\n}", "region", "org"},
		{"server \"a\" {\n  prefix = \"${¦}\"\n}", "local.org lower", "global"},
		{"server \"a\" {\n  for_each = [\"x\"]\n  prefix = each.¦\n}", "key value", ""},
		{"server \"a\" {\n  transport \"¦\" {\n  }\n}", "stdio http sse cli kitchen unknown", "bearer oauth vault keyring"},
		{"server \"a\" {\n  transport \"st¦\n}", "stdio kitchen", "bearer"},
		{"server \"a\" {\n  auth \"¦\" {\n  }\n}", "bearer oauth command vault/ticket vault/badge unknown", "stdio kitchen"},
		{"server \"a\" {\n  transport \"stdio\" {\n    ¦\n  }\n}", "command args env pass_env cwd", "url prefix"},
		{"server \"a\" {\n  transport \"apart\" {\n    ¦\n  }\n}", "command", ""},
		{"server \"a\" {\n  transport \"kitchen\" {\n    ¦\n  }\n}", "url mode tls rule", ""},
		{"server \"a\" {\n  transport \"kitchen\" {\n    mode = \"¦\"\n  }\n}", "fast careful", ""},
		{"server \"a\" {\n  transport \"kitchen\" {\n    tls {\n      ¦\n    }\n  }\n}", "ca pass", "url"},
		{"server \"a\" {\n  transport \"kitchen\" {\n    rule \"x\" {\n      ¦", "max tags", ""},
		{"secret_store \"¦\" {\n}", "file keyring vault", "stdio"},
		{"secret_store \"file\" {\n  ¦\n}", "path password_file password_fd", ""},
		{"gateway {\n  http {\n    auth \"¦\" {\n    }\n  }\n}", "static_token jwt certificate forwarded", "bearer"},
		{"gateway {\n  http {\n    auth \"jwt\" {\n      claims {\n        ¦\n      }\n    }\n  }\n}", "groups tenant", "issuer"},
		{"gateway {\n  http {\n    auth \"static_token\" {\n      roles = [\"¦\"]\n    }\n  }\n}", "dev", ""},
		{"policy {\n  allow {\n    servers = [¦]\n  }\n}", `"github"`, ""},
		{"policy {\n  allow {\n    servers = [\"¦\"]\n  }\n}", "github orders_*", "dev"},
		{"policy {\n  allow {\n    when = ¦\n  }\n}", "args principal request like within startswith local.org", ""},
		{"policy {\n  allow {\n    when = principal.¦\n  }\n}", "subject roles", "hour"},
		{"policy {\n  group \"x\" {\n    roles = [\"¦\"]\n  }\n}", "dev", ""},
		{"gateway {\n  limits {\n    tool \"¦\" {\n    }\n  }\n}", "github/*", ""},
		{"test \"x\" {\n  call \"¦\" \"y\" {\n  }\n}", "github", ""},
		{"test \"x\" {\n  call \"g\" \"y\" {\n    expect = \"¦\"\n  }\n}", "allowed depends", ""},
		{"plugin \"x\" {\n  use = \"¦\"\n}", "stdio kitchen", ""},
		{"plugin \"¦\" {\n}", "stdio kitchen", ""},
		{"server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\",\n  }\n  ¦\n}", "", "command"},
		{"server \"a\" {\n  # a comment ¦\n}", "", "prefix"},
		{"server ¦", "", "server prefix"},
		{"server \"a\" {\n  unknown {\n    ¦\n  }\n}", "", "prefix start"},
		{"server \"a\" {\n  transport \"missing\" {\n    ¦\n  }\n}", "", "command"},
		{"server \"a\" {\n  prefix = \"a¦b\"\n}", "", "local.org"},
		{"locals {\n  ¦\n}", "", "org server"},
		{"server \"a\" {\n  timeouts {\nserver \"b\" {\n}\n¦", "gateway", "start prefix"},
	} {
		e, offset := edited(t, c.text+servers)
		offered := map[string]bool{}
		for _, one := range e.Complete(t.Context(), "/x/a.hcl", offset) {
			offered[one.Label] = true
			text := strings.Replace(c.text+servers, cursor, "", 1)
			if one.From > offset || one.To < offset || strings.Contains(text[one.From:one.To], "\n") {
				t.Errorf("%s: %s replaces %d to %d, and the cursor is at %d", c.text, one.Label, one.From, one.To, offset)
			}
		}
		for _, label := range strings.Fields(c.want) {
			if !offered[label] {
				t.Errorf("%s: does not offer %s, but %q", c.text, label, slices.Sorted(maps.Keys(offered)))
			}
		}
		for _, label := range strings.Fields(c.not) {
			if offered[label] {
				t.Errorf("%s: offers %s", c.text, label)
			}
		}
	}
}

// TestHovers shows the meaning of words.
func TestHovers(t *testing.T) {
	for text, want := range map[string]string{
		"ser¦ver \"a\" {\n}":                                                "An MCP server.",
		"server \"a\" {\n  sha¦re = \"global\"\n}":                          "**share**: `\"global\"`, `\"tenant\"` or `\"session\"`; default `\"global\"`",
		"server \"a\" {\n  timeouts {\n    start¦ = \"5s\"\n  }\n}":         "default `\"10s\"`",
		"server \"a\" {\n  transport \"kitc¦hen\" {\n  }\n}":                "",
		"server \"a\" {\n  transport \"stdio\" {\n    comm¦and = 1\n  }\n}": "**command**: a list of strings; required",
		"server \"a\" {\n  transport \"kitchen\" {\n    mode¦ = 1\n  }\n}":  "default `\"fast\"`",
		"server \"a\" {\n  prefix = local.or¦g\n}":                          `local.org = "acme"`,
		"server \"a\" {\n  prefix = lo¦cal.org\n}":                          `local.org = "acme"`,
		"server \"a\" {\n  prefix = local.tok¦en\n}":                        "**local.token**",
		"server \"a\" {\n  prefix = \"x-${var.reg¦ion}\"\n}":                "JUNCTOR_VAR_region",
		"server \"a\" {\n  prefix = low¦er(\"X\")\n}":                       "lower(TEXT)",
		"policy {\n  allow {\n    when = lik¦e(args.a, \"x\")\n  }\n}":      `like(TEXT, "PATTERN*")`,
		"server \"a\" {\n  prefix = unkno¦wn(\"X\")\n}":                     "",
		"server \"a\" {\n  unkn¦own = 1\n}":                                 "",
		"server \"a\" {\n  prefix = \"te¦xt\"\n}":                           "",
		"locals {\n  na¦me = 1\n}":                                          "A value, for `local.NAME`",
		"  ¦  ":                                                             "",
	} {
		e, offset := edited(t, text+servers)
		got, at, ok := e.Hover(t.Context(), "/x/a.hcl", offset)
		if ok != (want != "") || !strings.Contains(got, want) || strings.Contains(got, "s3cr3t") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if ok && (at.From > offset || at.To < offset) {
			t.Errorf("%s: at %v", text, at)
		}
	}
}

// TestDefinitions jumps to definitions. The wanted text follows the definition's place.
func TestDefinitions(t *testing.T) {
	for text, want := range map[string][]string{
		"server \"a\" {\n  prefix = local.or¦g\n}":                       {`org   =`},
		"server \"a\" {\n  prefix = \"${var.reg¦ion}\"\n}":               {`region" {`},
		"server \"a\" {\n  prefix = local.missi¦ng\n}":                   nil,
		"server \"a\" {\n  for_each = [\"x\"]\n  prefix = each.k¦ey\n}":  {`for_each = ["x"]`},
		"policy {\n  allow {\n    servers = [\"git¦hub\"]\n  }\n}":       {`github" {`},
		"policy {\n  allow {\n    servers = [\"*¦\"]\n  }\n}":            {`github" {`, `orders" {`},
		"policy {\n  allow {\n    servers = [\"orders_e¦u\"]\n  }\n}":    {`orders" {`},
		"policy {\n  allow {\n    tools = [\"git¦hub\"]\n  }\n}":         nil,
		"policy {\n  group \"g\" {\n    roles = [\"de¦v\"]\n  }\n}":      {`dev" {`},
		"server \"a\" {\n  transport \"kitc¦hen\" {\n  }\n}":             {`kitchen = {`},
		"server \"a\" {\n  auth \"vault/tick¦et\" {\n  }\n}":             {`vault" = {`},
		"server \"a\" {\n  transport \"apa¦rt\" {\n  }\n}":               {`apart" {`},
		"server \"a\" {\n  transport \"std¦io\" {\n  }\n}":               nil,
		"plugin \"y\" {\n  use = \"kitc¦hen\"\n}":                        {`kitchen = {`},
		"plugin \"kit¦chen\" {\n}":                                       {`kitchen = {`},
		"test \"x\" {\n  call \"gith¦ub\" \"y\" {\n  }\n}":               {`github" {`},
		"gateway {\n  limits {\n    tool \"github/¦x\" {\n    }\n  }\n}": {`github" {`},
		"ser¦ver \"a\" {\n}":                                             nil,
	} {
		e, offset := edited(t, text+servers)
		all := strings.Replace(text+servers, cursor, "", 1)
		places := e.Definition(t.Context(), "/x/a.hcl", offset)
		if len(places) != len(want) {
			t.Errorf("%s: %v, want %q", text, places, want)
			continue
		}
		for i, p := range places {
			if p.Path != "/x/a.hcl" || !strings.HasPrefix(all[p.From:], want[i]) {
				t.Errorf("%s: jumps to %q, want %q", text, all[p.From:min(len(all), p.From+20)], want[i])
			}
		}
	}
}

// TestFunctionsHaveHelp: every function of the language is described, and nothing else.
func TestFunctionsHaveHelp(t *testing.T) {
	if got := slices.Sorted(maps.Keys(functionHelp)); !slices.Equal(got, expression.FunctionNames) {
		t.Errorf("help for %q, and the functions are %q", got, expression.FunctionNames)
	}
	for name, help := range functionHelp {
		if !strings.HasPrefix(help[0], name+"(") || help[1] == "" {
			t.Errorf("the help of %s is incomplete", name)
		}
	}
}

// FuzzEditor asks about every place of a text. Nothing panics, and answers are in the text.
func FuzzEditor(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "config", "*.hcl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths[:min(len(paths), 30)] {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 600)], 10)
	}
	f.Add([]byte(servers), 40)
	f.Add([]byte("a = \"${local.\nb = [\n\"x"), 9)
	f.Fuzz(func(t *testing.T, text []byte, offset int) {
		e := NewEditor(map[string][]byte{"/x/a.hcl": text}, fakeDescribe)
		inside := func(from, to int) {
			if from < 0 || to < from || to > len(text) {
				t.Errorf("an answer is at %d to %d of %d bytes", from, to, len(text))
			}
		}
		for _, c := range e.Complete(t.Context(), "/x/a.hcl", offset) {
			inside(c.From, c.To)
		}
		if _, at, ok := e.Hover(t.Context(), "/x/a.hcl", offset); ok {
			inside(at.From, at.To)
		}
		for _, at := range e.Definition(t.Context(), "/x/a.hcl", offset) {
			inside(at.From, at.To)
		}
	})
}
