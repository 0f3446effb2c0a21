//go:build unix

package httpserver

import "syscall"

// mostKnown is more descriptors than any process has.
const mostKnown = 1 << 30

// descriptors returns how many files the process may have open, 0 if that is not
// known. Go has raised the soft limit to the hard one at the start.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), mostKnown))
}
