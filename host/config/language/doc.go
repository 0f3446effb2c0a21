// Package language reads the blocks of configurations. A block declares itself: it is a struct
// with tags, whose grammar tags.go describes. [Decode] reads a block into its struct, and
// [FormOf] returns what the block may hold: the diagnostics, the JSON Schema, the reference pages and
// the help of editors come from it. A [Reader] reads single attributes and reports what is wrong
// to its [Host]. The package knows no block of the language.
package language
