package run

import (
	"regexp"
	"strings"
)

// strange are characters that no pattern for arguments means in particular.
var strange = []string{"\uE000", "!", "~", ";"}

// admits reports whether a pattern allows a free argument. One that begins with
// a dash must be meant by the pattern: "-v|[a-z]+" means -v, but ".*" does not
// mean --upload-pack=sh, although it matches. It is meant when something
// strange in the place of the dash would not match.
func admits(whole *regexp.Regexp, text string) bool {
	if !whole.MatchString(text) {
		return false
	}
	rest, dash := strings.CutPrefix(text, "-")
	if !dash {
		return true
	}
	for _, s := range strange {
		if whole.MatchString(s + rest) {
			return false
		}
	}
	return true
}
