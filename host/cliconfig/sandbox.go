package cliconfig

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Sandbox returns the block sandbox that the usual tasks of a known program need, as
// JSON, or nil if it needs none.
func Sandbox(command []string) json.RawMessage {
	block := map[string]bool{}
	for _, need := range sandbox.Needs(command) {
		switch need.Kind {
		case sandbox.NetworkNeed, sandbox.UnixSocketsNeed:
			block[string(need.Kind)] = true
		case sandbox.ReadNeed, sandbox.WriteNeed, sandbox.CacheNeed: // granted without a block
		}
	}
	if len(block) == 0 {
		return nil
	}
	text, err := json.Marshal(block)
	if err != nil {
		panic(err) // booleans can always be encoded
	}
	return text
}

// SandboxLines says what a program may reach beside the system and cwd, and which
// rules work on this machine.
func SandboxLines(command []string, support sandbox.Support) []string {
	lines := []string{"sandbox: " + support.String() + "; what a call needs beyond it, its error names"}
	for _, need := range sandbox.Needs(command) {
		switch need.Kind {
		case sandbox.CacheNeed:
			lines = append(lines, fmt.Sprintf("sandbox: it may write %s, a cache of its own (%s)",
				strings.Join(need.Paths, ", "), need.Reason))
		case sandbox.ReadNeed, sandbox.WriteNeed:
			lines = append(lines,
				fmt.Sprintf("sandbox: it may %s %s (%s)", need.Kind, strings.Join(need.Paths, ", "), need.Reason))
		case sandbox.NetworkNeed, sandbox.UnixSocketsNeed:
			lines = append(lines,
				fmt.Sprintf("sandbox: %s, because %s; remove it where that is not needed", need.Kind, need.Reason))
		}
	}
	return lines
}
