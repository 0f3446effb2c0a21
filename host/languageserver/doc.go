// Package languageserver is a server of the Language Server Protocol for configurations: it
// tells an editor what is wrong with a text, what may be written at a place, what a name
// means and where it is defined.
//
// [Serve] answers one editor on two streams. It evaluates nothing but literals, reads nothing
// that a text names except modules beside it, and starts no program: the texts need not be
// trusted. The mistakes in a text and the form of the language come from package config. A
// view answers about the places of texts that may be incomplete: it has a sketch of each, made
// of its tokens.
//
// Files, from the top: server.go, questions.go, diagnostics.go, stream.go, documents.go,
// completion.go, hover.go, definition.go, names.go, view.go, expression.go,
// sketch.go, protocol.go, position.go.
//
// Only the verb lsp calls [Serve]. Messages are read on one goroutine; answers to questions run on
// goroutines of their own, and one more checks texts. So a question reads the document before the
// next message, and its view belongs to its goroutine. Everything ends with Serve.
package languageserver
