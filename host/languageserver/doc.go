// Package languageserver is a server of the Language Server Protocol for configurations: it
// tells an editor what is wrong with a text, what may be written at a place, what a name
// means and where it is defined.
//
// [Serve] answers one editor on two streams. It evaluates nothing but literals, reads nothing
// that a text names except modules beside it, and starts no program: the texts need not be
// trusted. What a text means is the business of package config; this package has the
// protocol.
//
//   - stream.go frames and bounds messages. server.go has the life of a session and the
//     methods; protocol.go their parameters and results.
//   - documents.go keeps the texts, and position.go converts between offsets and positions.
//   - diagnostics.go checks changed texts, and questions.go answers about places.
package languageserver
