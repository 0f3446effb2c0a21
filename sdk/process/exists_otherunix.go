//go:build unix && !linux

package process

import (
	"errors"
	"syscall"
)

// exists reports whether there is a process of this number, whoever it belongs
// to.
func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
