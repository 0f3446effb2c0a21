package config

import (
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// A foreignName is a name that MCP clients and other programs use, in a block that does
// not have it. The entries change hints of errors only; no foreign name becomes valid.
type foreignName struct {
	// Separated by spaces; "*" is every name that is near no name of the block. Case, _ and - make no
	// difference.
	names   string
	needs   string // an attribute or block that the form must have; empty: the entry is for every form
	instead bool   // the name replaces needs, which is then not reported as missing
	hint    string // what to write
}

// foreignNames lists foreign names by the type of the block that they are written in.
// Top-level names have the type "". The first entry that matches wins.
//
// To add a habit, add a line here and a fixture in testdata/config/habits.txtar.
var foreignNames = map[string][]foreignName{
	"": {
		{names: "mcpServers mcp servers server contextServers",
			hint: "write a block server \"NAME\" for each, and in it transport \"stdio\" { command = [\"PROGRAM\"] }; `junctor import FILE` converts the file of a client"},
		{names: "command args cwd", hint: `write a block server "NAME", and in it transport "stdio" { command = ["PROGRAM", "ARGUMENT"] }`},
		{names: "url headers", hint: `write a block server "NAME", and in it transport "http" { url = "https://..." }`},
		{names: "transport auth tool tools", hint: `write it in a server block: server "NAME" { ... }`},
		{names: "listen port host bind address", hint: `write listen = "127.0.0.1:7575" in gateway { http { ... } }`},
		{names: "http https tls origins cors token tokens", hint: "write it in gateway { http { ... } }"},
		{names: "limits rateLimit maxMemory", hint: "write it in gateway { limits { ... } }"},
		{names: "timeout timeouts env passEnv idle share",
			hint: "write it in defaults { ... }, for every server, or in a server block"},
		{names: "provider terraform requiredProviders requiredPlugins",
			hint: `write plugins { required = { NAME = { source = "./plugins" } } }`},
		{names: "vars variables input inputs", hint: `write a block for each: variable "NAME" { default = "..." }`},
		{names: "role roles rule rules allow deny confirm permissions acl",
			hint: `write rules in policy { ... }, such as allow { tools = ["..."] }`},
		{names: "include includes import imports", hint: `put the files into one directory and name it with --config, or write module "NAME" { source = "./DIRECTORY" }`},
		{names: "log logging logLevel debug", hint: "remove it, and run junctor with --log debug"},
		{names: "secret secrets keyring", hint: "write keyring(\"NAME\") in place of the secret, and run `junctor secret set NAME`"},
	},
	"servers": {
		{names: "exclusive", hint: "write it in the managed configuration, which alone can say that only its servers are used"},
		{names: "*", hint: "write a block server \"NAME\" for each server, outside of this one, which says which of them may be used"},
	},
	"server": {
		{names: "command cmd", needs: "transport", instead: true,
			hint: `write transport "stdio" { command = ["PROGRAM", "ARGUMENT"] } in the block`},
		{names: "args arguments argv", needs: "transport", instead: true,
			hint: `write them after the program: transport "stdio" { command = ["PROGRAM", "ARGUMENT"] }`},
		{names: "url uri endpoint address serverUrl httpUrl baseUrl", needs: "transport", instead: true,
			hint: `write transport "http" { url = "https://..." } in the block`},
		{names: "type transportType", needs: "transport", instead: true,
			hint: `remove it: the label of the transport says it, as in transport "stdio" { ... } or transport "http" { ... }`},
		{names: "transport", needs: "transport", instead: true,
			hint: `write transport "stdio" { ... } or transport "http" { ... }, without an equals sign`},
		{names: "stdio local", needs: "transport", instead: true, hint: `write transport "stdio" { ... }`},
		{names: "http streamableHttp remote", needs: "transport", instead: true,
			hint: `write transport "http" { ... }`},
		{names: "sse", needs: "transport", instead: true, hint: `write transport "sse" { ... }`},
		{names: "cli", needs: "transport", instead: true, hint: `write transport "cli" { ... }`},
		{names: "image docker container", needs: "transport", instead: true,
			hint: `write transport "stdio" { command = ["docker", "run", "-i", "--rm", "IMAGE"] }`},
		{names: "package npm npx", needs: "transport", instead: true,
			hint: `write transport "stdio" { command = ["npx", "-y", "PACKAGE"] }`},
		{names: "pypi uvx python", needs: "transport", instead: true,
			hint: `write transport "stdio" { command = ["uvx", "PACKAGE"] }`},
		{names: "cwd workdir workingDir workingDirectory", hint: `write cwd = "..." in transport "stdio" { ... }`},
		{names: "env environment", hint: `write env = { NAME = "..." } in the transport block`},
		{names: "envVars passEnv", hint: `write pass_env = ["NAME"] in the transport block`},
		{names: "envFile dotenv", hint: `write each variable in the transport block: env = { NAME = env("NAME") }, or pass_env = ["NAME"]`},
		{names: "headers httpHeaders envHttpHeaders requestInit",
			hint: `write headers = { NAME = "..." } in transport "http" { ... }`},
		{names: "bearerTokenEnvVar bearerToken token apiKey authorization", needs: "auth",
			hint: `write auth "bearer" { token = env("NAME") } in the block`},
		{names: "oauth oauth2 login", needs: "auth", hint: `write auth "oauth" { ... } in the block`},
		{names: "auth", needs: "auth", hint: `write auth "oauth" { ... } or auth "bearer" { ... }, without an equals sign`},
		{names: "disabled", needs: "enabled", hint: "write enabled = false in place of disabled = true"},
		{names: "active enable", needs: "enabled", hint: "write enabled = true or enabled = false"},
		{names: "timeout timeoutMs callTimeout toolTimeout toolTimeoutSec requestTimeout", needs: "timeouts",
			hint: `write timeouts { call = "60s" }, a text with its unit`},
		{names: "startTimeout startupTimeout startupTimeoutSec startupTimeoutMs connectTimeout initTimeout",
			needs: "timeouts", hint: `write timeouts { start = "20s" }, a text with its unit`},
		{names: "keepAlive lifecycle idleTimeout", needs: "idle",
			hint: `write idle = "never" to keep the connection, or a duration such as idle = "5m"`},
		{names: "autoApprove autoAllow alwaysAllow trust defaultToolsApprovalMode", needs: "tools",
			hint: `remove it: calls need no approval, except those of tools { confirm = ["..."] }`},
		{names: "requireApproval confirm", needs: "tools", hint: `write tools { confirm = ["..."] }`},
		{names: "disabledTools excludeTools excludedTools blockedTools deniedTools deny exclude", needs: "tools",
			hint: `write tools { deny = ["..."] }`},
		{names: "enabledTools includeTools includedTools allowedTools toolFilter allow include tools", needs: "tools",
			hint: `write tools { allow = ["..."] }`},
		{names: "toolPrefix namespace", needs: "prefix", hint: `write prefix = "..."`},
		{names: "count replicas", needs: expression.ForEach,
			hint: `write for_each = ["NAME", "NAME"]: each element is a server of its own`},
		{names: "name id", hint: `remove it: the label of the block is the name, as in server "NAME" { ... }`},
		{names: "description title displayName icon tags gallery", hint: "remove it, or write it as a comment: # ..."},
		{names: "dependsOn", hint: "remove it: servers do not wait for each other"},
		{names: "version", needs: "transport",
			hint: `write the version into the command, as in command = ["npx", "-y", "PACKAGE@VERSION"]`},
		{names: "roots", hint: "remove it, and run junctor with --root DIRECTORY"},
	},
	"defaults": {
		{names: "timeout timeoutMs callTimeout toolTimeout requestTimeout", needs: "timeouts",
			hint: `write timeouts { call = "60s" }, a text with its unit`},
		{names: "startTimeout startupTimeout startupTimeoutSec startupTimeoutMs", needs: "timeouts",
			hint: `write timeouts { start = "20s" }, a text with its unit`},
		{names: "environment", hint: `write env = { NAME = "..." }`},
		{names: "transport auth headers url command tool tools enabled disabled prefix",
			hint: "write it in each server block"},
	},
	"transport": {
		{names: "cmd program executable", needs: "command", instead: true,
			hint: `write command = ["PROGRAM", "ARGUMENT"]`},
		{names: "arguments argv", needs: "args",
			hint: `write args = ["..."], or the arguments after the program in command`},
		{names: "environment environmentVariables vars", needs: "env", hint: `write env = { NAME = "..." }`},
		{names: "env", needs: "env", hint: `write env = { NAME = "..." }, with an equals sign`},
		{names: "envVars inheritEnv envPassthrough", needs: "pass_env", hint: `write pass_env = ["NAME"]`},
		{names: "envFile dotenv", needs: "pass_env",
			hint: `write each variable: env = { NAME = env("NAME") }, or pass_env = ["NAME"]`},
		{names: "token apiKey bearerToken", needs: "env",
			hint: `write env = { NAME = env("NAME") } for a secret of the program`},
		{names: "workdir workingDir workingDirectory dir directory", needs: "cwd", hint: `write cwd = "..."`},
		{names: "image docker container", needs: "command", instead: true,
			hint: `write command = ["docker", "run", "-i", "--rm", "IMAGE"]`},
		{names: "url uri endpoint serverUrl httpUrl baseUrl", needs: "command", instead: true,
			hint: `write transport "http" { url = "https://..." } in place of this block`},
		{names: "headers httpHeaders", needs: "command",
			hint: `write transport "http" { ... } for a server with a URL; a program gets env = { NAME = "..." }`},

		{names: "uri endpoint address host serverUrl httpUrl baseUrl", needs: "url", instead: true,
			hint: `write url = "https://..."`},
		{names: "command args", needs: "url", instead: true,
			hint: `write transport "stdio" { command = ["PROGRAM", "ARGUMENT"] } in place of this block`},
		{names: "env environment", needs: "url", hint: `write headers = { NAME = env("VARIABLE") }, or an auth block: this server is no program with an environment`},
		{names: "envHttpHeaders", needs: "headers", hint: `write headers = { NAME = env("VARIABLE") }`},
		{names: "httpHeaders header requestInit", needs: "headers", hint: `write headers = { NAME = "..." }`},
		{names: "headers", needs: "headers", hint: `write headers = { NAME = "..." }, with an equals sign`},
		{names: "bearerTokenEnvVar bearerToken token apiKey authorization", needs: "url",
			hint: `write auth "bearer" { token = env("NAME") } in the server block`},
		{names: "auth oauth oauth2 authentication", needs: "url",
			hint: `write auth "oauth" { ... } in the server block, beside the transport`},
		{names: "insecure rejectUnauthorized verify sslVerify", needs: "tls", hint: "write tls { skip_verify = true }"},

		{names: "type transportType", hint: `remove it: the label of the transport says it, as in transport "stdio" { ... } or transport "http" { ... }`},
		{names: "timeout timeoutMs callTimeout toolTimeout requestTimeout timeouts",
			hint: `write timeouts { call = "60s" } in the server block`},
		{names: "disabled enabled", hint: "write enabled = false in the server block"},
		{names: "tools allow deny allowedTools disabledTools",
			hint: `write tools { allow = ["..."] } or tools { deny = ["..."] } in the server block`},
		{names: "autoApprove alwaysAllow trust",
			hint: "remove it: calls need no approval, except those of tools { confirm = [...] } in the server block"},
	},
	"auth": {
		{names: "env tokenEnv envVar bearerTokenEnvVar", needs: "token", hint: `write token = env("NAME")`},
		{names: "bearer value secret apiKey key", needs: "token",
			hint: `write token = env("NAME") or token = keyring("NAME")`},
		{names: "authorizationUrl authUrl tokenUrl tokenEndpoint authServerMetadataUrl", needs: "issuer",
			hint: `write issuer = "https://..."`},
		{names: "redirectUri callbackUrl callbackPort", needs: "redirect_url",
			hint: `write redirect_url = "http://127.0.0.1:PORT/PATH"`},
	},
	"gateway": {
		{names: "listen port host bind address", hint: `write http { listen = "127.0.0.1:7575" }`},
		{names: "auth tls origins hosts cors token tokens url", hint: "write it in http { ... }"},
		{names: "perTool perTenant tool rateLimit", hint: "write it in limits { ... }"},
		{names: "memory memoryLimit", hint: `write max_memory = "512MiB"`},
	},
	"http": {
		{names: "port host bind address addr interface", needs: "listen",
			hint: `write listen = "127.0.0.1:7575", the address and the port in one text`},
		{names: "token tokens apiKey apiKeys bearer users", needs: "auth",
			hint: `write auth "static_token" { token = env("NAME") } for each client`},
		{names: "auth", needs: "auth", hint: `write auth "static_token" { ... } or auth "jwt" { ... }, without an equals sign`},
		{names: "cors allowedOrigins corsOrigins", needs: "origins", hint: `write origins = ["https://..."]`},
		{names: "allowedHosts hostname serverName", needs: "hosts", hint: `write hosts = ["mcp.example.com"]`},
		{names: "trustedProxies", needs: "proxies", hint: `write proxies = ["10.0.0.0/8"]`},
		{names: "path basePath endpoint publicUrl", needs: "url",
			hint: `write url = "https://HOST/PATH" if a proxy changes the address; clients connect to /mcp`},
		{names: "cert certFile certificate key keyFile ssl https", needs: "tls",
			hint: `write cert = "..." and key = "..." in tls { ... }`},
		{names: "rateLimit rate", needs: "per_ip",
			hint: "write per_ip { rate = 60 }, or limits { ... } in the gateway block"},
		{names: "timeout", needs: "timeouts", hint: `write timeouts { body = "30s" }`},
		{names: "sse", needs: "legacy_sse", hint: "write legacy_sse = true"},
	},
	"tools": {
		{names: "include included allowed enabled allowlist whitelist only", needs: "allow",
			hint: `write allow = ["..."]`},
		{names: "exclude excluded denied blocked disabled denylist blacklist except", needs: "deny",
			hint: `write deny = ["..."]`},
		{names: "approve requireApproval ask", needs: "confirm", hint: `write confirm = ["..."]`},
		{names: "autoApprove alwaysAllow", needs: "confirm",
			hint: `remove it: calls need no approval, except those of confirm = ["..."]`},
	},
	"timeouts": {
		{names: "timeout tool request", needs: "call", hint: `write call = "60s"`},
		{names: "startup connect init", needs: "start", hint: `write start = "20s"`},
	},
	"policy": {
		{names: "rule rules statement statements",
			hint: "write a block for each rule: allow { ... }, deny { ... } or confirm { ... }"},
		{names: "allow deny confirm", hint: `write a block: allow { tools = ["..."] }`},
		{names: "role roles", hint: `write a block role "NAME" for each, and in it rules such as allow { tools = ["..."] }`},
		{names: "user users subjects principals", hint: `write subject "NAME" { roles = ["..."] }`},
		{names: "tools servers", hint: `write a rule: allow { tools = ["..."] }`},
	},
	"role": {
		{names: "tools servers permissions rules", hint: `write a rule: allow { tools = ["..."] }`},
		{names: "members users subjects", hint: `write subject "NAME" { roles = ["..."] } in the policy block`},
	},
	"variable": {
		{names: "type", hint: "remove it: the default says what the variable holds"},
		{names: "value", hint: `write default = "..."; JUNCTOR_VAR_NAME in the environment replaces it`},
		{names: "validation nullable ephemeral", hint: "remove it: a variable has a default and a description only"},
	},
	"plugins": {{names: "*", hint: `write required = { NAME = { source = "./plugins" } }`}},
	"allow":   ruleNames,
	"deny":    ruleNames,
	"confirm": ruleNames,
}

// ruleNames are the foreign names in rules of a policy.
var ruleNames = []foreignName{
	{names: "effect action decision", hint: "remove it: the block says it, as allow { ... }, deny { ... } or confirm { ... }"},
	{names: "if where condition conditions", hint: `write when = args.NAME == "..."`},
	{names: "tool operations methods", hint: `write tools = ["..."]`},
	{names: "user users subject subjects principal principals role roles group groups",
		hint: `write the rule in role "NAME" { ... }, subject "NAME" { ... } or group "NAME" { ... }`},
}

// foreignLabels are the foreign labels of transport and auth blocks, by the noun of the
// role, with the label to write.
var foreignLabels = map[string]map[string]string{
	transports.Noun: {
		"streamablehttp": "http", "https": "http", "remote": "http", "url": "http", "web": "http",
		"local": "stdio", "command": "stdio", "process": "stdio", "docker": "stdio", "npx": "stdio",
	},
	providers.Noun: {
		"token": "bearer", "statictoken": "bearer",
		"apikey": "bearer", "header": "bearer", "oauth2": "oauth", "oidc": "oauth",
	},
}

// foldName returns a name without case and separators, in which clients differ.
func foldName(name string) string { return nameSeparators.Replace(strings.ToLower(name)) }

var nameSeparators = strings.NewReplacer("_", "", "-", "")

// foreignIndex is foreignNames by the type of the block and the folded name.
var foreignIndex = sync.OnceValue(func() map[string]map[string][]foreignName {
	index := map[string]map[string][]foreignName{}
	for kind, all := range foreignNames {
		index[kind] = map[string][]foreignName{}
		for _, f := range all {
			for name := range strings.FieldsSeq(f.names) {
				index[kind][foldName(name)] = append(index[kind][foldName(name)], f)
			}
		}
	}
	return index
})

// replaced reports whether a foreign name, which check reports, is written in place of
// an attribute or a block.
func replaced(r blockReader, name string) bool {
	is := func(other string) bool {
		return slices.ContainsFunc(foreignIndex()[r.Kind()][foldName(other)],
			func(f foreignName) bool { return f.instead && f.needs == name })
	}
	for other := range r.Body.Attributes {
		if is(other) {
			return true
		}
	}
	return slices.ContainsFunc(r.Body.Blocks, func(b *hclsyntax.Block) bool { return b.Type != name && is(b.Type) })
}

// foreignHint returns a hint for the name of an attribute or a block that another program has in
// such a block, or "".
func foreignHint(block, name string, known []string) string {
	names := foreignIndex()[block]
	for _, f := range names[foldName(name)] {
		if f.needs == "" || slices.Contains(known, f.needs) {
			return f.hint
		}
	}
	if rest := names["*"]; len(rest) > 0 && suggest.Nearest(name, known) == "" {
		return rest[0].hint
	}
	return ""
}
