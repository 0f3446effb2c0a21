package clientconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// one returns the only server of a file with one entry.
func one(t *testing.T, client, entry string) Server {
	t.Helper()
	file, err := ReadContent([]byte(`{"mcpServers": {"r": {`+entry+`}}}`), Find(client))
	if err != nil || len(file.Servers) != 1 {
		t.Fatalf("%s: %v", entry, err)
	}
	return file.Servers[0]
}

// TestTimes: times have the unit of the client, and are at most ten minutes.
func TestTimes(t *testing.T) {
	for _, c := range []struct{ client, member, start, call, note string }{
		{"gemini", `"timeout": 60000`, "0s", "1m0s", ""},
		{"kiro", `"timeout": 60000`, "0s", "1m0s", ""},
		{"opencode", `"timeout": 5000`, "0s", "5s", ""},
		{"cline", `"timeout": 60`, "0s", "1m0s", ""},
		{"cline", `"timeout": 3600`, "0s", "10m0s", "longer than 10m"},
		{"goose", `"timeout": 300`, "0s", "5m0s", ""},
		{"continue", `"connectionTimeout": 2000`, "0s", "2s", ""},
		{"", `"timeout": 60`, "0s", "1m0s", "taken as seconds"},
		{"", `"timeout": 60000`, "0s", "1m0s", "taken as milliseconds"},
		{"", `"timeout": "30s"`, "0s", "30s", ""},
		{"", `"tool_timeout_sec": 601`, "0s", "10m0s", "longer than 10m"},
		{"", `"tool_timeout_sec": 1e300`, "0s", "10m0s", "longer than 10m"},
		{"", `"startup_timeout_sec": 900`, "10m0s", "0s", "longer than 10m"},
		{"", `"startup_timeout_ms": 1500`, "1.5s", "0s", ""},
		{"", `"initTimeout": 20000`, "20s", "0s", ""},
		{"", `"tool_timeout_sec": 0`, "0s", "0s", "tool_timeout_sec"},
		{"", `"tool_timeout_sec": -1`, "0s", "0s", "tool_timeout_sec"},
		{"", `"tool_timeout_sec": "soon"`, "0s", "0s", "tool_timeout_sec"},
		{"", `"tool_timeout_sec": [1]`, "0s", "0s", "tool_timeout_sec"},
		{"", `"tool_timeout_sec": 0.0000001`, "0s", "0s", "tool_timeout_sec"},
	} {
		s := one(t, c.client, `"command": "x", `+c.member)
		if said := strings.Join(append(s.Notes, s.Ignored...), "\n"); s.Start.String() != c.start ||
			s.Call.String() != c.call || !strings.Contains(said, c.note) || c.note == "" && said != "" {
			t.Errorf("%s %s: %s %s %q", c.client, c.member, s.Start, s.Call, said)
		}
	}
}

// TestLogins: settings of OAuth of each client, and those that are noted.
func TestLogins(t *testing.T) {
	for _, c := range []struct{ entry, want, ignored string }{
		{`"oauth": {"clientId": "abc", "callbackPort": 3118}`, "abc  http://localhost:3118/callback   []", ""},
		{`"oauth": {"clientId": "abc", "authServerMetadataUrl": "https://a.example/.well-known/openid-configuration"}`,
			"abc   https://a.example  []", ""},
		{`"oauth": {"clientId": "abc", "authServerMetadataUrl": "https://a.example/x"}`,
			"abc     []", "oauth.authServerMetadataUrl"},
		{`"oauth": {"clientId": "a", "clientSecret": "s", "scope": "x y"}`, "a s    [x y]", ""},
		{`"oauth": {"enabled": true, "scopes": ["x"], "authorizationUrl": "https://a.example/a"}`,
			"     [x]", "oauth.authorizationUrl"},
		{`"oauth": {"client_id": "a", "redirect_uri": "http://localhost:3080/api/x"}`,
			"a  http://localhost:3080/api/x   []", ""},
		{`"oauth": {"redirectUri": "https://elsewhere.example/cb"}`, "     []", "oauth.redirectUri"},
		{`"oauth": {"callbackPort": 99999}`, "     []", "oauth.callbackPort"},
		{`"oauth": {"callbackPort": 0}`, "     []", "oauth.callbackPort"},
		{`"oauth": {"clientSecret": "s"}`, "     []", ""},
		{`"oauth": {}`, "     []", ""},
		{`"oauth": true`, "     []", ""},
		{`"oauth": false`, "none", ""},
		{`"oauth": {"enabled": false, "clientId": "a"}`, "none", "oauth.clientId oauth.enabled"},
		{`"oauth": 5`, "none", "oauth"},
		{`"auth": "oauth"`, "     []", ""},
		{`"auth": "basic"`, "none", "auth"},
		{`"auth": {"CLIENT_ID": "a", "CLIENT_SECRET": "s", "scopes": ["x"]}`, "a s    [x]", ""},
		{`"auth": {"type": "bearer", "token": "t"}`, "none", "auth.token auth.type"},
		{`"auth": "oauth", "oauthClientId": "a", "oauthRedirectUrl": "http://127.0.0.1:1/cb", "oauthScope": "x"`,
			"a  http://127.0.0.1:1/cb   [x]", ""},
		{`"auth": "oauth", "oauthClientId": "a", "oauthClientSecretEnv": "S"`, "a ${S}    []", ""},
		{`"scopes": ["x", "y"], "oauth_resource": "https://h.example"`, "    https://h.example [x y]", ""},
		{`"scopes": [1]`, "none", "scopes"},
	} {
		s := one(t, "", `"url": "https://h.example/mcp", `+c.entry)
		got := "none"
		if o := s.OAuth; o != nil {
			got = fmt.Sprintf("%s %s %s %s %s %v", o.ClientID, o.ClientSecret, o.RedirectURL, o.Issuer,
				o.Resource, o.Scopes)
		}
		if got != c.want || strings.Join(s.Ignored, " ") != c.ignored {
			t.Errorf("%s: %q, %q", c.entry, got, s.Ignored)
		}
	}
	if s := one(t, "", `"command": "x", "oauth": {"clientId": "a"}`); s.OAuth != nil ||
		!slices.Equal(s.Ignored, []string{"oauth"}) {
		t.Errorf("a program: %+v", s)
	}
}

// TestOfferedTools: lists of tools of each client.
func TestOfferedTools(t *testing.T) {
	for _, c := range []struct{ entry, want string }{
		{`"tools": ["a", "b"]`, "[a b] [] []"},
		{`"tools": ["*"]`, "[] [] []"},
		{`"tools": []`, "[] [] []"},
		{`"tools": {"a": {"approval_mode": "prompt"}}`, "[] [] [a]"},
		{`"includeTools": ["a"], "excludeTools": ["b"]`, "[a] [b] []"},
		{`"available_tools": ["a"]`, "[a] [] []"},
		{`"enabledTools": ["a"]`, "[a] [] []"},
		{`"options": {"toolFilter": {"mode": "allow", "list": ["a"]}}`, "[a] [] []"},
		{`"options": {"toolFilter": {"mode": "block", "list": ["a"]}}`, "[] [a] []"},
		{`"options": {"toolFilter": {"mode": "maybe", "list": ["a"]}}`, "refused"},
		{`"tools": [1, {}]`, "refused"},
		{`"tools": [""]`, "refused"},
	} {
		s := one(t, "", `"command": "x", `+c.entry)
		got := fmt.Sprint(s.Allow, s.Deny, s.Confirm)
		if s.Problem != "" {
			got = "refused"
		}
		if got != c.want {
			t.Errorf("%s: %s", c.entry, got)
		}
	}
	if s := one(t, "", `"command": "x", "tools": []`); s.Allow == nil {
		t.Error("an empty list allows no tool")
	}
}

// TestBehind: what a pattern for SERVER_TOOL matches of the tools of a server.
func TestBehind(t *testing.T) {
	for _, c := range []struct{ glob, prefix, want string }{
		{"x*", "x_", "*"}, {"x_*", "x_", "*"}, {"*", "x_", "*"}, {"x_a", "x_", "a"}, {"x_a*", "x_", "a*"},
		{"xy_a", "x_", ""}, {"bash", "x_", ""}, {"x_", "x_", ""},
		{"*_del*", "x_", "*_del* del*"}, {"*a", "x_", "*a"}, {"**a", "x_", "*a"}, {"x", "x_", ""}, {"", "x_", ""},
	} {
		if got := strings.Join(Behind(c.glob, c.prefix), " "); got != c.want {
			t.Errorf("%s behind %s: %q, want %q", c.glob, c.prefix, got, c.want)
		}
	}
}

// TestProgramPaths: a command without arguments that is the path of a program stays whole.
func TestProgramPaths(t *testing.T) {
	for _, path := range []string{
		`C:\Program Files\srv.exe`, `C:\Program Files\ srv.exe`, `C:/Program Files/srv.exe`,
		`\\host\a b\srv.exe`, `D:\a b\$x\srv.exe`, `/Applications/A B.app/x`, `.\a b\srv.exe`,
	} {
		for _, client := range []string{"", "claude-desktop", "cursor"} {
			if s := one(t, client, fmt.Sprintf(`"command": %q`, path)); len(s.Command) != 1 || s.Command[0] != path {
				t.Errorf("%s: %q", path, s.Command)
			}
		}
	}
}

// TestMemberTable: each member is in one row, and a row has what documentation needs.
func TestMemberTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Members {
		if len(m.Names) == 0 || m.Here == "" || m.Outcome == "" {
			t.Errorf("%q is not complete", m.Names)
		}
		for _, name := range m.Names {
			if seen[name] {
				t.Errorf("%s is in two rows", name)
			}
			seen[name] = true
		}
	}
}
