package clientconfig

// An Outcome is what import does with a part of a client's file.
type Outcome string

// The outcomes.
const (
	Becomes Outcome = "becomes"  // the same in the blocks
	Noted   Outcome = "noted"    // a note names what is not followed
	Refused Outcome = "refused"  // the server is not imported, and a note says why
	LeftOut Outcome = "left out" // it says nothing about how a server runs or who uses it
)

// A Member is a member of a client's entry, and what import does with it. A member that no
// entry of [Members] has is noted. What import says about a member is decided here.
type Member struct {
	Names   []string
	Clients string // that have it; empty: most
	Outcome Outcome
	Here    string // what becomes of it, or why it is not followed; Markdown

	of   side                 // what has it
	read func(r *entryReader) // nil: another entry reads it, or nothing does
}

// A side is a kind of server.
type side int

const (
	ofAll side = iota
	ofPrograms
	ofAddresses
)

// Members are the members of the entries of all clients, in the order in which they are read.
var Members = []Member{
	{Names: []string{"command", "executable", "cmd"}, Outcome: Becomes, read: (*entryReader).program,
		Here: "`command`. One text without `args` becomes its words, with a note; the path of a program with spaces stays whole"},
	{of: ofPrograms, Names: []string{"args"}, Outcome: Becomes, Here: "the rest of `command`"},
	{Names: []string{"cli"}, Clients: "mcp (avelino)", Outcome: Refused,
		Here: "`junctor wrap PROGRAM` offers a program as tools"},
	{of: ofPrograms, Names: []string{"env", "environment", "envs"}, Outcome: Becomes, read: (*entryReader).surroundings,
		Here: "`env`"},
	{of: ofPrograms, Names: []string{"env_keys"}, Clients: "Goose", Outcome: Becomes,
		Here: "`env` with `keyring()`, to be set by you"},
	{of: ofPrograms, Names: []string{"env_vars", "env_passthrough"}, Clients: "Codex", Outcome: Becomes,
		Here: "`pass_env`; a variable of another source than `local` is noted"},
	{of: ofPrograms, Names: []string{"cwd", "workingDirectory"}, Outcome: Becomes, Here: "`cwd`"},
	{of: ofPrograms, Names: []string{"envFile", "env_file"}, Clients: "VS Code, Cursor", Outcome: Becomes,
		Here: "`env` from the lines of `file()`; `env` of the entry wins"},
	{Names: []string{"url", "httpUrl", "serverUrl", "baseUrl", "base_url", "server_url", "uri"}, Outcome: Becomes,
		read: (*entryReader).remote, Here: "`url`"},
	{of: ofAddresses, Names: []string{"headers", "http_headers"}, Outcome: Becomes, Here: "`headers`"},
	{of: ofAddresses, Names: []string{"requestOptions", "requestInit"}, Clients: "Continue", Outcome: Becomes,
		Here: "its `headers`; its other members are noted"},
	{of: ofAddresses, Names: []string{"env_http_headers"}, Clients: "Codex", Outcome: Becomes,
		Here: "`headers` with `env()`"},
	{of: ofAddresses, Names: []string{"bearerToken", "bearer_token", "apiKey", "bearer_token_env_var"},
		Clients: "mcporter, Codex, Continue", Outcome: Becomes, Here: "the header `Authorization: Bearer …`"},
	{of: ofAddresses, Names: []string{"bearerTokenEnv", "bearer_token_env"}, Clients: "mcporter", Outcome: Becomes,
		Here: "the header `Authorization`, without `Bearer`"},
	{Names: []string{"headersHelper"}, Clients: "Claude Code", Outcome: Becomes,
		Here: "`auth \"command\"`, with a note"},
	{Names: []string{"type", "transport", "transportType"}, Outcome: Becomes, read: (*entryReader).kind,
		Here: "`mode = \"sse\"` for `sse`. A type that is not known, or built into the client, is refused"},
	{Names: []string{"oauth"}, Clients: "Claude Code, OpenCode, Gemini CLI, LibreChat, Kiro", Outcome: Becomes,
		read: (*entryReader).login,
		Here: "`auth \"oauth\"` with `client_id`, `client_secret`, `redirect_url`, `scopes`, `issuer`, `resource`; its other members are noted"},
	{Names: []string{"auth"}, Clients: "Cursor, mcporter", Outcome: Becomes,
		Here: "`auth \"oauth\"`, if it is `\"oauth\"` or has an id of a client"},
	{Names: []string{"scopes", "oauthScope", "oauthScopes", "oauth_scopes"}, Clients: "Codex, mcporter, Kiro",
		Outcome: Becomes, Here: "`scopes` of `auth \"oauth\"`"},
	{Names: []string{"oauthClientId", "oauthClientSecret", "oauthClientSecretEnv", "oauthRedirectUrl",
		"oauth_resource"}, Clients: "mcporter, Codex", Outcome: Becomes, Here: "the same of `auth \"oauth\"`"},
	{Names: []string{"disabled"}, Outcome: Becomes, read: (*entryReader).switched,
		Here: "`enabled = false`; also as a text, with a note"},
	{Names: []string{"enabled", "isActive"}, Outcome: Becomes,
		Here: "`enabled = false` if it is `false`; also as a text, with a note"},
	{Names: []string{"required"}, Clients: "Codex", Outcome: Becomes, Here: "`required = true`"},
	{Names: []string{
		"includeTools", "enabled_tools", "enabledTools", "allowedTools", "allowed_tools", "available_tools",
	}, Clients: "Gemini CLI, Codex, Goose", Outcome: Becomes, read: (*entryReader).offered, Here: "`tools { allow }`"},
	{Names: []string{"tools"}, Clients: "Copilot, Codex", Outcome: Becomes,
		Here: "a list: `tools { allow }`, unless it has `*`; an object: `tools { confirm }` for `approval_mode = \"prompt\"`"},
	{Names: []string{"excludeTools", "disabled_tools", "disabledTools", "blockedTools", "blocked_tools"},
		Clients: "Gemini CLI, Codex, Windsurf, Kiro", Outcome: Becomes, Here: "`tools { deny }`"},
	{Names: []string{"options"}, Clients: "mcp-proxy", Outcome: Becomes,
		Here: "`toolFilter`: `tools { allow }` or `{ deny }`; `panicIfInvalid`: `required`; its other members are noted"},
	{Names: []string{"tool_acl"}, Clients: "mcp (avelino)", Outcome: Becomes, read: (*entryReader).access,
		Here: "`tools { read write }`"},
	{Names: []string{"timeout", "connectionTimeout", "tool_timeout_sec"}, Outcome: Becomes, read: (*entryReader).times,
		Here: "`timeouts { call }`, at most ten minutes, in the unit of the client. If the client is not known, less than 10 000 are seconds, with a note"},
	{Names: []string{"startup_timeout_sec", "startup_timeout_ms", "initTimeout"}, Clients: "Codex, LibreChat",
		Outcome: Becomes, Here: "`timeouts { start }`, at most ten minutes"},
	{Names: []string{"idle_timeout"}, Clients: "mcp (avelino)", Outcome: Becomes, Here: "`idle`, at most a day"},
	{Names: []string{"description", "name", "$schema", "source", "gallery", "display_name", "bundled", "title",
		"iconPath", "logo", "tags"}, Outcome: LeftOut, Here: "it is for people or the client's own list"},
	{Names: []string{"autoApprove", "alwaysAllow", "trust", "default_tools_approval_mode"},
		Clients: "Cline, Cursor, Windsurf, Kiro, Gemini CLI, Codex", Outcome: Noted,
		Here: "calls need no approval here, except those of `tools { confirm }`"},
	{Names: []string{"dev", "sandbox", "sandboxEnabled"}, Clients: "VS Code", Outcome: Noted,
		Here: "see [stdio](transports/stdio.md)"},
	{Names: []string{"settings"}, Clients: "Zed", Outcome: Noted,
		Here: "they are for an extension. An entry with them alone is refused"},
	{Names: []string{"uses", "with"}, Clients: "Continue", Outcome: Noted,
		Here: "the hub has the command. An entry with them alone is refused"},
	{Names: []string{"lifecycle"}, Clients: "mcporter", Outcome: Noted, Here: "`idle = \"never\"` keeps a connection"},
	{Names: []string{"min_idle_timeout", "max_idle_timeout"}, Clients: "mcp (avelino)", Outcome: Noted,
		Here: "`idle = \"adaptive\"` has its own bounds"},
	{Names: []string{"fail_if_no_tools"}, Clients: "NEXUS3", Outcome: Noted,
		Here: "a server without tools is offered as it is"},
	{Names: []string{"supports_parallel_tool_calls", "experimental_environment"}, Clients: "Codex", Outcome: Noted,
		Here: "it is about the client itself"},
	{Names: []string{"serverInstructions", "startup", "chatMenu", "customUserVars"}, Clients: "LibreChat",
		Outcome: Noted, Here: "it is about the client itself"},
	{Names: []string{"authProviderType", "targetAudience", "targetServiceAccount"}, Clients: "Gemini CLI",
		Outcome: Noted, Here: "`auth \"command\"` with `gcloud auth print-access-token` does the same"},
}

// FileMembers are members beside the servers, which say something about all of them.
var FileMembers = []Member{
	{Names: []string{"inputs"}, Clients: "VS Code", Outcome: Becomes,
		Here: "`${input:ID}` is `keyring()` for a password, else `env()`"},
	{Names: []string{"mcp.allowed", "mcp.excluded"}, Clients: "Gemini CLI", Outcome: Becomes,
		Here: "`enabled = false`, also for servers of extensions"},
	{Names: []string{"projects"}, Clients: "Claude Code", Outcome: Becomes,
		Here: "`--scope local` reads the `mcpServers` of the current directory; without it a note names the directories. `disabledMcpServers` is `enabled = false` there"},
	{Names: []string{"permissions.deny", "permissions.ask"}, Clients: "Claude Code", Outcome: Becomes,
		Here: "in a settings file: `mcp__SERVER__TOOL` is `tools { deny confirm }`, a denied `mcp__SERVER` is `enabled = false`, with a note. A denial of some arguments is noted"},
	{Names: []string{"disabledMcpjsonServers", "enabledMcpjsonServers", "enableAllProjectMcpServers"},
		Clients: "Claude Code", Outcome: Becomes, Here: "in a settings file: `enabled = false` for servers of `.mcp.json` that the user refused or did not agree to, with a note"},
	{Names: []string{"enabledPlugins"}, Clients: "Claude Code", Outcome: Becomes,
		Here: "in a settings file: `enabled = false` for servers of other plugins, with a note"},
	{Names: []string{"tools", "permission"}, Clients: "OpenCode", Outcome: Becomes,
		Here: "`tools { deny allow confirm }` of each server that a pattern names"},
	{Names: []string{"serverAuth", "permissions"}, Clients: "mcp (avelino), NEXUS3", Outcome: Becomes,
		Here: "a [policy](#permissions)"},
	{Names: []string{"imports"}, Clients: "mcporter", Outcome: Noted, Here: "run `junctor import CLIENT` for each"},
	{Names: []string{"audit"}, Clients: "mcp (avelino)", Outcome: Noted, Here: "see [audit](audit.md)"},
	{Names: []string{"mcpProxy"}, Clients: "mcp-proxy", Outcome: Noted,
		Here: "the `gateway` block says how clients reach Junctor"},
	{Names: []string{"a second document of YAML"}, Clients: "Continue", Outcome: Noted, Here: "only the first is read"},
}
