package clientconfig

import (
	"reflect"
	"slices"
	"testing"
)

// samples are files of clients with two servers: keep and far.
var samples = map[string]string{
	"claude-code":    `{"mcpServers": {"keep": {"type": "stdio", "command": "k", "args": ["${A}"], "env": {"T": "x"}}, "far": {"type": "http", "url": "https://f.example/mcp", "headers": {"A": "${B:-c}"}}}, "history": [1]}`,
	"claude-desktop": `{"mcpServers": {"keep": {"command": "k", "args": ["a"]}, "far": {"command": "npx", "args": ["mcp-remote", "https://f.example"]}}}`,
	"cursor":         "{\n  // mine\n  \"mcpServers\": {\n    \"keep\": {\"command\": \"k\"}, // of keep\n    \"far\": {\"url\": \"https://f.example/mcp\"},\n  }\n}\n",
	"vscode":         `{"inputs": [{"id": "k", "type": "promptString", "password": true}], "servers": {"keep": {"command": "k", "env": {"K": "${input:k}"}}, "far": {"type": "sse", "url": "https://f.example/sse"}}}`,
	"zed":            `{"theme": "x", "context_servers": {"keep": {"source": "custom", "command": "k", "args": []}, "far": {"url": "https://f.example/mcp"}}}`,
	"codex":          "model = \"x\"\n\n[mcp_servers.keep]\ncommand = \"k\" # of keep\n\n[mcp_servers.keep.env]\nT = \"x\"\n\n[mcp_servers.far]\nurl = \"https://f.example/mcp\"\nbearer_token_env_var = \"F\"\n",
	"opencode":       `{"mcp": {"keep": {"type": "local", "command": ["k", "a"]}, "far": {"type": "remote", "url": "https://f.example/mcp", "headers": {"A": "{env:B}"}}}}`,
	"windsurf":       `{"mcpServers": {"keep": {"command": "k", "disabledTools": ["x"]}, "far": {"serverUrl": "https://f.example/mcp", "headers": {"A": "${env:B}"}}}}`,
	"gemini":         `{"mcpServers": {"keep": {"command": "k", "args": ["$A"], "trust": true}, "far": {"httpUrl": "https://f.example/mcp", "headers": {"A": "Bearer $B"}}}, "theme": "x"}`,
	"mcporter":       `{"mcpServers": {"keep": {"command": "k --x y"}, "far": {"baseUrl": "https://f.example/mcp", "headers": {"A": "$env:B"}},}, "imports": []}`,
	"mcp":            `{"mcpServers": {"keep": {"command": "k", "tool_acl": {"read": ["a"]}}, "far": {"url": "https://f.example/mcp"}}, "serverAuth": {"acl": {"default": "deny", "roles": {"r": [{"server": "*", "access": "read"}]}}}}`,
}

// TestExportKeepsServers: a file that gets an entry for Junctor says the same as before, and
// the entry for Junctor is read as it was written.
func TestExportKeepsServers(t *testing.T) {
	for _, c := range Written() {
		if samples[c.Name] == "" {
			t.Errorf("samples has no file of %s", c.Name)
			continue
		}
		before, err := ReadContent([]byte(samples[c.Name]), c)
		if err != nil || len(before.Servers) != 2 {
			t.Fatalf("%s: %v, %d servers", c.Name, err, len(before.Servers))
		}
		for kind, target := range targets {
			if !target.Local() && !c.Remote(target.Token != "") {
				continue
			}
			text, err := c.Merge([]byte(samples[c.Name]), target)
			if err != nil {
				t.Errorf("%s, %s: %v", c.Name, kind, err)
				continue
			}
			after, err := ReadContent(text, c)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", c.Name, kind, err, text)
				continue
			}
			var own []Server
			others := Content{Inputs: after.Inputs, Access: after.Access, Permissions: after.Permissions,
				Notes: after.Notes}
			for _, s := range after.Servers {
				if s.Name == target.Name {
					own = append(own, s)
				} else {
					others.Servers = append(others.Servers, s)
				}
			}
			others.Inputs = slices.DeleteFunc(others.Inputs, func(in Input) bool { return in.ID == inputID(target) })
			if !reflect.DeepEqual(withoutPlaces(others), withoutPlaces(before)) {
				t.Errorf("%s, %s: %+v became %+v", c.Name, kind, before, others)
			}
			if len(own) != 1 || target.Local() && !slices.Equal(own[0].Command, target.Command) ||
				own[0].URL != target.URL || own[0].Problem != "" || len(own[0].Ignored) > 0 && c.Name != "opencode" {
				t.Errorf("%s, %s: the entry for Junctor is read as %+v", c.Name, kind, own)
			}
		}
	}
}

// withoutPlaces returns content without places, which an edit may move.
func withoutPlaces(c Content) Content {
	if len(c.Inputs) == 0 {
		c.Inputs = nil
	}
	c.Servers = slices.Clone(c.Servers)
	for i := range c.Servers {
		c.Servers[i].Place = Place{}
	}
	slices.SortFunc(c.Servers, func(a, b Server) int { return len(a.Name) - len(b.Name) })
	if c.Access != nil {
		a := *c.Access
		for i := range a.Holders {
			a.Holders[i].Place = Place{}
		}
		for i := range a.Rules {
			a.Rules[i].Place = Place{}
		}
		c.Access = &a
	}
	return c
}

// TestReplacedServersCanBeAddedAgain: when Junctor takes the place of all servers, only its
// own entry is left.
func TestReplacedServersCanBeAddedAgain(t *testing.T) {
	for _, c := range Written() {
		text, err := c.Remove([]byte(samples[c.Name]), []string{"keep", "far"})
		if err == nil {
			text, err = c.Merge(text, targets["program"])
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		after, err := ReadContent(text, c)
		if err != nil || len(after.Servers) != 1 ||
			!slices.Equal(after.Servers[0].Command, targets["program"].Command) {
			t.Errorf("%s: %v, %+v\n%s", c.Name, err, after.Servers, text)
		}
	}
}
