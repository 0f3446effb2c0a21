// Package registry looks up servers in MCP registries and turns an entry into a server
// block. It speaks the read-only part of the registry API, version v0.1, and knows server.json
// up to its schema of 2025-12-11.
//
// An entry is text of a stranger: a command is built only from package names of a known
// form, and nothing in an entry refers to a variable of this machine.
//
// client.go asks a registry and keeps answers in the cache, entry.go is the format of entries,
// install.go and input.go make a server of one, and update.go compares two versions. The verbs
// search, add, import and update use the package. A [Client] is safe for concurrent use; each
// method blocks until the registry has answered or ctx ends. Other values are only read once made.
package registry
