//go:build !linux

// Package launch starts programs behind the wall of package sandbox.
package launch

import (
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Start starts a command without a wall. It fails if the rules are required.
func Start(r *sandbox.Rules, c process.Command) (*process.Process, error) {
	if r == nil {
		return process.Start(c)
	}
	if r.Required {
		return nil, &sandbox.UnsupportedError{Missing: "Landlock and seccomp, which exist on Linux only"}
	}
	c.Limits = r.Limits
	return process.Start(c)
}
