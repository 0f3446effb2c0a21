package config

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			golden(t, strings.TrimSuffix(path, ".hcl")+".golden", rendered(ds)+dump(t, c))
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
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, got, want)
	}
}

// dump encodes a Config without values that differ between machines. Of a server it
// encodes the fields that differ from the defaults.
func dump(t *testing.T, c *Config) string {
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
		Servers     []map[string]json.RawMessage
		SecretStore any      `json:",omitempty"`
		Gateway     *Gateway `json:",omitempty"` // nil without an http block; TestGatewayDefaults checks that
	}{Config: c}
	if k := c.SecretStore; k != nil {
		all.SecretStore = struct {
			block
			File *SecretFile `json:",omitempty"`
		}{block{k.Block, k.Settings, k.Shown}, k.File}
	}
	if c.Gateway.HTTP.Given || c.Gateway.Limits.PerTool != nil || c.Gateway.Limits.Tools != nil {
		all.Gateway = &c.Gateway
	}
	usual := *loadGood(t, "server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n}\n").Servers[0]
	usual.Name, usual.Prefix, usual.At = "", "?", Position{}
	for _, s := range c.Servers {
		one, without := server{Server: s}, server{Server: &Server{Enabled: true}}
		if s.Enabled {
			without.Server = &usual
			one.Transport = block{s.Transport, s.Transport.Settings, s.Transport.Shown}
			if s.Auth != nil {
				one.Auth = block{*s.Auth, s.Auth.Settings, s.Auth.Shown}
			}
			if len(s.Fingerprint) != 64 {
				t.Errorf("server %s: fingerprint %q", s.Name, s.Fingerprint)
			}
		}
		fields, defaults := fieldsOf(t, one), fieldsOf(t, without)
		maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool { return bytes.Equal(value, defaults[name]) })
		all.Servers = append(all.Servers, fields)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(c.keyring.nonce, "$NONCE", here, "$HERE", filepath.Dir(here), "$UP").Replace(b.String())
}

// fieldsOf returns the fields of a struct in JSON.
func fieldsOf(t *testing.T, v any) (fields map[string]json.RawMessage) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &fields); err != nil {
		t.Fatal(err)
	}
	return fields
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
