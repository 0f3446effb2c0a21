// Package review reads a configuration without evaluating it, and lists what it would do: the
// programs, files, hosts and settings in it. A person reads the list before a configuration that was
// found is used for the first time; then exactly the text of the [Content] is used.
//
// Files, from the top: read.go, settings.go, outline.go, program.go, sandbox.go, searchpath.go,
// links.go, texts.go, outliner.go, content.go.
package review
