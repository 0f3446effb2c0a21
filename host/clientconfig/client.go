package clientconfig

// A Client is a program that uses MCP servers, and the format of its configuration. The table of
// clients does not change; all goroutines read it.
type Client struct {
	Name      string // on the command line
	Title     string // for messages
	TokenLess bool   // its headers cannot refer to environment variables
	Desktop   bool   // it starts from a desktop, whose PATH is often shorter than that of a shell

	format  format
	comment bool                    // its JSON may have comments and trailing commas
	within  string                  // the member of the file that contains the servers
	head    []member                // the members before that in a new file
	local   func(t Target) []member // the entry for a command
	remote  func(t Target) []member // the entry for a URL; nil: not supported
	reads   bool                    // Junctor reads its file only; local and remote are nil
	prompt  bool                    // it asks the user for the token, with an entry in "inputs"
	expands []string                // prefixes of references that it replaces in values
	places  map[Scope]func(h Home) []string
}

// format is the language of a client's file.
type format int

const (
	formatJSON format = iota
	formatTOML
)

// A member is a name and a value of an object with a fixed order.
type member struct {
	name  string
	value any // string, bool, []string, []member or [][]member
}

// Clients are all clients, in the order of the documentation.
var Clients = []*Client{
	{
		Name: "claude-code", Title: "Claude Code", within: "mcpServers", expands: []string{"${"},
		local:  func(t Target) []member { return typed("stdio", program(t)) },
		remote: func(t Target) []member { return typed("http", address(t, "${"+t.Token+"}")) },
		places: map[Scope]func(Home) []string{User: Home.claudeCode, Project: here(".mcp.json"),
			Local: Home.claudeCode},
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", Desktop: true, within: "mcpServers",
		local:  program,
		places: map[Scope]func(Home) []string{User: config("Claude", "claude_desktop_config.json")},
	},
	{
		Name: "cursor", Title: "Cursor", Desktop: true, within: "mcpServers", comment: true, expands: []string{"${"},
		local:  func(t Target) []member { return typed("stdio", program(t)) },
		remote: func(t Target) []member { return address(t, "${env:"+t.Token+"}") },
		places: map[Scope]func(Home) []string{User: home(".cursor", "mcp.json"), Project: here(".cursor", "mcp.json")},
	},
	{
		Name: "vscode", Title: "VS Code", Desktop: true, within: "servers", comment: true, prompt: true,
		expands: []string{"${"},
		local:   func(t Target) []member { return typed("stdio", program(t)) },
		remote:  func(t Target) []member { return typed("http", address(t, "${input:"+inputID(t)+"}")) },
		places: map[Scope]func(Home) []string{User: config("Code", "User", "mcp.json"), Project: here(".vscode",
			"mcp.json")},
	},
	{
		Name: "zed", Title: "Zed", Desktop: true, within: "context_servers", comment: true, TokenLess: true,
		local:  program,
		remote: func(t Target) []member { return address(t, "") },
		places: map[Scope]func(Home) []string{User: Home.zed, Project: here(".zed", "settings.json")},
	},
	{
		Name: "codex", Title: "Codex", within: "mcp_servers", format: formatTOML,
		local: program,
		remote: func(t Target) []member {
			if t.Token == "" {
				return []member{{"url", t.URL}}
			}
			return []member{{"url", t.URL}, {"bearer_token_env_var", t.Token}}
		},
		places: map[Scope]func(Home) []string{User: Home.codex, Project: here(".codex", "config.toml")},
	},
	{
		Name: "opencode", Title: "OpenCode", within: "mcp", comment: true, expands: []string{"{env:", "{file:"},
		head: []member{{"$schema", "https://opencode.ai/config.json"}},
		local: func(t Target) []member {
			return typed("local", variables(t, "environment", []member{{"command", t.Command}, {"enabled", true}}))
		},
		remote: func(t Target) []member {
			entry := append([]member{{"url", t.URL}, {"enabled", true}}, bearer(t, "{env:"+t.Token+"}")...)
			if t.Token != "" {
				entry = append(entry, member{"oauth", false}) // otherwise it tries to log in before it sends the header
			}
			return typed("remote", entry)
		},
		places: map[Scope]func(Home) []string{User: Home.openCode, Project: either("opencode.jsonc", "opencode.json")},
	},
	{
		Name: "windsurf", Title: "Windsurf", Desktop: true, within: "mcpServers", expands: []string{"${"},
		local: program,
		remote: func(t Target) []member {
			return append([]member{{"serverUrl", t.URL}}, bearer(t, "${env:"+t.Token+"}")...)
		},
		places: map[Scope]func(Home) []string{User: home(".codeium", "windsurf", "mcp_config.json")},
	},
	{
		Name: "gemini", Title: "Gemini CLI", within: "mcpServers", comment: true, expands: []string{"$"},
		local: program,
		remote: func(t Target) []member {
			return append([]member{{"httpUrl", t.URL}}, bearer(t, "${"+t.Token+"}")...)
		},
		places: map[Scope]func(Home) []string{User: home(".gemini", "settings.json"), Project: here(".gemini",
			"settings.json")},
	},
	{
		Name: "mcporter", Title: "mcporter", within: "mcpServers", comment: true, expands: []string{"${", "$env:"},
		local: program,
		remote: func(t Target) []member {
			return append([]member{{"baseUrl", t.URL}}, bearer(t, "${"+t.Token+"}")...)
		},
		places: map[Scope]func(Home) []string{User: Home.mcporter, Project: here("config", "mcporter.json")},
	},
	{
		Name: "mcp", Title: "mcp (avelino)", within: "mcpServers", comment: true, expands: []string{"${"},
		local:  program,
		remote: func(t Target) []member { return address(t, "${"+t.Token+"}") },
		places: map[Scope]func(Home) []string{User: Home.mcp},
	},
	{
		Name: "nexus3", Title: "NEXUS3", within: "servers", reads: true,
		places: map[Scope]func(Home) []string{User: home(".nexus3", "mcp.json"), Project: here(".nexus3", "mcp.json")},
	},
	{
		Name: "kiro", Title: "Kiro", reads: true,
		places: map[Scope]func(Home) []string{User: home(".kiro", "settings", "mcp.json"), Project: here(".kiro",
			"settings", "mcp.json")},
	},
	{
		Name: "lmstudio", Title: "LM Studio", reads: true,
		places: map[Scope]func(Home) []string{User: home(".lmstudio", "mcp.json")},
	},
	{
		Name: "goose", Title: "Goose", reads: true,
		places: map[Scope]func(Home) []string{User: Home.goose},
	},
	{
		Name: "continue", Title: "Continue", reads: true,
		places: map[Scope]func(Home) []string{User: Home.continues},
	},
	{
		Name: "cline", Title: "Cline", reads: true,
		places: map[Scope]func(Home) []string{User: config("Code", "User", "globalStorage", "saoudrizwan.claude-dev",
			"settings", "cline_mcp_settings.json")},
	},
	{
		Name: "roo", Title: "Roo Code", reads: true,
		places: map[Scope]func(Home) []string{User: config("Code", "User", "globalStorage",
			"rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"), Project: here(".roo", "mcp.json")},
	},
	{
		Name: "crush", Title: "Crush", reads: true,
		places: map[Scope]func(Home) []string{User: Home.crush, Project: either(".crush.json", "crush.json")},
	},
	{
		Name: "librechat", Title: "LibreChat", reads: true,
		places: map[Scope]func(Home) []string{Project: here("librechat.yaml")},
	},
}

// Find returns the client with a name, or nil.
func Find(name string) *Client {
	for _, c := range Clients {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Names returns the names of clients.
func Names(clients []*Client) (names []string) {
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}

// Written returns the clients whose files Junctor can write.
func Written() (all []*Client) {
	for _, c := range Clients {
		if !c.reads {
			all = append(all, c)
		}
	}
	return all
}

// ReadOnly reports whether Junctor only reads the client's file.
func (c *Client) ReadOnly() bool { return c.reads }

// Remote reports whether the client can use a URL, with or without a token.
func (c *Client) Remote(token bool) bool { return c.remote != nil && !(token && c.TokenLess) }

// Asks reports whether the client asks the user for the token.
func (c *Client) Asks() bool { return c.prompt }

func (c *Client) entry(t Target) []member {
	if t.Local() {
		return c.local(t)
	}
	return c.remote(t)
}

func typed(kind string, entry []member) []member {
	return append([]member{{"type", kind}}, entry...)
}

func program(t Target) []member {
	return variables(t, "env", []member{{"command", t.Command[0]}, {"args", t.Command[1:]}})
}

// variables adds the environment of the program to its entry.
func variables(t Target, name string, entry []member) []member {
	if len(t.Env) == 0 {
		return entry
	}
	var all []member
	for _, v := range t.Env {
		all = append(all, member{v.Name, v.Value})
	}
	return append(entry, member{name, all})
}

// address returns the entry for a URL. token is the client's reference to the token.
func address(t Target, token string) []member {
	return append([]member{{"url", t.URL}}, bearer(t, token)...)
}

func bearer(t Target, token string) []member {
	if t.Token == "" {
		return nil
	}
	return []member{{"headers", []member{{"Authorization", "Bearer " + token}}}}
}

// inputID returns the id of the client's question for the token.
func inputID(t Target) string { return t.Name + "-token" }

// input returns that question.
func input(t Target) []member {
	return []member{
		{"type", "promptString"}, {"id", inputID(t)}, {"description", "Token for " + t.Name + " (" + t.Token + ")"},
		{"password", true},
	}
}
