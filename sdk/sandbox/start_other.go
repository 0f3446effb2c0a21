//go:build !linux

package sandbox

import "github.com/junctor-mcp/junctor/sdk/process"

// Probe returns what this system can enforce: nothing, because the wall exists on
// Linux only.
func Probe() Support { return Support{} }

// Start starts a command without a wall. It fails if the rules are required.
func (r *Rules) Start(c process.Command) (*process.Process, error) {
	if r == nil {
		return process.Start(c)
	}
	if r.Required {
		return nil, &UnsupportedError{Missing: "Landlock and seccomp, which exist on Linux only"}
	}
	c.Limits = r.Limits
	return process.Start(c)
}
