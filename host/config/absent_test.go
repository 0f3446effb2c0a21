package config

import (
	"context"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// TestAbsentInputs loads configurations whose inputs are not there, as verbs do that start no
// server.
func TestAbsentInputs(t *testing.T) {
	const stdio = "server \"a\" {\n  transport \"stdio\" {\n    command = [\"a\"]\n%s\n  }\n}\n"
	in := func(setting string) string { return strings.Replace(stdio, "%s", setting, 1) }
	for name, c := range map[string]struct {
		text    string
		refused string // part of the error; empty: the configuration is accepted
		lacks   string // what the server lacks
	}{
		"a setting":     {in(`env = { A = env("NOT_SET") }`), "", "NOT_SET"},
		"inside a text": {in(`env = { A = "Bearer ${env("NOT_SET")}" }`), "", "NOT_SET"},
		"a local":       {"locals {\n  a = env(\"NOT_SET\")\n}\n" + in(`env = { A = local.a }`), "", "NOT_SET"},
		"a file":        {in(`env = { A = file("not-there") }`), "", "not-there"},
		"a list":        {in(`args = [env("NOT_SET")]`), "", "NOT_SET"},
		"try":           {in(`env = { A = try(env("NOT_SET"), "b") }`), "", ""},
		"a fallback":    {in(`env = { A = env("NOT_SET", "b") }`), "", ""},
		"inspected":     {in(`args = split(" ", env("NOT_SET"))`), `"NOT_SET" is not set`, ""},
		"a condition":   {in(`args = env("NOT_SET") == "x" ? ["a"] : ["b"]`), `"NOT_SET" is not set`, ""},
		"an index":      {in(`env = { A = { b = "c" }[env("NOT_SET")] }`), `"NOT_SET" is not set`, ""},
		"an attribute of ours": {
			"server \"a\" {\n  prefix = env(\"NOT_SET\")\n  transport \"stdio\" {\n    command = [\"a\"]\n  }\n}\n",
			`"NOT_SET" is not set`, "",
		},
		"another error": {in(`env = { A = env("NOT_SET") + missing }`), "a word without quotes is no value", ""},
		"a policy": {in("") + "policy {\n  deny {\n    tools = [env(\"NOT_SET\")]\n  }\n}\n",
			`"NOT_SET" is not set`, ""},
		"a forward target": {in("") + "audit {\n  forward = [env(\"NOT_SET\")]\n}\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			load := func(known bool) (*Config, source.Diagnostics) {
				return Load(context.Background(), Options{Path: "junctor.hcl", Text: []byte(c.text),
					Lookup: func(string) (string, bool) { return "", false }, Describe: fakeDescribe, NoListener: true,
					AbsentInputs: known})
			}
			cfg, diags := load(true)
			if c.refused != "" {
				if cfg != nil || !strings.Contains(diags.Err().Error(), c.refused) {
					t.Fatalf("accepted, or another error: %v", diags)
				}
				return
			}
			if cfg == nil {
				t.Fatalf("refused: %v", diags.Err())
			}
			err := cfg.AbsentInput(&cfg.Servers[0].Transport, cfg.Servers[0].Auth)
			if (err != nil) != (c.lacks != "") || err != nil && !strings.Contains(err.Error(), c.lacks) {
				t.Errorf("the server lacks %v, want %q", err, c.lacks)
			}
			if c.lacks == "" {
				return
			}
			if _, err := cfg.Resolve(cfg.Servers[0].Transport.Settings, func(name string) (string, error) {
				t.Errorf("secret %q was looked up", name)
				return "", nil
			}); err == nil || !strings.Contains(err.Error(), c.lacks) {
				t.Errorf("Resolve: %v", err)
			}
			if len(diags) == 0 || len(cfg.SecretsIn(string(cfg.Servers[0].Transport.Settings))) > 0 {
				t.Errorf("diagnostics %v, or a secret that is none", diags)
			}
			if strict, _ := load(false); strict != nil {
				t.Error("accepted without AbsentInputs")
			}
		})
	}
}
