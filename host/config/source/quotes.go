package source

import (
	"github.com/junctor-mcp/junctor/host/redact"
)

// Messages of HCL and of its functions contain values in quotes only: redactQuotes
// masks those. Messages of a plugin may contain its settings anywhere: scrub masks
// known secrets. The messages of this package need neither.

// redactQuotes masks the quoted texts in a message that may be secret: texts from
// env() and file(), and the literals that snippets of the source mask.
func (s *Set) redactQuotes(f *File, message string) string {
	return redact.Quotes(message, func(text string) bool { return s.mayBeSecret(f, text) })
}

// mayBeSecret reports whether a quoted text may be a secret or part of one.
func (s *Set) mayBeSecret(f *File, text string) bool {
	switch {
	case s.words.Messages()[text]:
		return false
	case redact.Holds(text, s.secrets):
		return true
	case f == nil:
		return redact.PartOf(text, s.secrets)
	}
	snip := f.prepare()
	return !snip.readable[text] &&
		(redact.Holds(text, snip.literals) || redact.PartOf(text, snip.literals) || redact.PartOf(text, s.secrets))
}
