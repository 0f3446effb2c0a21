// Package redact removes secrets from texts. A [Scrubber] finds them as they are, escaped, in
// base64 and cut off; [Quotes] masks those that a message quotes.
//
// Files, from the top: scrubber.go, unescape.go, secretforms.go, texts.go.
//
// A Scrubber is immutable. Packages host and config make one for all known secrets, and every
// message, log record and page goes through it on the goroutine that writes it. It may mask too
// much, never too little.
package redact
