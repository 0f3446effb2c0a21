package config

import (
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/sdk"
)

// Schema returns the JSON Schema (2020-12) of the configuration language, for programs that
// generate configurations. It describes the JSON form of HCL: a block is an object, a block with
// a label is an object by label, and a text with "${" is an expression. Junctor reads HCL only.
// plugins are the manifests by the local names of the plugins; the bodies of their blocks are
// described with them.
func Schema(plugins map[string]sdk.Manifest) []byte {
	return language.Schema(Language(), plugins, "Junctor configuration",
		"The blocks, attributes and values of a Junctor configuration, in the JSON form of HCL. Junctor reads HCL only.")
}
