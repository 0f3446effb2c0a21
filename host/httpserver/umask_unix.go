//go:build unix

package httpserver

import "syscall"

// privately does something while files that are made are the user's alone. Other
// files that are made meanwhile are too.
func privately(do func()) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	do()
}
