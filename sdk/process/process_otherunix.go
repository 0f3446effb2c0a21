//go:build unix && !linux

package process

import "syscall"

// keepDescriptors keeps what this process inherited from those that it starts.
func keepDescriptors() { closeAllOnExec() }

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// releasedAttributes are those of a process that is let go: a session of its own,
// which no terminal ends.
func releasedAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
