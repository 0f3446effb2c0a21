package main

import (
	"encoding/json"
	"net/url"
	"testing"

	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine starts the plugin with a grant without a user.
func machine(t *testing.T) plugintest.Auth {
	v := newVendor(t)
	v.Tokens = func(_ url.Values, m map[string]any) { m["access_token"] = "at-machine" }
	settings, err := json.Marshal(map[string]string{"grant": "client_credentials",
		"client_id": "me", "client_secret": plugintest.Canary, "issuer": v.Issuer})
	if err != nil {
		t.Fatal(err)
	}
	return plugintest.Auth{
		Name: "oauth", Settings: string(settings),
		Host:    func(testing.TB) *plugintest.Host { return &plugintest.Host{} },
		Request: sdk.AuthRequest{Method: "POST", URL: v.URL},
		Want:    sdk.Credential{Headers: map[string]string{"Authorization": "Bearer at-machine"}},
		Refused: []plugintest.Refusal{
			{Settings: `{"grant":"password"}`, Paths: []string{"grant"}},
			{Settings: `{"grant":"client_credentials"}`, Paths: []string{"client_id"}},
			{Settings: `{"grant":"client_credentials","client_id":"a"}`, Paths: []string{"client_id"}},
			{Settings: `{"grant":"token_exchange","client_id":"a"}`, Paths: []string{"subject_token"}},
			{Settings: `{"client_secret":"x"}`, Paths: []string{"client_secret"}},
			{Settings: `{"client_id":"a","client_secret":"x","private_key":"y"}`, Paths: []string{"client_secret"}},
			{Settings: `{"client_id":"a","private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}`,
				Paths: []string{"private_key"}},
			{Settings: `{"client_id":"a","private_key":"key.pem","client_auth":"client_secret_post"}`,
				Paths: []string{"private_key", "client_auth"}},
			{Settings: `{"client_id":"a","client_auth":"private_key_jwt"}`, Paths: []string{"client_auth"}},
			{Settings: `{"client_metadata_url":"http://app.example/client.json"}`,
				Paths: []string{"client_metadata_url"}},
			{Settings: `{"client_metadata_url":"https://app.example/"}`, Paths: []string{"client_metadata_url"}},
			{Settings: `{"issuer":"as.example","resource":"https://u:p@h/","redirect_url":"https://127.0.0.1:1/x"}`,
				Paths: []string{"issuer", "resource", "redirect_url"}},
			{Settings: `{"redirect_url":"http://127.0.0.1/x"}`, Paths: []string{"redirect_url"}},
			{Settings: `{"redirect_url":"http://127.0.0.1:99999/x"}`, Paths: []string{"redirect_url"}},
			{Settings: `{"redirect_url":"http://127.0.0.1:0/x"}`, Paths: []string{"redirect_url"}},
			{Settings: `{"scopes":["read","a b",""]}`, Paths: []string{"scopes[1]", "scopes[2]"}},
			{Settings: `{"registration":"sometimes"}`, Paths: []string{"registration"}},
		},
	}
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), machine(t)) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), machine(t)) }

// TestDocumentation: the changelog has the version and the README has every setting.
func TestDocumentation(t *testing.T) { docscheck.Check(t, plugin()) }
