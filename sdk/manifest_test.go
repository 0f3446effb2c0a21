package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

type nothing struct{}

// bare is a transport with a handwritten schema.
type bare struct {
	sdk.Transport
	schema sdk.Schema
}

func (b bare) Schema() sdk.Schema { return b.schema }

func transports(names ...string) map[string]sdk.Transport {
	m := map[string]sdk.Transport{}
	for _, n := range names {
		m[n] = sdk.NewTransport(func(context.Context, *sdk.Server, *nothing) (sdk.Conn, error) { return nil, nil })
	}
	return m
}

func stores(name string) map[string]sdk.SecretStore {
	return map[string]sdk.SecretStore{name: sdk.NewSecretStore(
		func(context.Context, *sdk.StoreServer, *nothing) (sdk.Vault, error) { return nil, nil })}
}

func byHand(a ...sdk.Attribute) map[string]sdk.Transport {
	return map[string]sdk.Transport{"t": bare{schema: sdk.Schema{Attributes: a}}}
}

func TestDescribe(t *testing.T) {
	text := json.RawMessage(`"string"`)
	for _, c := range []struct {
		name   string
		plugin sdk.Plugin
		want   string // part of the error; empty: no error
	}{
		{"good", sdk.Plugin{Name: "acme-2", Version: "1.2.3-rc.1+x", Transports: transports("acme", "0")}, ""},
		{"longest name", sdk.Plugin{Name: strings.Repeat("a", 64), Version: "0.0.0", Transports: transports("t")}, ""},
		{"no name", sdk.Plugin{Version: "1.0.0", Transports: transports("t")}, `plugin name ""`},
		{"long name",
			sdk.Plugin{Name: strings.Repeat("a", 65), Version: "1.0.0", Transports: transports("t")}, "plugin name"},
		{"upper case", sdk.Plugin{Name: "Acme", Version: "1.0.0", Transports: transports("t")}, "plugin name"},
		{"path", sdk.Plugin{Name: "../x", Version: "1.0.0", Transports: transports("t")}, "plugin name"},
		{"line break", sdk.Plugin{Name: "x\n", Version: "1.0.0", Transports: transports("t")}, "plugin name"},
		{"begins with a dash", sdk.Plugin{Name: "-x", Version: "1.0.0", Transports: transports("t")}, "plugin name"},
		{"v", sdk.Plugin{Name: "x", Version: "v1.0.0", Transports: transports("t")}, "plugin version"},
		{"two numbers", sdk.Plugin{Name: "x", Version: "1.0", Transports: transports("t")}, "plugin version"},
		{"leading zero", sdk.Plugin{Name: "x", Version: "1.02.0", Transports: transports("t")}, "plugin version"},
		{"nothing offered", sdk.Plugin{Name: "x", Version: "1.0.0"}, "offers nothing"},
		{"transport name",
			sdk.Plugin{Name: "x", Version: "1.0.0", Transports: transports("a_b")}, `transport name "a_b"`},
		{"auth name", sdk.Plugin{Name: "x", Version: "1.0.0", Auths: map[string]sdk.Auth{"": sdk.NewAuth(
			func(context.Context, *sdk.AuthServer, *nothing) (sdk.Authorizer, error) { return nil, nil })}},
			`auth name ""`},
		{"nil transport",
			sdk.Plugin{Name: "x", Version: "1.0.0", Transports: map[string]sdk.Transport{"t": nil}}, "is nil"},
		{"nil auth", sdk.Plugin{Name: "x", Version: "1.0.0", Auths: map[string]sdk.Auth{"t": nil}}, "is nil"},
		{"a secret store alone", sdk.Plugin{Name: "x", Version: "1.0.0", SecretStores: stores("keyring")}, ""},
		{"secret store name",
			sdk.Plugin{Name: "x", Version: "1.0.0", SecretStores: stores("Key Ring")}, `secret store name "Key Ring"`},
		{"nil secret store",
			sdk.Plugin{Name: "x", Version: "1.0.0", SecretStores: map[string]sdk.SecretStore{"t": nil}}, "is nil"},
		{"schema without description",
			sdk.Plugin{Name: "x", Version: "1.0.0", Transports: byHand(sdk.Attribute{Name: "a", Type: text})},
			`setting "a" has no description`},
		{"schema without type",
			sdk.Plugin{Name: "x", Version: "1.0.0", Transports: byHand(sdk.Attribute{Name: "a", Description: "d"})},
			`setting "a" has no type`},
		{"schema with a bad default", sdk.Plugin{Name: "x", Version: "1.0.0",
			Transports: byHand(sdk.Attribute{Name: "a", Description: "d", Type: text, Default: json.RawMessage("x")})},
			"not JSON"},
		{"required with a default", sdk.Plugin{Name: "x", Version: "1.0.0",
			Transports: byHand(sdk.Attribute{
				Name: "a", Description: "d", Type: text, Required: true, Default: json.RawMessage(`"x"`),
			})}, "required and has a default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.plugin.Describe([]int{1}, []string{"f"})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			again, _ := c.plugin.Describe([]int{1}, []string{"f"})
			if !bytes.Equal(m.JSON(), again.JSON()) {
				t.Error("two encodings of the manifest differ")
			}
			var back sdk.Manifest
			if err := json.Unmarshal(m.JSON(), &back); err != nil || back.SDK != sdk.Version ||
				back.Protocols[0] != 1 || len(back.Transports) != 2 && c.name == "good" {
				t.Errorf("read back %+v, %v", back, err)
			}
		})
	}
}

// TestManifestGrows checks that an old host can read the manifest of a newer
// plugin.
func TestManifestGrows(t *testing.T) {
	var m sdk.Manifest
	err := json.Unmarshal([]byte(`{"name":"x","version":"1.0.0","later":{"a":1},
		"transports":{"t":{"version":3,"later":true,"attributes":[{"name":"a","type":"string","later":1}]}}}`), &m)
	if err != nil || m.Transports["t"].Version != 3 || m.Transports["t"].Attributes[0].Name != "a" {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestVersionHasAChangelogEntry checks that Version equals the newest entry of
// CHANGELOG.md.
func TestVersionHasAChangelogEntry(t *testing.T) {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, entry, _ := strings.Cut(string(text), "\n## ")
	newest, _, _ := strings.Cut(entry, "\n")
	if newest != sdk.Version {
		t.Errorf("sdk.Version is %s, the newest entry of CHANGELOG.md is %s", sdk.Version, newest)
	}
}
