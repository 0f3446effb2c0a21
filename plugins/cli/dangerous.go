package main

import (
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/sdk"
)

// mostNamed is how many commands a message names.
const mostNamed = 12

// spelled lists commands for a message.
func spelled(skipped []danger.Finding) string {
	var all []string
	for i, f := range skipped {
		if i == mostNamed {
			all = append(all, "…")
			break
		}
		all = append(all, strings.Join(f.Command, " "))
	}
	return strings.Join(all, ", ")
}

// allDangerous is the error of a program of which nothing is offered.
func allDangerous(program string, skipped []danger.Finding) error {
	f := skipped[0]
	why := f.Effect.String()
	if source := strings.TrimSuffix(f.Evidence, "; tried"); source != "" {
		why += ": " + source
	}
	e := sdk.AttrErrorf("dangerous", "nothing of %s is offered: %s is dangerous (%s)", program, strings.Join(f.Command, " "), why)
	command := strings.Join(f.Command, " ")
	e.Hint = "write tool blocks with fixed arguments, or allow it with dangerous = [\"" + command + "\"] (junctor wrap --dangerous \"" + command + "\")"
	return e
}
