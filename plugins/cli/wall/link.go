package wall

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// follow returns the path that a path leads to, without links. It fails if the path leads
// out of a directory by a link in it that a tool, of this program or of another server's, can
// have made. Each link is read once: a tool may change it meanwhile. What is granted must be
// the returned path, which the launcher opens only if it still has no links. The Wall calls it.
func (w *Wall) follow(path string) (string, error) {
	real, links, err := sandbox.Walk(path)
	if err != nil {
		return "", err
	}
	if len(links) == 0 || runtime.GOOS == "windows" { // nothing is enforced there
		return real, nil
	}
	for _, dir := range slices.Concat([]string{w.o.Dir}, w.write, w.o.Changeable) {
		dir := sandbox.Resolve(dir)
		for _, link := range links {
			if sandbox.Within(link, dir) && real != dir && !sandbox.Within(real, dir) {
				return "",
					fmt.Errorf("the link %s leads to %s, and a tool can make such links in %s; write the path that it leads to",
						link, real, dir)
			}
		}
	}
	return real, nil
}

// around is sandbox.Around for a path without links. It fails if a link took its place.
func around(real string, forbidden []string) (sandbox.Grant, error) {
	g, err := sandbox.Around(real, forbidden)
	for _, path := range g.Paths {
		if path != real && !sandbox.Within(path, real) {
			return sandbox.Grant{}, fmt.Errorf("a link took the place of %s", real)
		}
	}
	return g, err
}
