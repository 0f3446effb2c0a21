package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"unicode"
	"unicode/utf8"
)

const (
	maxExposed  = 64   // what the strictest clients take
	maxBare     = 128  // what MCP allows
	maxOriginal = 1024 // of a name that is worth exposing at all
	hashDigits  = 8
	separator   = "__"
)

var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	legalName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
)

// Expose returns the name under which clients see an item: PREFIX__NAME, or
// the name itself when the prefix is empty. When that is not a name that
// clients take, it is made one, and always carries a hash of the server and
// the original name: so no item that appears later can take it over, and it
// never changes.
func Expose(prefix, server, name string) string {
	exposed, legal, limit := name, legalName, maxBare
	if prefix != "" {
		exposed, legal, limit = prefix+separator+name, plainName, maxExposed
	}
	if legal.MatchString(exposed) {
		return exposed
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	suffix := "_" + hex.EncodeToString(sum[:])[:hashDigits]
	if prefix == "" {
		limit = maxExposed
	}
	clean := sanitise(exposed)
	return clean[:min(len(clean), limit-len(suffix))] + suffix
}

// sanitise replaces what may not stand in a name.
func sanitise(name string) string {
	out := make([]byte, 0, len(name))
	for _, r := range name {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-') {
			out = append(out, byte(r))
		} else {
			out = append(out, '_')
		}
	}
	return string(out)
}

// nameable says why an item of this name is left out; empty means that it is
// not. What people cannot see in a name could only deceive them.
func nameable(name string) string {
	switch {
	case name == "":
		return "it has no name"
	case len(name) > maxOriginal:
		return "its name is too long"
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return "its name has characters that cannot be seen"
		}
	}
	return ""
}
