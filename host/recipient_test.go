package host

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/config"
)

// TestRecipientDependsOnDestination: whatever decides where a secret goes makes
// another recipient, and nothing else does.
func TestRecipientDependsOnDestination(t *testing.T) {
	a := &generation{opts: &Options{}, Config: &config.Config{Plugins: []config.Plugin{
		{Name: "stdio", Source: "builtin/stdio"}, {Name: "http", Source: "builtin/http"},
		{Name: "command", Source: "builtin/command"},
		{Name: "oauth", Source: "builtin/oauth"}, {Name: "cli", Source: "builtin/cli"},
		{Name: "acme", Source: "/opt/acme"},
	}}}
	to := func(transport, settings, auth, authSettings string) string {
		s := &config.Server{Name: "s",
			Transport: config.Block{Plugin: transport, Component: transport, Settings: []byte(settings)}}
		if auth == "" {
			return a.transportRecipient(s).To
		}
		s.Auth = &config.Block{Plugin: auth, Component: auth, Settings: []byte(authSettings)}
		return a.authRecipient(s).To
	}
	transport := func(plugin string) func(string) string {
		return func(settings string) string { return to(plugin, settings, "", "") }
	}
	auth := func(plugin string) func(string) string {
		return func(settings string) string { return to("http", `{"url":"https://a.example"}`, plugin, settings) }
	}
	for name, c := range map[string]struct {
		of       func(string) string
		one, two string
		same     bool
	}{
		"a variable": {transport("stdio"), `{"command":["x"]}`,
			`{"command":["x"],"env":{"A":"b"}}`, true},
		"another argument": {transport("stdio"), `{"command":["x"]}`, `{"command":["x","y"]}`, false},
		"the split of arguments": {transport("stdio"), `{"command":["x","y"]}`,
			`{"command":["x"],"args":["y"]}`, false},
		"another directory": {transport("stdio"), `{"command":["./x"],"cwd":"a"}`,
			`{"command":["./x"],"cwd":"b"}`, false},
		"another PATH": {transport("stdio"), `{"command":["x"]}`,
			`{"command":["x"],"env":{"PATH":"/evil"}}`, false},
		"a library": {transport("stdio"), `{"command":["x"]}`,
			`{"command":["x"],"env":{"LD_PRELOAD":"/evil"}}`, false},
		"options for node": {transport("stdio"), `{"command":["x"],"env":{"NODE_OPTIONS":"a"}}`,
			`{"command":["x"],"env":{"NODE_OPTIONS":"b"}}`, false},
		"a directory as a setting": {transport("stdio"), `{"command":["x"],"cwd":"PATH=/evil"}`,
			`{"command":["x"],"env":{"PATH":"/evil"}}`, false},
		"a tool": {transport("cli"), `{"command":["x"]}`,
			`{"command":["x"],"tool":[{"name":"t","env":{"A":"b"},"argv":["y"]}]}`, true},
		"a tool's command": {transport("cli"), `{"command":["x"]}`,
			`{"command":["x"],"tool":[{"name":"t","command":["y"]}]}`, false},
		"a tool's other command": {transport("cli"), `{"command":["x"],"tool":[{"name":"t","command":["y"]}]}`,
			`{"command":["x"],"tool":[{"name":"t","command":["z"]}]}`, false},
		"a tool's directory": {transport("cli"), `{"command":["x"]}`,
			`{"command":["x"],"tool":[{"name":"t","cwd":"y"}]}`, false},
		"a tool's PATH": {transport("cli"), `{"command":["x"]}`,
			`{"command":["x"],"tool":[{"name":"t","env":{"PATH":"/evil"}}]}`, false},
		"a second tool's command": {transport("cli"), `{"command":["x"],"tool":[{"command":["y"]}]}`,
			`{"command":["x"],"tool":[{"command":["y"]},{"command":["z"]}]}`, false},
		"another path of a URL": {transport("http"), `{"url":"https://a.example/x"}`,
			`{"url":"https://a.example/y","headers":{"a":"b"}}`, true},
		"another host": {transport("http"), `{"url":"https://a.example"}`,
			`{"url":"https://b.example"}`, false},
		"another port": {transport("http"), `{"url":"https://a.example"}`,
			`{"url":"https://a.example:444"}`, false},
		"another scheme": {transport("http"), `{"url":"https://a.example"}`,
			`{"url":"http://a.example"}`, false},
		"a host after a login": {transport("http"), `{"url":"https://a.example/"}`,
			`{"url":"https://a.example@b.example/"}`, false},
		"no check of certificates": {transport("http"), `{"url":"https://a.example"}`,
			`{"url":"https://a.example","tls":{"skip_verify":true}}`, false},
		"a command beside a URL": {transport("acme"), `{"url":"https://a.example"}`,
			`{"url":"https://a.example","command":["x"]}`, false},
		"a setting of a stranger": {transport("acme"), `{"url":"https://a.example"}`,
			`{"url":"https://a.example","send_to":"b"}`, false},
		"the same stranger": {transport("acme"), `{"url":"https://a.example"}`,
			`{"url":"https://a.example"}`, true},
		"a provider's program": {auth("command"), `{"command":["x"]}`, `{"command":["./evil"]}`, false},
		"a provider's cache":   {auth("command"), `{"command":["x"]}`, `{"command":["x"],"cache":"1m"}`, true},
		"a provider's issuer": {auth("oauth"), `{"issuer":"https://a.example"}`,
			`{"issuer":"https://b.example"}`, false},
		"a provider's scopes": {auth("oauth"), `{"issuer":"https://a.example"}`,
			`{"issuer":"https://a.example","scopes":["a"]}`, true},
		"a stranger as a provider": {auth("acme"), `{"a":"b"}`, `{"a":"c"}`, false},
	} {
		if got := c.of(c.one) == c.of(c.two); got != c.same {
			t.Errorf("%s: same recipient: %v", name, got)
		}
	}
}
