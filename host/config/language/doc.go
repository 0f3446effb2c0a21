// Package language reads the blocks of configurations. A block declares itself: it is a struct
// with tags, whose grammar tags.go describes. [Decode] reads a block into its struct, and
// [FormOf] returns what the block may hold: the diagnostics, the JSON Schema, the reference pages and
// the help of editors come from it. A [Reader] reads single attributes and reports what is wrong
// to its [Host]. The package knows no block of the language.
//
// tags.go and kinds.go read the tags of a struct; form.go, values.go and pluginform.go describe a
// block by them, and jsonschema.go writes the schema. decode.go, reader.go, attribute.go and
// convert.go read blocks; hint.go, place.go and problem.go are what they report. public.go and
// reload.go say what others may see of a block and what a change does.
//
// Packages config, inbound, expression and lockfile declare blocks; the host and the language
// server read their forms. Forms are computed once for a type, are shared and must not be changed.
// A Reader belongs to one load and one goroutine.
package language
