package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

const (
	maxExposed  = 64   // limit of the strictest clients
	maxOriginal = 1024 // longest server name of an item that is exposed
	hashDigits  = 8
	separator   = "__"
)

var (
	plainName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)
	legalName = lazyregexp.New(`^[A-Za-z0-9_.-]{1,64}$`) // what MCP allows, but not longer
)

// Expose returns the client's name of an item: PREFIX__NAME, or the item's own name if
// the prefix is empty. If clients would reject that, the name is sanitised and gets a
// hash of the server and the original name. The result never depends on other items. It is
// pure. Clients and policies keep the names, so they must never change for the same arguments.
// build and newItem call it.
func Expose(prefix, server, name string) string {
	exposed, legal := name, legalName
	if prefix != "" {
		exposed, legal = prefix+separator+name, plainName
	}
	if legal.MatchString(exposed) {
		return exposed
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	suffix := "_" + hex.EncodeToString(sum[:])[:hashDigits]
	clean := sanitise(exposed)
	return clean[:min(len(clean), maxExposed-len(suffix))] + suffix
}

// sanitise replaces invalid characters of a name by underscores.
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

// nameProblem returns the reason why an item with this name is omitted, or "". Invisible
// characters in a name could deceive people.
func nameProblem(name string) string {
	switch {
	case name == "":
		return "it has no name"
	case len(name) > maxOriginal:
		return "its name is too long"
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return "its name has invisible characters"
		}
	}
	return ""
}
