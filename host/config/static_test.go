package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// loadStatic loads a path without evaluation. It fails the test if the load reads the
// environment.
func loadStatic(t testing.TB, o Options) source.Diagnostics {
	t.Helper()
	o.Static, o.Describe = true, fakeDescribe
	o.Lookup = func(name string) (string, bool) {
		t.Errorf("a static load reads the variable %s", name)
		return "", false
	}
	c, ds := Load(context.Background(), o)
	if c != nil {
		t.Error("a static load returns a configuration")
	}
	return ds
}

// TestStaticLoadReportsNothingElse compares a load without evaluation with a usual one: it
// reports no other errors.
func TestStaticLoadReportsNothingElse(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "config", "*.hcl"))
	if err != nil || len(paths) < 50 {
		t.Fatal(err, len(paths))
	}
	found := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, usual := Load(context.Background(), Options{Path: path, Lookup: fakeLookup, Describe: fakeDescribe})
		known := map[string]bool{}
		for _, d := range usual {
			known[d.At.String()+d.Summary] = true
		}
		ds := loadStatic(t, Options{Path: path, Texts: map[string][]byte{path: text}})
		if len(usual) > source.MaxDiagnostics {
			continue
		}
		for _, d := range ds {
			found++
			if !known[d.At.String()+d.Summary] {
				t.Errorf("%s: only the static load reports: %s", d.At, d.Summary)
			}
		}
	}
	if found < 200 {
		t.Errorf("the static loads report %d problems", found)
	}
}

// TestStaticLoadEvaluatesNothing loads texts that would read files, or take long.
func TestStaticLoadEvaluatesNothing(t *testing.T) {
	long := "locals {\n a0 = \"0123456789\"\n"
	for i := range 40 {
		long += "  a" + strings.Repeat("1", i+1) + " = \"${local.a" + strings.Repeat("1", i) + "}${local.a" +
			strings.Repeat("1", i) + "}\"\n"
	}
	long = strings.ReplaceAll(long, "local.a}", "local.a0}") + "}\n"
	for name, text := range map[string]string{
		"file":    `locals { a = file("/does/not/exist") }`,
		"env":     `locals { a = env("NOT_SET") }`,
		"var":     `variable "x" { }`,
		"double":  long,
		"range":   `locals { a = [for i in range(1000): [for j in range(1000): range(1000)]] }`,
		"each":    "server \"a\" {\n for_each = env(\"X\")\n transport \"stdio\" {\n command = [each.key]\n}\n}",
		"prefix":  "server \"a__b\" {\n prefix = local.p\n transport \"stdio\" {\n command = [\"x\"]\n}\n}\nlocals { p = lower(\"X\") }",
		"life":    "gateway {\n http {\n sessions {\n idle = \"20h\"\n life = local.x\n}\n auth \"static_token\" {\n token = env(\"T\")\n subject = \"a\"\n}\n}\n}\nlocals { x = upper(\"a\") }",
		"use":     "plugin \"a\" { use = local.x }\nlocals { x = upper(\"a\") }",
		"policy":  "policy {\n allow { servers = local.x }\n allow { tools = [\"b\"] }\n}\nlocals { x = [upper(\"a\")] }",
		"enabled": "server \"a\" {\n enabled = local.x\n prefix = \"__\"\n}\nlocals { x = upper(\"a\") }",
		"outside": `module "x" { source = "../../.." }`,
	} {
		if ds := loadStatic(t, Options{Path: "/nowhere/junctor.hcl",
			Texts: map[string][]byte{"/nowhere/junctor.hcl": []byte(text)}}); len(ds) > 0 {
			t.Errorf("%s: %s", name, rendered(ds))
		}
	}
}

// TestStaticLoadFindsMistakes reports mistakes beside expressions that are not evaluated.
func TestStaticLoadFindsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"server \"a\" {\n prefx = local.x\n transport \"stdio\" {\n command = [env(\"A\")]\n}\n}\nlocals { x = 1 }": `unknown attribute "prefx"`,
		"server \"a\" {\n transport \"stdio\" {\n command = [local.x]\n}\n}":                                        `there is no local "x"`,
		"server \"a\" {\n transport \"stdio\" {\n comand = [env(\"A\")]\n}\n}":                                      `unknown attribute "comand"`,
		"server \"a\" {\n transport \"stdio\" {\n command = \"a\"\n}\n}":                                            `"command" must be a list of strings, not a string`,
		"server \"a\" {\n idle = \"soon\"\n transport \"stdio\" {\n command = [envv(\"A\")]\n}\n}":                  `there is no function "envv"`,
		"server \"a\" {\n transport \"stdio\" {\n command = [keyring(\"A\")]\n}\n}":                                 `"command" is no setting for secrets, so it cannot come from keyring()`,
	} {
		ds := loadStatic(t, Options{Path: "/nowhere/a.hcl", Texts: map[string][]byte{"/nowhere/a.hcl": []byte(text)}})
		if !strings.Contains(rendered(ds), want) {
			t.Errorf("%s: want %s, got %s", text, want, rendered(ds))
		}
	}
}

// TestStaticLoadWarnsOfUnknownPlugins: a plugin without a description is no error.
func TestStaticLoadWarnsOfUnknownPlugins(t *testing.T) {
	o := Options{Path: "/nowhere/a.hcl", Static: true,
		Text: []byte("server \"a\" {\n transport \"stdio\" {\n comand = 1\n}\n}"),
		Describe: func(context.Context, Plugin) (sdk.Manifest, error) {
			return sdk.Manifest{}, fault.New(fault.PluginDescribe, "there is no cached description")
		}}
	if _, ds := Load(t.Context(), o); len(ds) != 1 || ds.HasErrors() || ds[0].Code != fault.PluginDescribe {
		t.Error(rendered(ds))
	}
}
