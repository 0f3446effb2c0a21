//go:build unix

package httpserver

import "syscall"

// withPrivateUmask calls do while new files are accessible to this user only.
// That includes files that other goroutines create meanwhile. Listen calls it for a unix
// socket.
func withPrivateUmask(do func()) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	do()
}
