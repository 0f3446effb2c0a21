// Package listreader starts processes of their own that read the lists of servers, for clients
// that do not wait.
package listreader

import (
	"os"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// Verb is the hidden verb that reads the lists.
const Verb = "finish-lists"

// StartFor starts a process that reads the lists for a client that has a new entry, so that it
// need not wait for servers that are installed first.
func StartFor(inv *invocation.Invocation, t clientconfig.Target) {
	if t.Local() && len(t.Command) > 2 {
		Start(inv, t.Command[2:])
	}
}

// Start starts the process for the configuration that the flags name. The process continues
// after this one has ended.
func Start(inv *invocation.Invocation, flags []string) {
	program, err := os.Executable()
	if err != nil {
		return
	}
	_, err = process.Start(process.Command{
		Path:    program,
		Args:    append([]string{program, Verb}, flags...),
		Env:     os.Environ(),
		Release: true,
	})
	if err != nil {
		inv.Log.Debug("the lists of servers are not read to the end", "error", err)
	}
}
