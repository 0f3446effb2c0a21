package config

import (
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// ReadContent reads the configuration at path for a review; see [review.Read]. It evaluates
// nothing. Package trust calls it, and Load gets the result as Options.Content.
func ReadContent(path string, lookup func(string) (string, bool)) (*review.Content, source.Diagnostics) {
	return review.Read(path, reviewFacts(lookup))
}

// ReadContentText is [ReadContent] for the text that the file at path is to have.
func ReadContentText(path string, text []byte,
	lookup func(string) (string, bool)) (*review.Content, source.Diagnostics) {
	return review.ReadText(path, text, reviewFacts(lookup))
}

// ContentDigest returns a text that changes with the content of the configuration at path, which
// may use modules in any directory.
func ContentDigest(path string, lookup func(string) (string, bool)) string {
	return review.Digest(path, reviewFacts(lookup))
}

// reviewFacts returns what a review knows of the language.
func reviewFacts(lookup func(string) (string, bool)) review.Facts {
	return review.Facts{
		Words:   languageWords(),
		Bundled: append(Bundled(), fileKind),
		Console: language.Defaults[Console]().Listen,
		Metrics: language.Defaults[Metrics]().Listen,
		Lookup:  lookup,
	}
}
