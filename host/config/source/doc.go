// Package source holds the texts of configuration files and reports what is wrong in them. A
// [Set] reads and parses files, collects [language.Problem] values, and makes
// [Diagnostics] of them: with file, line, column and the source line, and without text that
// could be a secret. It knows no block of the language.
//
// Files, from the top: render.go, diagnostic.go, tree.go, reading.go, pasted.go, quotes.go,
// hcldiagnostics.go, foreignsyntax.go, foreignreferences.go, set.go, written.go, snippet.go, mask.go,
// harmless.go, file.go, paths.go, position.go.
package source
