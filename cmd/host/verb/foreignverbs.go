package verb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/junctor-mcp/junctor/host/fault"
)

// ForeignVerbs are verbs that other programs have, with their first words, and what to
// write. A verb that exists is not looked up.
var ForeignVerbs = map[string]string{
	"run": serveHint, "start": serveHint, "up": serveHint, "gateway": serveHint, "server": serveHint,
	"server start": serveHint, "daemon": serveHint,
	"mcp serve": serveHint, "mcp start": serveHint, "proxy": serveHint,

	"list": listHint, "ls": listHint, "servers": listHint, "mcp list": listHint, "server list": listHint,
	"list-tools": listHint, "mcp": listHint + "; `junctor add` adds a server",
	"get": showHint, "show": showHint, "info": showHint, "mcp get": showHint, "server inspect": showHint,

	"mcp add": addHint, "server add": addHint,
	"connect": addHint, "install": addHint + ", or `junctor add REGISTRY-NAME` with a name that `junctor search` lists",
	"mcp add-json": importHint, "add-json": importHint,
	"add-mcp": importHint, "mcp add-from-claude-desktop": "run `junctor import claude-desktop`",
	"mcp remove": removeHint, "server remove": removeHint, "rm": removeHint, "delete": removeHint,
	"uninstall": removeHint, "disable": "write enabled = false in the block of the server",
	"enable": "remove enabled = false from the block of the server",

	"exec": callHint, "invoke": callHint, "tool": "run `junctor tools`, or `junctor call TOOL key=value`",
	"tool list": listTools, "tools call": callHint, "tool call": callHint, "mcp call": callHint,
	"tools list": listTools, "tools ls": listTools,
	"tools inspect": "run `junctor inspect TOOL`", "tools get": "run `junctor inspect TOOL`",
	"resources list": "run `junctor resources`, without a word after it", "resources read": "run `junctor read URI`",
	"prompts list": "run `junctor prompts`, without a word after it", "prompts get": "run `junctor prompt NAME`",

	"check": "run `junctor validate`", "lint": "run `junctor validate`",
	"format": "run `junctor fmt`", "upgrade": "run `junctor update`",
	"config edit": editHint, "config show": "run `junctor config explain`",
	"config list": "run `junctor config explain`", "config validate": "run `junctor validate`",
	"edit": editHint, "configure": editHint, "set": editHint,
	"ui": consoleHint, "web": consoleHint, "dashboard": consoleHint, "gui": consoleHint, "open": consoleHint,
	"shell": callHint + "; there is no shell, and completion knows tools and arguments",
	"repl":  callHint + "; there is no shell, and completion knows tools and arguments",
	"ping":  "run `junctor status --connect SERVER`", "health": "run `junctor doctor`, or ask /healthz of a gateway",
	"healthcheck": "run `junctor doctor`, or ask /healthz of a gateway",
	"man":         "run `junctor help call`, or help of another verb",
	"docs":        "run `junctor help call`, or help of another verb",
	"usage":       "run `junctor help call`, or help of another verb",
	"ps":          "run `junctor status`", "refresh": "run `junctor reload`",
	"stop": "send SIGTERM to junctor serve, or close its standard input; `junctor status` lists the processes",
	"kill": "send SIGTERM to junctor serve, or close its standard input; `junctor status` lists the processes",
	"down": "send SIGTERM to junctor serve, or close its standard input; `junctor status` lists the processes",

	"auth login": "run `junctor login SERVER`", "auth logout": "run `junctor logout SERVER`",
	"mcp login": "run `junctor login SERVER`", "mcp logout": "run `junctor logout SERVER`",
	"audit check": "run `junctor audit verify`",
	"audit log":   "run `junctor audit tail`", "audit list": "run `junctor audit tail`, or `junctor audit search`",
	"approvals allow": approveHint, "approvals accept": approveHint,
	"approvals yes": approveHint, "approvals reject": "run `junctor approvals deny ID`",
	"approve": approveHint, "deny": "run `junctor approvals deny ID`",
	"secret add": "run `junctor secret set NAME`", "secret create": "run `junctor secret set NAME`",
	"secrets": "run `junctor secret list`", "secret delete": "run `junctor secret remove NAME`",
	"secret rm":   "run `junctor secret remove NAME`",
	"secret get":  "write keyring(\"NAME\") in the configuration: a secret is not printed",
	"secret show": "write keyring(\"NAME\") in the configuration: a secret is not printed",
}

const (
	listTools   = "run `junctor tools`, without a word after it"
	serveHint   = "run `junctor serve` for a client on standard input and output, or `junctor serve --http`"
	listHint    = "run `junctor status` for the servers, or `junctor tools` for their tools"
	showHint    = "run `junctor inspect SERVER` or `junctor inspect TOOL`"
	addHint     = "run `junctor add NAME -- COMMAND ARGUMENT...` or `junctor add NAME URL`"
	importHint  = "run `junctor import -` with the JSON on standard input"
	approveHint = "run `junctor approvals approve ID`"
	removeHint  = "run `junctor remove NAME`"
	callHint    = "run `junctor call TOOL key=value`"
	consoleHint = "run `junctor console` for the pages in a browser, or `junctor top` at the terminal"
	editHint    = "edit junctor.hcl, and run `junctor validate`"
)

// ForeignVerb returns the hint for the words of an unknown verb, or "".
func ForeignVerb(words ...string) string {
	all := strings.Fields(strings.Join(words, " "))
	for n := min(2, len(all)); n > 0; n-- {
		if hint := ForeignVerbs[strings.Join(all[:n], " ")]; hint != "" {
			return hint
		}
	}
	return ""
}

// ForeignArgument replaces the hint of an error about a server that is not configured, if
// the name is a verb of other programs.
func ForeignArgument(cmd *cobra.Command, args []string, err error) error {
	if err == nil || len(args) == 0 || fault.As(err).Code != fault.UpstreamUnknown {
		return err
	}
	hint, ok := ForeignVerbs[cmd.Name()+" "+args[0]]
	if !ok {
		return err
	}
	return Hinted(err, fault.UpstreamUnknown, hint)
}

// ForeignFlags are flags that other programs have, by the verb, with what to write. "" is
// every verb, and the flag "*" is every other flag of the verb.
var ForeignFlags = map[string]map[string]string{
	"serve": {
		"port": addressHint, "p": addressHint, "host": addressHint, "bind": addressHint,
		"address": addressHint, "listen": addressHint,
		"transport": "write --http for HTTP; without it, junctor serves standard input and output",
		"stdio":     "remove it: without --http, junctor serves standard input and output",
		"sse":       "write --http, and legacy_sse = true in gateway { http { ... } }",
		"token":     "write auth \"static_token\" { token = env(\"NAME\") } in gateway { http { ... } }",
		"servers":   "write enabled = false in the blocks of the other servers",
		"tools":     "write tools { allow = [...] } in the server block",
	},
	"add": {
		"transport": "remove it: a URL is HTTP, and a program behind -- is stdio; --sse is the older HTTP transport",
		"t":         "remove it: a URL is HTTP, and a program behind -- is stdio; --sse is the older HTTP transport",
		"e":         "write --env NAME=VALUE", "H": "write --header \"NAME: VALUE\"",
		"s": scopeHint, "scope": scopeHint, "url": "run `junctor add NAME URL`", "command": addHint, "args": addHint,
		"bearer-token-env-var": "add the server, and write auth \"bearer\" { token = env(\"NAME\") } in its block",
		"*":                    "write a program behind --: `junctor add NAME -- COMMAND ARGUMENT...`",
	},
	"call": {
		"args": argumentHint, "arguments": argumentHint, "input": argumentHint,
		"data": argumentHint, "d": argumentHint, "params": argumentHint,
		"server": "write SERVER/TOOL in place of the tool", "s": "write SERVER/TOOL in place of the tool",
		"*": "write an argument of the tool as key=value; `junctor help call` lists the flags",
	},
	"": {
		"verbose": "write --log debug", "v": "write --log debug, or run `junctor version`",
		"debug": "write --log debug", "log-level": "write --log LEVEL",
		"f": "write --config FILE", "file": "write --config FILE",
		"config-file": "write --config FILE", "config-path": "write --config FILE",
		"format": "write --json or --text", "o": "write --json or --text", "output": "write --json or --text",
	},
}

const (
	addressHint  = "write --http=127.0.0.1:PORT"
	scopeHint    = "remove it, and name another configuration with --config"
	argumentHint = "write the arguments behind the tool: key=value, or one JSON object"
)

// foreignFlag returns the hint for an unknown flag of a verb, or "".
func foreignFlag(verb string, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name := unknown.GetSpecifiedName()
	for _, of := range []string{verb, ""} {
		if hint := ForeignFlags[of][name]; hint != "" {
			return hint
		}
	}
	return ForeignFlags[verb]["*"]
}

// fileArgument returns a hint for a configuration that is named without --config, or "".
func fileArgument(cmd *cobra.Command, word string) string {
	if !strings.HasSuffix(word, ".hcl") {
		return ""
	}
	return fmt.Sprintf("run `junctor --config %s %s`", word, pathOf(cmd))
}
