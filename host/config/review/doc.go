// Package review reads a configuration without evaluating it, and lists what it would do: the
// programs, files, hosts and settings in it. A person reads the list before a configuration that was
// found is used for the first time; then exactly the text of the [Content] is used.
//
// Files, from the top: read.go, settings.go, outline.go, program.go, sandbox.go, searchpath.go,
// links.go, texts.go, outliner.go, content.go.
//
// read.go makes the Content. outline.go, outliner.go, program.go, searchpath.go, sandbox.go and
// links.go write its outline, settings.go and content.go its digests, and texts.go masks secrets.
//
// Package trust shows the outline and stores the digest; package config loads the Content. Both
// must see the same bytes, so a text is read once and kept. A Content is for one goroutine: it also
// records what file() reads while it is loaded. A change of a digest makes users trust their
// configurations again.
package review
