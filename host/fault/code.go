package fault

// A Code names a kind of fault: the room, a dot, and what is wrong. It never
// changes its meaning.
type Code string

// The exit statuses of the command line.
const (
	ExitDone        = 0
	ExitAnswer      = 1 // the server answered with an error, or its answer could not be written
	ExitUsage       = 2 // usage or configuration
	ExitUnreachable = 3 // an upstream or a plugin
	ExitCredentials = 4
	ExitDenied      = 5
	ExitTimeout     = 6
	ExitInterrupted = 130
)

// Every code there is. The table below explains each.
const (
	Usage       Code = "usage"
	Interrupted Code = "interrupted"
	Internal    Code = "internal"
	Output      Code = "output"

	ConfigMissing Code = "config.missing"
	ConfigInvalid Code = "config.invalid"
	// ConfigExposed and ConfigUntrusted are about who wrote a configuration.
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

	NameUnknown Code = "name.unknown"
	Denied      Code = "policy.denied"
	WrapChanged Code = "wrap.changed"
	WrapTried   Code = "wrap.tried"
	ExportFile  Code = "export.file"
)

// An Entry explains a code.
type Entry struct {
	Exit    int
	Meaning string
	Do      string
}

// Codes explains every code; docs/errors.md is written from it.
var Codes = map[Code]Entry{
	Usage:       {ExitUsage, "The command line was not understood.", "Read `junctor help VERB`."},
	Interrupted: {ExitInterrupted, "The command was interrupted.", "Nothing."},
	Internal:    {ExitAnswer, "Something went wrong that has no code of its own.", "Report it when it looks like a mistake in Junctor."},
	Output:      {ExitAnswer, "What was asked for could not be written, to standard output or to the file of `--output`.", "Make room, or write it somewhere else. A tool was called all the same."},

	ConfigMissing:   {ExitUsage, "No configuration was found.", "Write `junctor.hcl`, or name a file with `--config` or `JUNCTOR_CONFIG`."},
	ConfigInvalid:   {ExitUsage, "The configuration has errors; nothing was started.", "Each error names its file, line and column. `junctor validate` lists all of them."},
	ConfigExposed:   {ExitUsage, "Another user could change the configuration, and with it the programs that run as you.", "Run the `chown` or `chmod` that the hint names."},
	ConfigUntrusted: {ExitUsage, "The configuration in the current directory was not trusted yet, or has changed since. Nothing of it was run, evaluated or looked up.", "Read it, then run `junctor trust`; in CI set `JUNCTOR_TRUST`. A configuration that is named with `--config` or `JUNCTOR_CONFIG` needs no trust."},

	PluginNotFound:     {ExitUsage, "A plugin's program was not found.", "Check `source` in `plugins { required }`, or reinstall Junctor when it is a bundled one."},
	PluginNotAllowed:   {ExitUsage, "A plugin's program may not be run: others could have changed it, or it is not a regular file.", "Make the file and its directory writable by yourself or root only."},
	PluginChecksum:     {ExitUsage, "A plugin's program is not the one that was agreed on, or changed while Junctor was running.", "When the change is yours, update `sha256` in `plugins { required }`, or start Junctor again."},
	PluginVersion:      {ExitUsage, "A plugin's version is not one that the configuration asks for.", "Install another version or change `version` in `plugins { required }`."},
	PluginProtocol:     {ExitUsage, "The plugin and this Junctor have no protocol in common.", "The hint says which of the two is the older one: update Junctor, or rebuild the plugin with a current SDK."},
	PluginDescribe:     {ExitUsage, "The plugin could not describe itself.", "Run it with the argument `describe`: it must print one JSON document within five seconds."},
	PluginHandshake:    {ExitUnreachable, "The plugin started but did not speak as a plugin does.", "A plugin may write nothing to standard output before it serves."},
	PluginStartTimeout: {ExitUnreachable, "The plugin did not get ready in time.", "See `junctor plugin logs NAME`."},
	PluginExited:       {ExitUnreachable, "The plugin's process ended. Calls in flight failed; the next one starts it again.", "See `junctor plugin logs NAME`."},
	PluginUnresponsive: {ExitUnreachable, "The plugin did not answer and was ended.", "See `junctor plugin logs NAME`."},
	PluginQuarantined:  {ExitUnreachable, "The plugin crashed five times within ten minutes, while only this server used its process, or before any did. Other servers of the plugin go on.", "See `junctor plugin logs NAME`; the message says when it is tried again."},
	PluginBroken:       {ExitUnreachable, "The plugin broke the protocol.", "Report it to the plugin's author with the message."},
	PluginDenied:       {ExitDenied, "The plugin, or the service that it asked, refused. It is not tried again for a minute.", "The message says who refused what."},

	UpstreamUnknown:         {ExitUsage, "No server of this name is configured.", "`junctor status` lists the servers."},
	UpstreamDisabled:        {ExitUsage, "The server is disabled in the configuration.", "Remove `enabled = false` from its block."},
	UpstreamSettings:        {ExitUsage, "The plugin refused the server's settings.", "The message names the setting."},
	UpstreamCommandNotFound: {ExitUnreachable, "The server's program was not found.", "The hint says where it comes from."},
	UpstreamNotStarted:      {ExitUnreachable, "The server's program could not be started.", "The message says why."},
	UpstreamUnavailable:     {ExitUnreachable, "The server could not be reached.", "Try again later; the message says what was tried."},
	UpstreamExited:          {ExitUnreachable, "The server ended. Calls in flight failed; the next one starts it again, at most ten times a minute.", "Its last lines on standard error say why. A call that is refused says when to try again."},
	UpstreamStartTimeout:    {ExitTimeout, "The server did not get ready in time.", "Raise the setting that the hint names, `timeouts { start }` or `timeouts { install }`, or see why it is slow in its last lines on standard error."},
	UpstreamProtocol:        {ExitUnreachable, "The server does not speak a protocol revision that Junctor knows, or not the one configured.", "Set `protocol = \"auto\"` or a revision the server has."},
	UpstreamBadMessage:      {ExitUnreachable, "The server's answer was not valid: broken JSON, a repeated name, or no JSON-RPC.", "Report it to the server's author."},
	UpstreamTooLarge:        {ExitUnreachable, "A message from or to the server was larger than a message may be.", "Ask for less at once, or raise `max_message` in the server's block."},
	UpstreamOverloaded:      {ExitUnreachable, "Too many calls wait for the server, which does not read them.", "Try again later."},
	UpstreamStopped:         {ExitUnreachable, "Junctor is shutting down.", "Nothing."},
	UpstreamUnsupported:     {ExitUnreachable, "The server does not offer this.", "`junctor status SERVER` shows what it offers."},
	UpstreamError:           {ExitAnswer, "The server answered with a JSON-RPC error.", "The message and `data` are the server's own."},
	UpstreamAuth:            {ExitCredentials, "The server wants credentials, or refuses those it was given.", "Add an `auth` block to the server's, or check the one that is there; `env` and `headers` do for what never expires."},
	UpstreamLogin:           {ExitCredentials, "Somebody has to log in to the server. Other servers go on.", "Run the command that the message ends with, `junctor login SERVER`."},
	UpstreamAddress:         {ExitUsage, "The server's name leads to an address that may not be used, or the server redirects to another one.", "Set `allow_private = true` where a private address is meant; give the address that is redirected to as `url`."},
	UpstreamSession:         {ExitUnreachable, "The server forgot the session. The next call begins a new one; what was in flight may or may not have been done.", "Call again when that is harmless."},
	UpstreamStatus:          {ExitUnreachable, "The server answered with an HTTP status that says it did not do what was asked.", "The message has the status and the beginning of the body."},
	UpstreamLimited:         {ExitUnreachable, "The server is busy, or asks to be called less often.", "Wait as long as the message says."},

	ListPartial: {ExitTimeout, "A server's list of tools is not complete: the server is still finding out what it can do.", "Run the command again: it goes on where the last one stopped."},
	ListUnknown: {ExitUnreachable, "A server has not found out any of its tools yet.", "Run the command again: it goes on where the last one stopped."},

	LoginFailed: {ExitCredentials, "The login did not come to its end; what was kept before is kept.", "The message says what ended it. Run `junctor login SERVER` again."},

	CallTimeout:   {ExitTimeout, "The call did not end in time; the server was told to stop.", "Raise `timeouts { call }` or `--timeout`."},
	CallCanceled:  {ExitInterrupted, "The call was cancelled.", "Nothing."},
	CallArguments: {ExitUsage, "The arguments do not fit the tool's schema; the server was not called.", "Each line names an argument. `junctor inspect TOOL` shows the schema."},
	CallInput:     {ExitAnswer, "The server wants something from the user that this client cannot give.", "Use a client that can answer, or another tool."},
	CallToolError: {ExitAnswer, "The tool ran and reported an error.", "The message is the tool's own."},

	ListenAddress: {ExitUsage, "The gateway cannot listen at the address.", "Another process may use it; the message says."},
	ListenTLS:     {ExitUsage, "The certificate of the gateway cannot be used.", "Check the files that `tls` names."},
	ListenStore:   {ExitUsage, "The file that sessions are kept in cannot be used.", "Another Junctor may serve the same address; the message says."},

	SecretLocked:    {ExitCredentials, "The secret store is locked: the key ring is, or there is no password for the encrypted file.", "Unlock the key ring, or give the password in one of the ways that the hint names."},
	SecretPassword:  {ExitCredentials, "The password is not the one that the secret store was made with. Nothing was changed.", "Try again with the right one."},
	SecretDamaged:   {ExitCredentials, "The secret store, or a secret in it, cannot be read. A damaged file was kept under another name; the message has it.", "Put back a copy of the file, or save the secrets and log in again."},
	SecretStore:     {ExitCredentials, "The secret store cannot be used.", "The message says why. A `secret_store` block chooses another one."},
	SecretUnknown:   {ExitCredentials, "There is no secret of this name.", "`junctor secret list` shows what there is; `junctor secret set NAME` saves one."},
	SecretName:      {ExitUsage, "This cannot be the name of a secret.", "A name has 1 to 128 letters, digits and . _ / -, starting with a letter or a digit."},
	SecretUngranted: {ExitCredentials, "A stored secret is handed only to the servers that it was granted to. Another configuration or server asks for it, or the server's program, arguments or host have changed.", "Run `junctor secret grant NAME` if the server may have it."},
	SecretTooLarge:  {ExitUsage, "A secret is too large, or the store has no room for it.", "Keep it in a file, and name the file in the configuration."},

	GatewayOverloaded: {ExitUnreachable, "The messages in memory have reached half of `max_memory`, or one client its share of that, and an answer or a request was dropped. After a dropped answer, the tool was called; the message says which it was.", "Try again later, ask for less at a time, or raise `max_memory` in the `gateway` block."},

	NameUnknown: {ExitUsage, "There is no tool, prompt or resource of this name.", "`junctor tools`, `prompts` and `resources` list them."},
	WrapChanged: {ExitAnswer, "A program that is wrapped no longer does what a tool block asks of it.", "Change the block, or write it anew with `junctor wrap PROGRAM`."},
	WrapTried:   {ExitAnswer, "A tool that `junctor wrap --try` ran once did not work.", "The comments in the output say which, and what the program said."},
	ExportFile:  {ExitUsage, "The file of a client cannot take the entry, and was left as it is.", "Mend the file that is named, or put in by hand what `junctor export CLIENT` prints."},
	Denied:      {ExitDenied, "The configuration does not allow this.", "The message cites the rule."},
}

// Exit is the exit status that goes with err; nil is ExitDone.
func Exit(err error) int {
	if err == nil {
		return ExitDone
	}
	return Codes[As(err).Code].Exit
}
