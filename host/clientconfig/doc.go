// Package clientconfig writes the configuration with which an MCP client finds this
// gateway.
//
// First a [Target] says how Junctor is reached: a program to start, or an
// address with the variable that holds the token. Then a [Client] makes of it
// the file of that client, in the client's own form, or merges it into the file
// that is there. Merging edits bytes: comments, order and whatever else stands
// in the file stay as they are, and what comes out is read again and compared
// before anybody may write it.
//
// Everything but [File] is a pure function. The package knows nothing of
// Junctor's own configuration, and never sees a token.
package clientconfig
