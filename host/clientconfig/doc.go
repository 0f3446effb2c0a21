// Package clientconfig writes the configuration files of MCP clients, so that they find
// this gateway, and reads the servers in them.
//
// A [Target] says how a client reaches Junctor: by a command to start or by a URL. A
// [Client] turns it into an entry in the client's own format, as a new file or merged
// into an existing one. Merging edits bytes: comments, order and all other content stay
// as they are. The result is parsed again and compared before it is returned.
//
// All functions except those of [File] are pure. The package does not know Junctor's own
// configuration. [Servers] reads a file of any client; what it returns contains the
// user's secrets.
//
// client.go, place.go, target.go, render.go and toml.go write entries; merge.go, edit.go, jsonc.go
// and remove.go change files byte by byte, and file.go and within.go read and replace them.
// servers.go, entry.go, program.go, remote.go, login.go, times.go and offered.go read the servers
// of a file; members.go says which members are known. access.go, permissions.go and toolnames.go
// read rights. claude.go, local.go, docker.go, wrapped.go and yaml.go are formats of single
// clients.
//
// The verbs export, import and init use the package, and package clientimport what it reads. No
// value is shared between goroutines. The files belong to users and other programs: write nothing
// but the own entry, in the form that the client reads.
package clientconfig
