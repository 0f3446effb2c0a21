//go:build !linux

package process

import "strconv"

func name(pid int) (string, error) { return strconv.Itoa(pid), nil }

// EndStale does nothing on this system.
func EndStale() {}

// Gone reports whether the host that a run is named after has certainly ended.
func Gone(run string) bool {
	pid, err := strconv.Atoi(run)
	return err == nil && !exists(pid)
}
