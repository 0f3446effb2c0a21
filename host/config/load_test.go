package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// A describer records the described plugins.
type describer struct{ asked []string }

func (d *describer) describe(ctx context.Context, p Plugin) (sdk.Manifest, error) {
	d.asked = append(d.asked, p.Name)
	return fakeDescribe(ctx, p)
}

func TestDescribeIsCalledOncePerProgram(t *testing.T) {
	text := []byte(`
plugins {
  required = {
    kitchen = { source = "./kitchen" }
    many    = { source = "./many" }
    broken  = { source = "./broken" }
  }
}
plugin "one" { use = "stdio" }
plugin "two" { use = "stdio" }
plugin "three" { use = "kitchen" }
server "a" {
  transport "one" { command = ["x"] }
}
server "b" {
  transport "two" { command = ["x"] }
}
server "c" {
  transport "three" { url = "x" }
}
server "d" {
  transport "three" { url = "y" }
}
server "e" {
  enabled = false
  transport "broken" {
  }
}
`)
	for all, want := range map[bool][]string{
		false: {"one", "kitchen"},
		true:  {"one", "kitchen", "broken", "many"},
	} {
		var d describer
		l := newLoader(Options{Lookup: fakeLookup, Describe: d.describe, All: all})
		l.layers[0].keep(l.files.Add("junctor.hcl", text))
		c, ds := l.load(context.Background())
		if !slices.Equal(d.asked, want) {
			t.Errorf("asked for %q, want %q", d.asked, want)
		}
		if (c != nil) == all {
			t.Error(rendered(ds))
		}
		if all && ds[0].Code != fault.PluginDescribe {
			t.Errorf("code %s", ds[0].Code)
		}
	}
}

func TestDescribeErrorBecomesDiagnostic(t *testing.T) {
	text := []byte("server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n}\n")
	for _, err := range []error{errors.New("boom"), fmt.Errorf("around: %w", fault.New(fault.PluginChecksum, "boom"))} {
		l := newLoader(Options{
			Describe: func(context.Context, Plugin) (sdk.Manifest, error) { return sdk.Manifest{}, err },
		})
		l.layers[0].keep(l.files.Add("junctor.hcl", text))
		c, ds := l.load(context.Background())
		if c != nil || len(ds) != 1 || ds[0].Summary != `plugin "stdio": boom` || ds[0].Code != fault.As(err).Code ||
			ds[0].At.Line != 2 {
			t.Errorf("%+v", ds)
		}
	}
	l := newLoader(Options{})
	l.layers[0].keep(l.files.Add("junctor.hcl", text))
	if c, ds := l.load(context.Background()); c != nil || !ds.HasErrors() {
		t.Error("loaded without a way to describe plugins")
	}
}

// TestDiagnosticsAreSortedByPlace checks several problems in two files.
func TestDiagnosticsAreSortedByPlace(t *testing.T) {
	l := newLoader(Options{Lookup: fakeLookup, Describe: fakeDescribe})
	l.layers[0].keep(l.files.Add("a.hcl", []byte("x = 1\n\nlocals {\n  a = env(\"NOT_SET\")\n}\n")))
	l.layers[0].keep(l.files.Add("b.hcl",
		[]byte("server \"a\" {\n  transport \"stdio\" {\n    command = 1\n  }\n  y = 1\n  z = 1\n}\n")))
	_, ds := l.load(context.Background())
	var places []string
	for _, d := range ds {
		places = append(places, d.At.String())
	}
	if want := []string{"a.hcl:1:1", "a.hcl:4:7", "b.hcl:3:15", "b.hcl:5:3", "b.hcl:6:3"}; !slices.Equal(places, want) {
		t.Errorf("%q, want %q", places, want)
	}
}

func TestDiagnosticsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "x%d = 1\n", i)
	}
	_, ds := loadText(t, text.String())
	if len(ds) != source.MaxDiagnostics+1 || ds[source.MaxDiagnostics].Summary != "and 10 more problems" ||
		ds[source.MaxDiagnostics].Severity != source.Error {
		t.Errorf("%d diagnostics, last %+v", len(ds), ds[len(ds)-1])
	}
	if err := ds.Err(); !strings.Contains(err.Error(), "more than 50 problems") {
		t.Error(err)
	}
}

func TestErrCountsErrors(t *testing.T) {
	_, ds := loadText(t, "x = 1\n")
	f := fault.As(ds.Err())
	if f.Code != fault.ConfigInvalid || f.At != "junctor.hcl:1:1" || f.Message != `unknown attribute "x"` ||
		f.Hint == "" {
		t.Errorf("%+v", f)
	}
	_, ds = loadText(t, "x = 1\ny = 2\n")
	if f = fault.As(ds.Err()); f.Message != `the configuration has 2 errors; the first: unknown attribute "x"` {
		t.Errorf("%+v", f)
	}
	ds = source.Diagnostics{{Severity: source.Warning, Summary: "x"}}
	if ds.HasErrors() || ds.Err() != nil {
		t.Error("a warning is an error")
	}
}

func TestDiagnosticsHaveNoControlCharacters(t *testing.T) {
	_, ds := loadText(t, "server \"a\x1b[31m\u202e\" {\n\tshare = \"\x07x\"\n}\n")
	if got := rendered(ds); strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Errorf("%q", got)
	}
}

// FuzzLoad checks that any text loads or fails, and that diagnostics contain no value of
// the environment. It skips texts that compute for long: evaluation is not bounded.
func FuzzLoad(f *testing.F) {
	paths, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "config", "*.hcl"))
	habits, err := txtar.ParseFile(habitsFile)
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range habits.Files {
		f.Add(one.Data)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Contains(text, []byte("file")) || bytes.Contains(text, []byte("s3cr3t")) {
			t.Skip("reads an existing file, or contains the secret itself")
		}
		if bytes.Contains(text, []byte("chatty")) {
			t.Skip("this plugin prints the secret, which is hidden only if the configuration reads it")
		}
		if bytes.Count(text, []byte("for")) > 2 || bytes.Count(text, []byte("range")) > 1 ||
			bytes.Count(text, []byte("local")) > 20 {
			t.Skip("may compute for long")
		}
		c, ds := loadText(t, string(text))
		if (c == nil) != ds.HasErrors() {
			t.Errorf("config %v, errors %v", c, ds)
		}
		if strings.Contains(rendered(ds), "s3cr3t-from-env") {
			t.Error(rendered(ds))
		}
	})
}

// TestLargeConfigurationLoads loads a thousand servers.
func TestLargeConfigurationLoads(t *testing.T) {
	var text strings.Builder
	text.WriteString("locals {\n  allow = [" + strings.Repeat(`"get_*", `, 30) +
		"]\n  base = { HOME = \"/\", LANG = \"C\" }\n}\n")
	for i := range 1000 {
		fmt.Fprintf(&text, `
server "server-%d" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-%d"]
    env     = merge(local.base, { TOKEN = env("API_TOKEN"), N = "%d" })
  }
  timeouts {
    call = "2m"
  }
  tools {
    allow = concat(local.allow, ["server_%d_*"])
  }
  tool "search" {
    name    = "find"
    pin     = { owner = "acme" }
    default = { page = %d }
  }
}
`, i, i, i, i, i)
	}
	begin := time.Now()
	c, ds := loadText(t, text.String())
	if c == nil || len(c.Servers) != 1000 {
		t.Fatal(rendered(ds))
	}
	t.Logf("%d KiB took %v", text.Len()>>10, time.Since(begin))
}

// TestLoadRejectsOtherProgramThanReviewed checks that the sha256 in the configuration
// must be that of the reviewed program.
func TestLoadRejectsOtherProgramThanReviewed(t *testing.T) {
	dir := t.TempDir()
	path, reviewed, other := filepath.Join(dir, "junctor.hcl"), strings.Repeat("a", 64), strings.Repeat("b", 64)
	for sha256, want := range map[string]string{reviewed: "",
		other: "the program has sha256 " + reviewed + ", not " + other} {
		text := "plugins {\n  required = { acme = { source = \"./plugins\", sha256 = \"" + sha256 + "\" } }\n}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, diags := ReadContent(path, nil)
		if c == nil {
			t.Fatal(diags)
		}
		c.Pin("acme", reviewed)
		cfg, diags := Load(t.Context(), Options{Path: path, Content: c})
		if (cfg != nil) != (want == "") || want != "" && !strings.Contains(diags.Err().Error(), want) {
			t.Errorf("%s: %v", sha256, diags)
		}
	}
}
