package help

import (
	"slices"
	"strings"
)

// onlyCall removes from a usage what surrounds the call of the program: the
// programs before it in a pipeline, and an explanation after a colon or a comma.
func onlyCall(s, program string) string {
	if at := strings.LastIndex(s, "| "+program+" "); at > 0 && program != "" && opened(s[:at]) == 0 &&
		firstWord(s) != program {
		s = s[at+len("| "):]
	}
	depth, space := 0, false
	for i := 1; i < len(s); i++ {
		depth += opened(s[i-1 : i])
		if s[i] != ' ' {
			continue
		}
		if space && depth == 0 && (s[i-1] == ':' || s[i-1] == ',') && words(s[i:min(len(s), i+aheadLen)]) >= 3 {
			return s[:i-1]
		}
		space = true
	}
	return s
}

// aheadLen bounds the text that is read to tell an explanation from arguments.
const aheadLen = 80

// functionWords are words of sentences that are no names of arguments.
var functionWords = []string{
	"a", "an", "the", "this", "that", "these", "is", "are", "was", "be", "has", "have", "can", "will", "should", "must",
	"may", "of", "for", "with", "you", "your", "it", "its", "and", "see", "now", "please", "use", "which", "when", "if",
	"not", "no", "more",
}

// sentence reports whether a text in the place of a usage is a notice: it
// begins with a label, or it has at least two words that only sentences have.
func sentence(s string) bool {
	if labelled(s) && strings.Contains(s, " ") {
		return true
	}
	found, depth := 0, 0
	for _, w := range strings.Fields(s) {
		if depth == 0 && slices.Contains(functionWords, strings.ToLower(strings.Trim(w, ".,;!"))) {
			found++
		}
		depth = max(depth+opened(w), 0)
	}
	return found >= 2
}

// labelled reports whether a line begins with a label, such as "Note:".
func labelled(s string) bool {
	first := firstWord(s)
	return len(first) > 2 && strings.HasSuffix(first, ":") && letter(first[0])
}

// ruled reports whether a line begins with a rule, as the heading
// "------- Options -------".
func ruled(s string) bool {
	first := firstWord(s)
	return len(first) > 2 && strings.IndexByte("-=*~_#+", first[0]) >= 0 && strings.Trim(first, first[:1]) == ""
}

// isPlaceholder reports whether a word of a usage can name an argument. A
// number, an address or the end of a sentence does not.
func isPlaceholder(text string) bool {
	if wrapped(text, '<', '>') {
		return true
	}
	t := strings.TrimSuffix(text, "...")
	switch {
	case t == "" || strings.Trim(t, "0123456789.") == "":
		return false
	case strings.Contains(t, "://"), strings.ContainsAny(t, "'\"`$;&>"):
		return false
	}
	return strings.IndexByte(".:;!?,", t[len(t)-1]) < 0
}
