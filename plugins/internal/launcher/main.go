// Command junctor-sandbox restricts itself as a description says and executes a
// program. Only package sdk/sandbox starts it.
//
//	junctor-sandbox RULES PROGRAM ARGV0 ARGUMENT…
//
// RULES is a sandbox.Rules as JSON. Descriptor 3 receives one byte when the
// restrictions hold, and an error report if the program cannot be executed.
package main

import (
	"fmt"
	"os"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// failed is the exit status if the program was not executed.
const failed = 126

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, sandbox.LauncherName+" is started by Junctor's plugins; it has no use on the command line")
		os.Exit(2)
	}
	launch(os.Args[1], os.Args[2], os.Args[3:])
	os.Exit(failed)
}
