//go:build !linux

package main

import (
	"fmt"
	"os"
)

// launch reports that there is no sandbox on this system.
func launch(string, string, []string) {
	fmt.Fprintln(os.Stderr, "the sandbox exists on Linux only")
}
