package config

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk"
)

// languageForm lists the blocks of a file. "gateway", "console", "telemetry", "defaults",
// "audit", "notify" and "secret_store" are checked to be unique in all files where they are read.
var languageForm = sync.OnceValue(func() *language.Form {
	return &language.Form{
		Blocks: map[string]language.Shape{
			"plugins": {Many: true, Body: language.FormOf[pluginsBlock](), Doc: "The plugins that are not bundled."},
			"plugin": {
				Labels: 1, Many: true, Body: language.FormOf[pluginSettings](),
				Doc: "How a plugin's processes run. The label is the plugin's name.",
			},
			"locals": {Many: true, Body: &expression.LocalsForm,
				Doc: "Named values, for `local.NAME` in other places."},
			"variable": {
				Labels: 1, Many: true, Body: language.FormOf[expression.Variable](),
				Doc: "A value that the environment variable `JUNCTOR_VAR_NAME` can set, for `var.NAME` in other places.",
			},
			"module": {
				Labels: 1, Many: true, Body: &moduleBlockForm,
				Doc: "Uses a directory of servers, with values for its variables.",
			},
			"server": {
				Labels: 1, Many: true, Body: language.FormOf[Server](),
				Doc: "An MCP server. The label is its name.",
			},
			"defaults": {
				Many: true, Body: language.FormOf[defaultsBlock](),
				Doc: "Attributes for all servers. A server's own attribute wins.",
			},
			"gateway": {
				Many: true, Body: language.FormOf[Gateway](),
				Doc: "How clients reach Junctor over HTTP, and their limits.",
			},
			"secret_store": {
				Labels: 1, Many: true, Kinds: map[string]*language.Form{fileKind: language.FormOf[SecretFile]()},
				Role: &stores,
				Doc:  "Where secrets are kept. The label is the kind: `file`, `keyring`, or a required plugin.",
			},
			"policy":    {Many: true, Body: language.FormOf[policyBlock](), Doc: "Who may use what."},
			"telemetry": {Many: true, Body: language.FormOf[Telemetry](), Doc: "Where metrics are served."},
			"console":   {Many: true, Body: language.FormOf[Console](), Doc: "Pages for operators, in a browser."},
			"test": {
				Labels: 1, Many: true, Body: language.FormOf[testBlock](),
				Doc: "What a principal may do, for `junctor test`. The label is the name of the test.",
			},
			"notify": {
				Many: true, Body: language.FormOf[Notify](),
				Doc: "Tells a webhook of approvals, outages, missing logins and changed tools.",
			},
			"servers": {
				Many: true, Body: language.FormOf[ownServersBlock](),
				Doc: "Which servers may be used, of all layers below the managed configuration.",
			},
			"audit": {
				Many: true, Body: language.FormOf[Audit](),
				Doc: "Records what clients do: one row for each request.",
			},
		},
		Later: []string{"profile", "state"},
	}
})

// Language returns the form of a file: the blocks that it may have, and the attributes and
// blocks in them. All calls return the same form, which must not be changed.
func Language() *language.Form { return languageForm() }

// Schema returns the JSON Schema (2020-12) of the configuration language, for programs that
// generate configurations. It describes the JSON form of HCL: a block is an object, a block with
// a label is an object by label, and a text with "${" is an expression. Junctor reads HCL only.
// plugins are the manifests by the local names of the plugins; the bodies of their blocks are
// described with them.
func Schema(plugins map[string]sdk.Manifest) []byte {
	return language.Schema(Language(), plugins, "Junctor configuration",
		"The blocks, attributes and values of a Junctor configuration, in the JSON form of HCL. Junctor reads HCL only.")
}

// languageWords returns the words of the language for snippets.
func languageWords() source.Words {
	return source.Words{
		Blocks:     blockWords,
		Messages:   expression.MessageWords,
		IsFunction: expression.LooksLikeFunction,
		EnvName:    envRule,
		SecretName: expression.SecretName,
	}
}

// blockWords are the types of blocks.
var blockWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, f := range []language.Form{*Language(), *language.FormOf[Server](), *language.FormOf[Gateway](),
		*language.FormOf[HTTP]()} {
		for name := range f.Blocks {
			words[name] = true
		}
		for _, name := range f.Later {
			words[name] = true
		}
	}
	return words
})
