package configure

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
)

// stateWords are parts of the names of programs that keep a browser, a shell or a session
// between calls. It is lost when the server is closed because nothing used it.
var stateWords = []string{
	"playwright",
	"puppeteer",
	"chrome-devtools",
	"browser",
	"selenium",
	"desktop-commander",
	"terminal",
	"tmux",
	"jupyter",
}

// keepsState reports whether a command is that of a server that keeps something between calls.
func keepsState(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool {
		word = strings.ToLower(word)
		return !strings.HasPrefix(word, "-") &&
			slices.ContainsFunc(stateWords, func(w string) bool { return strings.Contains(word, w) })
	})
}

// noteState says how a server keeps what it has between calls. add calls it; it only prints a
// note.
func noteState(inv *invocation.Invocation, name string, command []string) {
	if keepsState(command) {
		inv.Remark(
			"%s may keep a page or a session between calls, and is closed after some minutes without one: write idle "+
				"= \"never\" in its block to keep it", name,
		)
	}
}
