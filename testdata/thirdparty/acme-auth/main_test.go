package main

import (
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

var acme = plugintest.Auth{
	Name:     "acme",
	Settings: `{"header":"X-Acme-Token","prefix":""}`,
	Refused:  []plugintest.Refusal{{Settings: `{"header":["X-Acme-Token"]}`, Paths: []string{"header"}}},
	Host: func(testing.TB) *plugintest.Host {
		return &plugintest.Host{Answers: map[string]string{"token": plugintest.Canary}}
	},
	Login: true,
	Want:  sdk.Credential{Headers: map[string]string{"X-Acme-Token": plugintest.Canary}},
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), acme) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), acme) }

// TestEmptyToken checks that an empty answer cancels the login and stores
// nothing.
func TestEmptyToken(t *testing.T) {
	host := &plugintest.Host{Answers: map[string]string{"token": ""}}
	auth, err := plugin().Auths["acme"].Start(t.Context(), &sdk.AuthServer{Host: host.Services()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := auth.(sdk.Loginer).Login(t.Context(), nil); sdk.CodeOf(err) != sdk.Canceled {
		t.Errorf("got %v", err)
	}
	if len(host.Secrets()) > 0 {
		t.Errorf("stored %v", host.Secrets())
	}
}
