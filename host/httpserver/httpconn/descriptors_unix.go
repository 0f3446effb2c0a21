//go:build unix

package httpconn

import "syscall"

// maxDescriptors is more than any process has.
const maxDescriptors = 1 << 30

// descriptors returns how many files the process may have open, or 0 if that is
// not known. Go raises the soft limit to the hard one at the start. newLimiter calls it once
// for each listener.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), maxDescriptors))
}
