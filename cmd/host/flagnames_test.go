package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
)

// TestValuesOfFlagsHaveNames: the help names the value of each flag in capitals, such as
// --config PATH, and not by its type in Go.
func TestValuesOfFlagsHaveNames(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		named := func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); name != strings.ToUpper(name) && !f.Hidden {
				t.Errorf("%s: the value of --%s is called %q", cmd.CommandPath(), f.Name, name)
			}
		}
		cmd.LocalFlags().VisitAll(named)
		for _, verb := range cmd.Commands() {
			check(verb)
		}
	}
	check(withCompletion(root(invocation.New(version, managedPath))))
}
