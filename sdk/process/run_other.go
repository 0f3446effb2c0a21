//go:build !linux

package process

import (
	"os"
	"strconv"
	"syscall"
)

func name(pid int) (string, error) { return strconv.Itoa(pid), nil }

// EndStale does nothing on this system.
func EndStale() {}

// Gone reports whether the host that a run is named after has certainly ended.
func Gone(run string) bool {
	pid, err := strconv.Atoi(run)
	if err != nil {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return err != nil && !os.IsPermission(err)
}
