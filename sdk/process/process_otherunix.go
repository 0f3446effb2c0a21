//go:build unix && !linux

package process

import (
	"errors"
	"syscall"
)

// keepDescriptors keeps children from inheriting open files.
func keepDescriptors() { closeAllOnExec() }

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// releasedAttributes returns the attributes of a released process: it gets its
// own session, so that closing a terminal does not end it.
func releasedAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// exists reports whether a process with this id exists, whatever user it
// belongs to.
func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
