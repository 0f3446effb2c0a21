// Package language reads the blocks of configurations. A [Form] describes what a block may hold:
// the diagnostics, the JSON Schema, the reference pages and the help of editors come from it. A
// [Reader] reads one block and reports what is wrong to its [Host]. The package knows no block of
// the language.
package language
