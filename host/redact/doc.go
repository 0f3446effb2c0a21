// Package redact removes secrets from texts. A [Scrubber] finds them as they are, escaped, in
// base64 and cut off; [Quotes] masks those that a message quotes.
//
// Files, from the top: scrubber.go, unescape.go, secretforms.go, texts.go.
package redact
