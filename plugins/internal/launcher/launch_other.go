//go:build !linux

package main

import "os"

// launch reports that there is no sandbox on this system.
func launch([]string) {
	_, _ = os.Stderr.WriteString("the sandbox exists on Linux only\n")
}
