package clientconfig

// A Client is a program that uses MCP servers, and what its configuration looks
// like.
type Client struct {
	Name      string // on the command line
	Title     string // for people
	TokenLess bool   // its headers cannot refer to the environment

	format  format
	comment bool                    // its JSON may have comments, and a comma behind the last member
	within  string                  // the member of the file that holds the servers
	head    []member                // what stands before that in a new file
	local   func(t Target) []member // the entry of a program
	remote  func(t Target) []member // the entry of an address; nil: it cannot have one
	prompt  bool                    // it asks for the token itself, by an entry in "inputs"
	expands []string                // what begins something that it replaces
	places  map[Scope]func(h Home) []string
}

// format is the language of a client's file.
type format int

const (
	formatJSON format = iota
	formatTOML
)

// A member is one name and its value in an object whose order is kept.
type member struct {
	name  string
	value any // string, bool, []string, []member or [][]member
}

// Clients are the clients there are, in the order in which people see them.
var Clients = []*Client{
	{
		Name: "claude-code", Title: "Claude Code", within: "mcpServers", expands: []string{"${"},
		local:  func(t Target) []member { return typed("stdio", program(t)) },
		remote: func(t Target) []member { return typed("http", address(t, "${"+t.Token+"}")) },
		places: map[Scope]func(Home) []string{User: Home.claudeCode, Project: here(".mcp.json")},
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", within: "mcpServers",
		local:  program,
		places: map[Scope]func(Home) []string{User: config("Claude", "claude_desktop_config.json")},
	},
	{
		Name: "cursor", Title: "Cursor", within: "mcpServers", comment: true, expands: []string{"${"},
		local:  func(t Target) []member { return typed("stdio", program(t)) },
		remote: func(t Target) []member { return address(t, "${env:"+t.Token+"}") },
		places: map[Scope]func(Home) []string{User: home(".cursor", "mcp.json"), Project: here(".cursor", "mcp.json")},
	},
	{
		Name: "vscode", Title: "VS Code", within: "servers", comment: true, prompt: true, expands: []string{"${"},
		local:  func(t Target) []member { return typed("stdio", program(t)) },
		remote: func(t Target) []member { return typed("http", address(t, "${input:"+inputID(t)+"}")) },
		places: map[Scope]func(Home) []string{User: config("Code", "User", "mcp.json"), Project: here(".vscode", "mcp.json")},
	},
	{
		Name: "zed", Title: "Zed", within: "context_servers", comment: true, TokenLess: true,
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
		head:  []member{{"$schema", "https://opencode.ai/config.json"}},
		local: func(t Target) []member { return typed("local", []member{{"command", t.Command}, {"enabled", true}}) },
		remote: func(t Target) []member {
			entry := append([]member{{"url", t.URL}, {"enabled", true}}, bearer(t, "{env:"+t.Token+"}")...)
			if t.Token != "" {
				entry = append(entry, member{"oauth", false}) // else it looks for a place to log in before it sends the header
			}
			return typed("remote", entry)
		},
		places: map[Scope]func(Home) []string{User: Home.openCode, Project: either("opencode.jsonc", "opencode.json")},
	},
}

// Find returns the client of a name, or nil.
func Find(name string) *Client {
	for _, c := range Clients {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Names are the names of all clients.
func Names() (names []string) {
	for _, c := range Clients {
		names = append(names, c.Name)
	}
	return names
}

// Remote reports whether the client can use an address, with a token or
// without.
func (c *Client) Remote(token bool) bool { return c.remote != nil && !(token && c.TokenLess) }

// Asks reports whether the client asks for the token itself.
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
	return []member{{"command", t.Command[0]}, {"args", t.Command[1:]}}
}

// address is the entry of an address; token is how the client writes what
// stands for the token.
func address(t Target, token string) []member {
	return append([]member{{"url", t.URL}}, bearer(t, token)...)
}

func bearer(t Target, token string) []member {
	if t.Token == "" {
		return nil
	}
	return []member{{"headers", []member{{"Authorization", "Bearer " + token}}}}
}

// inputID is the id of the question that a client asks for the token.
func inputID(t Target) string { return t.Name + "-token" }

// input is that question.
func input(t Target) []member {
	return []member{
		{"type", "promptString"}, {"id", inputID(t)}, {"description", "Token for " + t.Name + " (" + t.Token + ")"}, {"password", true},
	}
}
