package clientimport

import (
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// badLabel matches what the name of a server cannot contain.
var (
	badLabel   = lazyregexp.New(`[^A-Za-z0-9_-]+`)
	separators = lazyregexp.New(`__+`)
)

// maxLabel is the maximum size of a name that is also a prefix.
const maxLabel = 40

// label returns a name as the name of a server, which is also its prefix: a letter, and up
// to 39 letters, digits, _ and -.
func label(name string) string {
	name = separators.ReplaceAllString(badLabel.ReplaceAllString(name, "-"), "_")
	name = strings.Trim(name, "-")
	if name == "" || !isLetter(name[0]) {
		name = "server-" + name
	}
	return strings.TrimRight(name[:min(len(name), maxLabel)], "-_")
}

// Label returns a name as one that a server can have.
func Label(name string) string { return label(name) }

// ValidName reports whether a name can be that of a server.
func ValidName(name string) bool { return name != "" && label(name) == name }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// labels returns the names that servers have here, by those in the file. Two names that become
// the same get numbers, in the order of the file; one that is valid stays.
func labels(names []string) map[string]string {
	all, used := map[string]string{}, map[string]bool{}
	for _, name := range names {
		if ValidName(name) {
			all[name], used[name] = name, true
		}
	}
	for _, name := range names {
		if all[name] != "" {
			continue
		}
		first := label(name)
		free := first
		for n := 2; used[free]; n++ {
			suffix := fmt.Sprintf("-%d", n)
			free = strings.TrimRight(first[:min(len(first), maxLabel-len(suffix))], "-_") + suffix
		}
		all[name], used[free] = free, true
	}
	return all
}

// shownName returns a name of the client's file as notes have it: printable letters of every
// script stay as they are.
func shownName(name string) string {
	if ValidName(name) {
		return name
	}
	return fmt.Sprintf("%q", name)
}
