package config

import (
	"context"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestSettingsDiagnosticsNamesLineOfDefault checks the place of a complaint about a setting that
// the server inherits from a defaults block in another file.
func TestSettingsDiagnosticsNamesLineOfDefault(t *testing.T) {
	l := newLoader(Options{Path: "dir", Lookup: fakeLookup, Describe: fakeDescribe})
	l.layers[0].keep(l.files.Add("defaults.hcl",
		[]byte("defaults {\n  env = {\n    LANG = \"C\"\n  }\n  pass_env = [\"HOME\"]\n}\n")))
	l.layers[0].keep(l.files.Add("servers.hcl", []byte("server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n    env = {\n      OWN = \"1\"\n    }\n  }\n}\n")))
	c, ds := l.load(context.Background())
	if c == nil {
		t.Fatal(rendered(ds))
	}
	for path, want := range map[string]string{
		`env["LANG"]`: "defaults.hcl:3:12", `env["OWN"]`: "servers.hcl:5:13",
		`env`: "servers.hcl:4:5", `env["NONE"]`: "servers.hcl:4:11",
		`pass_env[0]`: "defaults.hcl:5:15", `pass_env`: "defaults.hcl:5:14",
		`command`: "servers.hcl:3:5", `nothing`: "servers.hcl:2:3",
	} {
		refused := c.Servers[0].SettingsDiagnostics([]*sdk.Error{{Path: path, Code: sdk.Invalid, Message: "no"}})
		if len(refused) != 1 || refused[0].At.String() != want || len(refused[0].Snippet) == 0 {
			t.Errorf("%s: %s, want %s", path, refused[0].At, want)
		}
		if in := refused[0].In; in != `server "a"` {
			t.Errorf("%s: in %s", path, in)
		}
	}
}

// TestFingerprintOfDefaults checks that a default changes the fingerprint exactly if
// the same attribute in the server block does.
func TestFingerprintOfDefaults(t *testing.T) {
	const server = "server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n%s  }\n}\n"
	fingerprint := func(defaults, own string) string {
		c, ds := loadText(t, defaults+strings.Replace(server, "%s", own, 1))
		if c == nil {
			t.Fatal(rendered(ds))
		}
		return c.Servers[0].Fingerprint
	}
	plain := fingerprint("", "")
	if got := fingerprint("defaults {\n  idle = \"5m\"\n  timeouts {\n    call = \"5s\"\n  }\n}\n", ""); got != plain {
		t.Error("a default of idle changes the connection")
	}
	inherited := fingerprint("defaults {\n  env = { A = \"1\" }\n}\n", "")
	if inherited == plain {
		t.Error("a default of env does not change the connection")
	}
	if written := fingerprint("", "    env = { A = \"1\" }\n"); written != inherited {
		t.Error("it matters where env is written")
	}
}
