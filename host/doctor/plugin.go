package doctor

import (
	"context"
	"fmt"
	"strings"
)

// A Plugin is a plugin that the configuration uses.
type Plugin struct {
	Name      string
	Path      string
	SDK       string
	Protocols []int
	Bundled   bool
}

const together = "install the plugins and junctor of one release together; `junctor plugin list` shows where each plugin is"

// newer returns what to do about a plugin that is too old.
func (p Plugin) newer() string {
	if p.Bundled {
		return together
	}
	return fmt.Sprintf("install a newer version of %s, then run `junctor plugin list`; its authors run `go get github.com/junctor-mcp/junctor/sdk@latest`",
		p.Name)
}

// Plugins returns a check of the versions of plugins: none was built with an SDK older than
// that of Junctor, and the bundled ones not with a newer one. newest is the newest protocol
// between host and plugins.
func Plugins(all []Plugin, sdk string, newest int) Check {
	return Check{"plugins", func(context.Context) (found []Finding) {
		for _, p := range all {
			switch {
			case len(p.Protocols) > 0 && p.Protocols[0] < newest:
				found = append(found, Finding{Severity: Warning, Message: fmt.Sprintf(
					"plugin %s was built with an older SDK: it speaks protocol %d, and %d is the newest",
					p.Name, p.Protocols[0], newest,
				), At: p.Path, Remedy: p.newer()})
			case p.SDK != "" && older(p.SDK, sdk):
				found = append(found, Finding{Severity: Warning,
					Message: fmt.Sprintf("plugin %s was built with SDK %s, and this junctor with %s",
						p.Name, p.SDK, sdk),
					At: p.Path, Remedy: p.newer()})
			case p.Bundled && older(sdk, p.SDK):
				found = append(found, Finding{Severity: Warning,
					Message: fmt.Sprintf("plugin %s was built with SDK %s, and this junctor with %s",
						p.Name, p.SDK, sdk),
					At: p.Path, Remedy: together})
			}
		}
		return found
	}}
}

// older reports whether a version is older than another, by its first two numbers. A text
// without numbers is not.
func older(a, b string) bool {
	x, y, known := versionIn(strings.TrimPrefix(a, "v"))
	v, w, other := versionIn(strings.TrimPrefix(b, "v"))
	return known && other && (x < v || x == v && y < w)
}
