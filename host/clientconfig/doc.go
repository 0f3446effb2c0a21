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
package clientconfig
