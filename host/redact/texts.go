package redact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// Mask replaces text that may be secret.
const Mask = "***"

// tooShort is the length of texts that are not masked inside other texts, because
// they occur in ordinary words.
const tooShort = 3

// Holds reports whether a text equals one of the words, or contains one of more than three bytes.
// An empty word counts for nothing.
func Holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return w == text && w != "" || len(w) > tooShort && strings.Contains(text, w)
	})
}

// PartOf reports whether one of the words contains a text of more than three bytes.
func PartOf(text string, words []string) bool {
	return len(text) > tooShort && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, text) })
}

// Unescaped removes the escapes of a quoted text of HCL or Go. HCL has the escapes of
// Go, and $${ and %%{ for ${ and %{.
func Unescaped(text string) string {
	if plain, err := strconv.Unquote(`"` + text + `"`); err == nil {
		text = plain
	}
	return strings.NewReplacer("$${", "${", "%%{", "%{").Replace(text)
}

// quoted matches the quoted texts in a message.
var quoted = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// Quotes masks the quoted texts in a message of HCL or of one of its functions that are secret.
// Texts are given to secret without quotes and escapes.
func Quotes(message string, secret func(text string) bool) string {
	return quoted.ReplaceAllStringFunc(message, func(quote string) string {
		if secret(Unescaped(quote[1 : len(quote)-1])) {
			return `"` + Mask + `"`
		}
		return quote
	})
}
