package fault

// A Code identifies a kind of fault: an area, a dot and the problem. The meaning
// of a code never changes.
type Code string

// The exit statuses of the command line.
const (
	ExitDone        = 0
	ExitAnswer      = 1 // the server returned an error, or its response could not be written
	ExitUsage       = 2 // the command line or the configuration is invalid
	ExitUnreachable = 3 // an upstream or a plugin failed
	ExitCredentials = 4
	ExitDenied      = 5
	ExitTimeout     = 6
	ExitInterrupted = 130
)

// All fault codes. [Codes] explains each of them.
const (
	Usage       Code = "usage"
	Interrupted Code = "interrupted"
	Internal    Code = "internal"
	Output      Code = "output"

	ConfigMissing Code = "config.missing"
	ConfigInvalid Code = "config.invalid"
	// ConfigExposed and ConfigUntrusted concern the authors of a configuration.
	ConfigExposed   Code = "config.exposed"
	ConfigUntrusted Code = "config.untrusted"

	PluginNotFound     Code = "plugin.not_found"
	PluginNotAllowed   Code = "plugin.not_allowed"
	PluginChecksum     Code = "plugin.checksum"
	PluginVersion      Code = "plugin.version"
	PluginProtocol     Code = "plugin.protocol"
	PluginDescribe     Code = "plugin.describe"
	PluginHandshake    Code = "plugin.handshake"
	PluginStartTimeout Code = "plugin.start_timeout"
	PluginExited       Code = "plugin.exited"
	PluginUnresponsive Code = "plugin.unresponsive"
	PluginQuarantined  Code = "plugin.quarantined"
	PluginBroken       Code = "plugin.broken"
	PluginDenied       Code = "plugin.denied"

	UpstreamUnknown         Code = "upstream.unknown"
	UpstreamDisabled        Code = "upstream.disabled"
	UpstreamDisconnected    Code = "upstream.disconnected"
	UpstreamSettings        Code = "upstream.settings"
	UpstreamCommandNotFound Code = "upstream.command_not_found"
	UpstreamNotStarted      Code = "upstream.not_started"
	UpstreamUnavailable     Code = "upstream.unavailable"
	UpstreamExited          Code = "upstream.exited"
	UpstreamStartTimeout    Code = "upstream.start_timeout"
	UpstreamProtocol        Code = "upstream.protocol"
	UpstreamBadMessage      Code = "upstream.bad_message"
	UpstreamTooLarge        Code = "upstream.message_too_large"
	UpstreamOverloaded      Code = "upstream.overloaded"
	UpstreamStopped         Code = "upstream.stopped"
	UpstreamUnsupported     Code = "upstream.unsupported"
	UpstreamError           Code = "upstream.error"
	UpstreamAuth            Code = "upstream.auth_required"
	UpstreamLogin           Code = "upstream.needs_login"
	UpstreamAddress         Code = "upstream.address_refused"
	UpstreamSession         Code = "upstream.session_lost"
	UpstreamStatus          Code = "upstream.http_status"
	UpstreamLimited         Code = "upstream.rate_limited"

	ListPartial Code = "list.partial"
	ListUnknown Code = "list.unknown"

	LoginFailed Code = "login.failed"

	LimitRate       Code = "limit.rate"
	LimitConcurrent Code = "limit.concurrent"

	CallTimeout   Code = "call.timeout"
	CallCanceled  Code = "call.canceled"
	CallArguments Code = "call.arguments"
	CallInput     Code = "call.input_required"
	CallToolError Code = "call.tool_error"

	ListenAddress Code = "listen.address"
	ListenTLS     Code = "listen.tls"
	ListenStore   Code = "listen.store"

	SecretLocked    Code = "secret.locked"
	SecretPassword  Code = "secret.password"
	SecretDamaged   Code = "secret.damaged"
	SecretStore     Code = "secret.store"
	SecretUnknown   Code = "secret.unknown"
	SecretName      Code = "secret.name"
	SecretTooLarge  Code = "secret.too_large"
	SecretUngranted Code = "secret.not_granted"

	GatewayOverloaded Code = "gateway.overloaded"

	ProcessMissing     Code = "process.not_running"
	ProcessAmbiguous   Code = "process.ambiguous"
	ProcessUnreachable Code = "process.unreachable"
	ProcessRefused     Code = "process.refused"
	NotReady           Code = "process.not_ready"

	NameUnknown Code = "name.unknown"
	Denied      Code = "policy.denied"
	Refused     Code = "policy.refused"
	ToolHeld    Code = "tool.held"
	LockFile    Code = "lock.file"

	TestFailed Code = "test.failed"

	EditorSession Code = "editor.session"

	ApprovalRequired Code = "approval.required"
	ApprovalDenied   Code = "approval.denied"
	ApprovalUnknown  Code = "approval.unknown"
	ApprovalRefused  Code = "approval.refused"

	StateKey Code = "state.key"

	AuditFile        Code = "audit.file"
	AuditUnavailable Code = "audit.unavailable"
	AuditAltered     Code = "audit.altered"
	AuditUnknown     Code = "audit.unknown"

	ConsoleOff Code = "console.off"

	WrapChanged Code = "wrap.changed"
	WrapTried   Code = "wrap.tried"
	ExportFile  Code = "export.file"
	ImportFile  Code = "import.file"
	Unformatted Code = "config.unformatted"
	Outdated    Code = "config.outdated"
	PlanBase    Code = "plan.no_base"
	PlanFile    Code = "plan.file"
	PlanDiffers Code = "plan.differs"

	DoctorErrors Code = "doctor.errors"

	RegistryUnavailable Code = "registry.unavailable"
	RegistryUnknown     Code = "registry.unknown"
	RegistryEntry       Code = "registry.entry"
)

// An Entry explains a code: the exit status of the command line, the meaning of
// the code, and the remedy.
type Entry struct {
	Exit    int
	Meaning string
	Do      string
}

// Codes explains every code. The page docs/errors.md is generated from it.
var Codes = map[Code]Entry{
	Usage:       {ExitUsage, "The command line was not understood.", "Read `junctor help VERB`."},
	Interrupted: {ExitInterrupted, "The command was interrupted.", "Nothing."},
	Internal:    {ExitAnswer, "An error without a code of its own.", "Report it if it looks like a bug in Junctor."},
	Output: {ExitAnswer, "The result could not be written to standard output or to the file of `--output`. The tool was called nevertheless.",
		"Free disk space, or write to another place."},

	ConfigMissing: {ExitUsage, "No configuration was found.",
		"Write `junctor.hcl`, or name a file with `--config` or `JUNCTOR_CONFIG`."},
	ConfigInvalid: {ExitUsage, "The configuration has errors; nothing was started.",
		"Each error names its file, line and column. `junctor validate` lists all of them."},
	ConfigExposed: {ExitUsage,
		"Another user could change the configuration, and therefore the programs that run as you.",
		"Run the `chown` or `chmod` command in the hint."},
	ConfigUntrusted: {ExitUsage, "The configuration in the current directory is not trusted, or has changed since it was trusted. It was not evaluated, and no program of it was run.",
		"Read it, then run `junctor trust`; in CI set `JUNCTOR_TRUST`. A configuration named with `--config` or `JUNCTOR_CONFIG` needs no trust."},

	PluginNotFound: {ExitUsage, "A plugin's program was not found.",
		"Check `source` in `plugins { required }`, or reinstall Junctor if the plugin is bundled."},
	PluginNotAllowed: {ExitUsage,
		"A plugin's program may not be run: another user could change it, or it is not a regular file.",
		"Make the file and its directory writable only for yourself and root."},
	PluginChecksum: {ExitUsage,
		"A plugin's program does not have the configured checksum, or changed while Junctor was running.",
		"If you made the change, update `sha256` in `plugins { required }`, or restart Junctor."},
	PluginVersion: {ExitUsage, "A plugin's version does not satisfy the constraint in the configuration.",
		"Install another version or change `version` in `plugins { required }`."},
	PluginProtocol: {ExitUsage, "The plugin and Junctor have no protocol version in common.",
		"The hint names the older of the two: update Junctor, or rebuild the plugin with a current SDK."},
	PluginDescribe: {ExitUsage, "The plugin failed to describe itself.",
		"Run it with the argument `describe`: it must print one JSON document within five seconds."},
	PluginHandshake: {ExitUnreachable, "The plugin started but did not complete the handshake.",
		"A plugin must not write to standard output before it serves."},
	PluginStartTimeout: {ExitUnreachable, "The plugin was not ready in time.", "See `junctor plugin logs NAME`."},
	PluginExited: {ExitUnreachable,
		"The plugin's process ended. Calls in flight failed; the next call starts it again.",
		"See `junctor plugin logs NAME`."},
	PluginUnresponsive: {ExitUnreachable, "The plugin did not respond and was killed.",
		"See `junctor plugin logs NAME`."},
	PluginQuarantined: {ExitUnreachable, "The plugin crashed five times within ten minutes, while only this server or no server used its process. Other servers of the plugin are not affected.",
		"See `junctor plugin logs NAME`; the message says when the next attempt is allowed."},
	PluginBroken: {ExitUnreachable, "The plugin violated the protocol.", "Report the message to the plugin's author."},
	PluginDenied: {ExitDenied,
		"The plugin, or a service that it uses, denied access. The next attempt is allowed after one minute.",
		"The message names the reason."},

	UpstreamUnknown: {ExitUsage, "No server with this name is configured.",
		"`junctor status` lists the servers."},
	UpstreamDisconnected: {ExitUnreachable,
		"An operator has disconnected the server of a running process; its tools are not listed.",
		"Run `junctor connect SERVER`. A restart of the process connects it, too."},
	UpstreamDisabled: {ExitUsage, "The server is disabled in the configuration.",
		"Remove `enabled = false` from its block."},
	UpstreamSettings: {ExitUsage, "The plugin rejected the server's settings.", "The message names the setting."},
	UpstreamCommandNotFound: {ExitUnreachable, "The server's program was not found.",
		"The hint says how to install the program."},
	UpstreamNotStarted: {ExitUnreachable, "The server's program could not be started.", "The message says why."},
	UpstreamUnavailable: {ExitUnreachable, "The server could not be reached.",
		"Try again later; the message says what was attempted."},
	UpstreamExited: {ExitUnreachable, "The server's process ended. Calls in flight failed; the next call starts it again, at most ten times per minute.",
		"See its last lines on standard error. When the limit is reached, the message says when to retry."},
	UpstreamStartTimeout: {ExitTimeout, "The server was not ready in time.",
		"Raise the setting that the hint names, `timeouts { start }` or `timeouts { install }`. The last lines on standard error may explain the delay."},
	UpstreamProtocol: {ExitUnreachable,
		"The server supports no protocol revision that Junctor supports, or not the configured one.",
		"Set `protocol = \"auto\"` or a revision that the server supports."},
	UpstreamBadMessage: {ExitUnreachable,
		"The server's response was invalid: broken JSON, a duplicate name, or not JSON-RPC.",
		"Report it to the server's author."},
	UpstreamTooLarge: {ExitUnreachable, "A message from or to the server exceeded `max_message`.",
		"Request less at once, or raise `max_message` in the server's block."},
	UpstreamOverloaded: {ExitUnreachable,
		"Too many calls are queued for the server, which does not read them, or too many connections to it are open.",
		"Try again later."},
	UpstreamStopped: {ExitUnreachable, "Junctor is shutting down, or the server was removed or replaced.",
		"If the server was replaced, try again."},
	UpstreamUnsupported: {ExitUnreachable, "The server does not support this method.",
		"`junctor status SERVER` shows its capabilities."},
	UpstreamError: {ExitAnswer, "The server returned a JSON-RPC error.",
		"The message and `data` come from the server."},
	UpstreamAuth: {ExitCredentials, "The server requires credentials, or rejected the ones it received.",
		"Add an `auth` block to the server's block, or check the existing one. For credentials that never expire, `env` and `headers` suffice."},
	UpstreamLogin: {ExitCredentials, "The server requires a login. Other servers are not affected.",
		"Run the command at the end of the message, `junctor login SERVER`."},
	UpstreamAddress: {ExitUsage, "The server's host name resolves to an address that is not allowed, or the server redirects to another address.",
		"Set `allow_private = true` if a private address is intended; set `url` to the target of the redirect."},
	UpstreamSession: {ExitUnreachable, "The server lost the session. The next call starts a new one. Calls in flight may or may not have been executed.",
		"Retry if the call is idempotent."},
	UpstreamStatus: {ExitUnreachable, "The server returned an HTTP error status.",
		"The message contains the status and the beginning of the body."},
	UpstreamLimited: {ExitUnreachable, "The server is busy or limits the call rate.",
		"Wait as long as the message says."},

	ListPartial: {ExitTimeout, "A server's list of tools is incomplete: the server is still discovering its tools.",
		"Run the command again: it continues where the last one stopped."},
	ListUnknown: {ExitUnreachable, "A server has not discovered any of its tools yet.",
		"Run the command again: it continues where the last one stopped."},

	LoginFailed: {ExitCredentials, "The login failed; the previous credential is kept.",
		"The message names the reason. Run `junctor login SERVER` again."},

	CallTimeout: {ExitTimeout, "The call timed out; the server was told to cancel it.",
		"Raise the setting that the hint names: `timeouts { call }` of the server, `timeout` in `limits`, `request_timeout` of the gateway, or `--timeout`."},
	LimitRate: {ExitUnreachable, "A tenant calls a tool, or a client any tools, more often than `limits` in the `gateway` block allows. The call was not sent. `limit` in the data of the error says whose limit it was.",
		"Wait for `retry_after_ms`. The operator of the gateway can raise `rate` or `burst` in the block that the log names."},
	LimitConcurrent: {ExitUnreachable, "As many calls of a tool by a tenant, or of any tools by a client, are in progress as `limits` in the `gateway` block allows, and none ended within `wait`. The call was not sent. `limit` in the data of the error says whose limit it was.",
		"Wait for `retry_after_ms`. The operator of the gateway can raise `concurrent` or `wait` in the block that the log names."},

	CallCanceled: {ExitInterrupted, "The call was cancelled.", "Nothing."},
	CallArguments: {ExitUsage, "The arguments do not match the tool's schema; the server was not called.",
		"Each line names an argument. `junctor inspect TOOL` shows the schema."},
	CallInput: {ExitAnswer, "The server requests input that this client does not support.",
		"Use a client that supports elicitation, or another tool."},
	CallToolError: {ExitAnswer, "The tool ran and reported an error.", "The message comes from the tool."},

	ListenAddress: {ExitUsage, "The gateway cannot listen at the address.",
		"Another process may use it; see the message."},
	ListenTLS: {ExitUsage, "The gateway's TLS certificate cannot be used.", "Check the files that `tls` names."},
	ListenStore: {ExitUsage, "The session store cannot be used.",
		"Another Junctor may serve the same address; see the message."},

	SecretLocked: {ExitCredentials,
		"The secret store is locked: the key ring is locked, or the password for the encrypted file is missing.",
		"Unlock the key ring, or supply the password in one of the ways that the hint lists."},
	SecretPassword: {ExitCredentials, "The password of the secret store is wrong. The store was not changed.",
		"Try again with the right password."},
	SecretDamaged: {ExitCredentials,
		"The secret store, or a secret in it, cannot be read. A damaged file is kept under the name in the message.",
		"Restore a copy of the file, or save the secrets and log in again."},
	SecretStore: {ExitCredentials, "The secret store cannot be used.",
		"The message says why. A `secret_store` block selects another store."},
	SecretUnknown: {ExitCredentials, "There is no secret with this name.",
		"`junctor secret list` lists the secrets; `junctor secret set NAME` saves one."},
	SecretName: {ExitUsage, "The name of the secret is invalid.",
		"A name has 1 to 128 letters, digits and . _ / -, starting with a letter or a digit."},
	SecretUngranted: {ExitCredentials, "The secret is not granted to the server. The configuration or the server is a different one, or the server's program, arguments or host changed.",
		"Run `junctor secret grant NAME` if the server may have it."},
	SecretTooLarge: {ExitUsage, "The secret is too large, or the store is full.",
		"Store it in a file and name the file in the configuration."},

	GatewayOverloaded: {ExitUnreachable, "A limit of the gateway was reached, and a request or a response was dropped. The limits are half of `max_memory` for the messages in memory, the share of that for one client, 500 requests of one session in progress, the number of suspended calls, the calls that wait for an approval, and the states that can be checked for a second use. If a response was dropped, the tool was called; the message says which.",
		"Try again later, request less at a time, or raise `max_memory` in the `gateway` block."},

	ProcessMissing: {ExitUnreachable, "No running `junctor serve` was found for this request.",
		"Start one, or choose one with `--instance`. `junctor status` lists them."},
	ProcessAmbiguous: {ExitUsage, "Several running processes match, and the request is for one.",
		"Choose one with `--instance`; the error lists them."},
	ProcessUnreachable: {ExitUnreachable, "A running process did not answer on its control socket.",
		"Try again, or restart the process if it hangs."},
	NotReady: {ExitAnswer,
		"`junctor healthcheck` found that a gateway does not accept requests, or did not answer within 2 seconds.",
		"Start `junctor serve`, or read its log and `/readyz`."},
	ProcessRefused: {ExitDenied, "A running process does not accept requests from this program. It refuses programs of other users, and programs that Junctor started.",
		"Run the command in a terminal or a service of your own."},

	NameUnknown: {ExitUsage, "There is no tool, prompt or resource with this name.",
		"`junctor tools`, `prompts` and `resources` list them."},
	WrapChanged: {ExitAnswer, "A wrapped program no longer supports a tool block.",
		"Change the block, or regenerate it with `junctor wrap PROGRAM`."},
	WrapTried: {ExitAnswer, "A tool failed when `junctor wrap --try` ran it.",
		"The comments in the output name the tool and the program's error."},
	Unformatted: {ExitAnswer, "`junctor fmt --check` found files that it would change. It changed none.",
		"Run `junctor fmt`."},
	Outdated: {ExitAnswer,
		"`junctor update --check` found servers with a newer version in the registry. It changed nothing.",
		"Run `junctor update`."},
	PlanBase: {ExitUsage, "`junctor plan` has nothing to compare the configuration with: no running process serves it, and no file was named.",
		"Start `junctor serve`, choose a process with `--instance`, or name a file of `junctor plan --out` with `--against`."},
	PlanFile: {ExitUsage, "The file of `junctor plan --against` cannot be read, or that of `--out` cannot be written.",
		"Write it again with `junctor plan --out FILE`."},
	DoctorErrors: {ExitAnswer, "`junctor doctor` found something that does not work.",
		"Each finding says how to fix it; `junctor doctor --fix` corrects what is safe to correct."},
	PlanDiffers: {ExitAnswer, "`junctor plan --exit-code` found differences, or lists that it could not compare.",
		"Read the plan. Where the differences are wanted, write the file again with `junctor plan --out FILE`."},
	RegistryUnavailable: {ExitUnreachable, "A registry did not answer, or not as a registry does.",
		"Check the address and the network. What was read before can be used with `--offline`."},
	RegistryUnknown: {ExitUsage, "The registry does not have this server, or not this version of it.",
		"`junctor search WORD` lists servers."},
	RegistryEntry: {ExitUsage, "The entry of the registry cannot be used here. Nothing was changed.",
		"The message says why. Add the server by its command or URL: `junctor add NAME -- COMMAND`."},
	ImportFile: {ExitUsage, "The file of a client cannot be read, or has no servers. Nothing was changed.",
		"Correct the file, or paste its `mcpServers` object into `junctor import -`."},
	ExportFile: {ExitUsage, "The entry cannot be written to the client's file. The file was not changed.",
		"Fix the file, or insert the output of `junctor export CLIENT` by hand."},
	Denied: {ExitDenied, "A rule in the configuration denies this.",
		"The message names the rule. `junctor why SUBJECT TOOL` shows every rule about it."},
	ToolHeld: {ExitDenied, "The tool is held back: its definition is not the one that was accepted.",
		"`junctor diff` shows what changed, and `junctor lock --accept SERVER/TOOL` accepts it."},
	LockFile: {ExitUsage, "The lock file beside the configuration cannot be read or written.",
		"See the message. Restore a damaged file from version control, or remove it and run `junctor lock`."},
	Refused: {ExitDenied, "The policy of the gateway does not allow this.",
		"Ask the administrator of the gateway. `junctor why SUBJECT TOOL` shows every rule about it."},

	EditorSession: {ExitAnswer,
		"`junctor lsp`: the editor ended the session without `shutdown`, or sent something that is no message.",
		"Look at the editor's log of language servers; `--log debug` writes more to standard error."},

	TestFailed: {ExitAnswer, "A test block of the configuration expects something else than the policy decides.",
		"The output names the block and the rule that decides."},

	ConsoleOff: {ExitUsage, "The running process serves no console.",
		"Write `console { }` in the configuration, and run `junctor reload`."},

	ApprovalRequired: {ExitDenied, "The policy asks for an approval before this may be done.",
		"The message has the id; `junctor approvals` lists what waits. Repeat the same call once it is approved."},
	ApprovalDenied: {ExitDenied, "A person was asked and did not approve.", "Ask the person, or do something else."},
	StateKey: {ExitUsage, "The key that seals what clients carry from one request to the next cannot be used: others could read or change it, or it is damaged.",
		"Run the command in the hint. A removed key is made anew; calls that wait for their clients begin again."},

	ApprovalRefused: {ExitDenied, "You may not give this answer: you are not one of the approvers, you sent the call yourself, or a reason is missing.",
		"The message says who may answer, or what is missing."},
	ApprovalUnknown: {ExitUsage, "Nothing waits for an approval under this id. It may have expired.",
		"`junctor approvals` lists what waits."},

	AuditFile: {ExitUsage, "The file of the audit log cannot be used: it is in a directory of plugins, other users can write to it, or it is not an audit log.",
		"The message names the file. Set `file` in the `audit` block to a path of your own."},
	AuditUnavailable: {ExitUnreachable, "The audit log cannot be written, and `on_full = \"refuse\"` refuses requests that cannot be recorded. The request was not sent.",
		"Try again in a few seconds. The administrator frees space on the disk of the audit log."},
	AuditAltered: {ExitAnswer, "Rows of the audit log were altered, removed, reordered or added.",
		"The output names the rows. Compare with a copy of the file, and with the heads in the log of Junctor."},
	AuditUnknown: {ExitUsage, "The audit log has no such row, or there is no audit log.",
		"`junctor audit search` lists rows. An `audit` block in the configuration starts the log."},
}

// Exit returns the exit status for err. It returns ExitDone if err is nil.
func Exit(err error) int {
	if err == nil {
		return ExitDone
	}
	return Codes[As(err).Code].Exit
}
