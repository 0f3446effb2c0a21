package config

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk"
)

var update = flag.Bool("update", false, "rewrite testdata/config/*.golden")

// TestGolden loads every fixture. Those with the prefix "ok-" must load, all others
// must fail. The golden file contains the diagnostics and the Config.
func TestGolden(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "testdata", "config"))
	var fixtures []string
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".hcl") || e.IsDir() && e.Name() != "plugins" {
			fixtures = append(fixtures, e.Name())
			if !strings.HasPrefix(e.Name(), "ok-") {
				refused++
			}
		}
	}
	if refused < 45 {
		t.Errorf("only %d fixtures fail, want 45 or more", refused)
	}
	for _, path := range fixtures {
		t.Run(path, func(t *testing.T) {
			c, ds := Load(context.Background(), Options{Path: path, Lookup: fakeLookup, Describe: fakeDescribe})
			if good := strings.HasPrefix(path, "ok-"); good != (c != nil) || good == ds.HasErrors() {
				t.Errorf("config %v, diagnostics:\n%s", c != nil, rendered(ds))
			}
			if c != nil {
				decodeAll(t, c)
			}
			golden(t, strings.TrimSuffix(path, ".hcl")+".golden", rendered(ds)+dump(t, path, c))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; write it with go test ./host/config -run TestGolden -update; got:\n%s\nwant:\n%s", name,
			got, want)
	}
}

// dump encodes what a fixture is about: of the Config the blocks that the fixture has, without
// what is as in defaultConfig, places, and what differs between machines. A fixture that has
// other blocks is not about its servers and plugins.
func dump(t *testing.T, path string, c *Config) string {
	if c == nil {
		return ""
	}
	type block struct {
		Block
		Settings, Shown json.RawMessage
	}
	type server struct {
		*Server
		Transport   any
		Auth        any    `json:",omitempty"`
		Fingerprint string `json:",omitempty"`
	}
	all := struct {
		*Config
		Servers     []server
		SecretStore any `json:",omitempty"`
	}{Config: c}
	if k := c.SecretStore; k != nil {
		all.SecretStore = struct {
			block
			File *SecretFile `json:",omitempty"`
		}{block{k.Block, k.Settings, k.Shown}, k.File}
	}
	for _, s := range c.Servers {
		one := server{Server: s, Transport: block{s.Transport, s.Transport.Settings, s.Transport.Shown}}
		if s.Auth != nil {
			one.Auth = block{*s.Auth, s.Auth.Settings, s.Auth.Shown}
		}
		if s.Enabled && len(s.Fingerprint) != 64 {
			t.Errorf("server %s: fingerprint %q", s.Name, s.Fingerprint)
		}
		all.Servers = append(all.Servers, one)
	}
	fields := valueOfJSON(t, all).(map[string]any)
	maps.DeleteFunc(fields, func(name string, _ any) bool { return !isAbout(t, path, name) })
	shown := different(fields, defaultConfig(t))
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(shown); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(c.keyring.Nonce, "$NONCE", here, "$HERE", filepath.Dir(here), "$UP").Replace(b.String())
}

// parts are the fields of a Config that only fixtures with certain blocks are about.
var parts = map[string]string{"Plugins": "plugins plugin", "Gateway": "gateway", "Path": "-", "Files": "module"}

// isAbout reports whether a fixture is about a field of a Config.
func isAbout(t *testing.T, path, field string) bool {
	has := func(kinds string) bool {
		return slices.ContainsFunc(strings.Fields(kinds),
			func(kind string) bool { return slices.Contains(blocksIn(t, path), kind) })
	}
	if field == "Servers" {
		return !has("gateway console telemetry policy test audit notify secret_store")
	}
	kinds, limited := parts[field]
	return !limited || has(kinds)
}

// blocksIn returns the kinds of the blocks at the beginning of lines of a fixture.
func blocksIn(t *testing.T, path string) (kinds []string) {
	names := []string{path}
	if more, _ := filepath.Glob(filepath.Join(path, "*.hcl")); len(more) > 0 {
		names = more
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if kind, _, _ := strings.Cut(line, " "); kind != "" && kind[0] >= 'a' && kind[0] <= 'z' {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// defaultConfig returns the JSON form of a configuration with a server and an empty http block.
func defaultConfig(t *testing.T) map[string]any {
	c := *loadGood(t,
		"server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n}\ngateway {\n  http {\n  }\n}\n")
	s := c.Servers[0]
	s.Name, s.Prefix, s.At, s.Transport, s.Fingerprint = "", "?", source.Position{}, Block{}, ""
	all := valueOfJSON(t, c).(map[string]any)
	all["Servers"] = valueOfJSON(t, s)
	return all
}

// valueOfJSON returns a value as JSON has it.
func valueOfJSON(t *testing.T, v any) (all any) {
	text, err := json.Marshal(v)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // large ones stay as they are
		err = d.Decode(&all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// different returns a value without what is empty or as in usual, and without places. usual is
// that of each element of a list.
func different(v, usual any) any {
	switch v := v.(type) {
	case map[string]any:
		left := map[string]any{}
		of, _ := usual.(map[string]any)
		for name, member := range v {
			if name == "At" || reflect.DeepEqual(member, of[name]) && of != nil {
				continue
			}
			if one := different(member, of[name]); one != nil {
				left[name] = one
			} else if _, known := of[name]; known && !isEmpty(of[name]) {
				left[name] = nil // another value is usual
			}
		}
		if len(left) > 0 {
			return left
		}
		return nil
	case []any:
		var all []any
		for _, e := range v {
			all = append(all, different(e, usual))
		}
		if len(all) > 0 {
			return all
		}
		return nil
	}
	if isEmpty(v) {
		return nil
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || v == json.Number("0")
}

// decodeAll checks that plugins can decode their settings.
func decodeAll(t *testing.T, c *Config) {
	for _, s := range c.Servers {
		var schema sdk.Schema
		var into any
		switch s.Transport.Component {
		case "stdio", "cli":
			schema, into = sdk.SchemaOf[stdioSettings](), new(stdioSettings)
		case "sink":
			schema, into = sdk.SchemaOf[kitchenSettings](), new(kitchenSettings)
		case "one":
			schema, into = sdk.SchemaOf[strictSettings](), new(strictSettings)
		default:
			continue
		}
		if err := sdk.Decode(schema, s.Transport.Settings, into); err != nil {
			t.Errorf("server %s: the plugin cannot decode %s: %v", s.Name, s.Transport.Settings, err)
		}
	}
}
