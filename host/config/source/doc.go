// Package source holds the texts of configuration files and reports what is wrong in them. A
// [Set] reads and parses files, collects [language.Problem] values, and makes
// [Diagnostics] of them: with file, line, column and the source line, and without text that
// could be a secret. It decodes no block. It reads module blocks (tree.go), and lists the types of
// blocks whose labels cannot be secrets (mask.go) and the attributes whose values cannot
// (harmless.go): what is added to the language and not there is masked in messages.
//
// Files, from the top: render.go, diagnostic.go, tree.go, reading.go, pasted.go, quotes.go,
// hcldiagnostics.go, foreignsyntax.go, foreignreferences.go, set.go, written.go, snippet.go, mask.go,
// harmless.go, file.go, paths.go, position.go.
//
// tree.go, reading.go, set.go, file.go and paths.go read files and modules. diagnostic.go and
// render.go make messages; snippet.go, mask.go, harmless.go and quotes.go keep secrets out of them.
// hcldiagnostics.go and the files whose names begin with foreign, and pasted.go, say what HCL's own
// errors mean. position.go is about places, written.go about the text of an expression.
//
// Package config and the readers beside it use a Set during one load, on one goroutine. Diagnostics
// and Positions are values that the verbs, the host and the language server share and print. A text
// is shown only if decoding revealed it: code that adds to a message must go through the mask.
package source
