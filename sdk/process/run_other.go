//go:build !linux

package process

import "strconv"

func started(pid int) string { return strconv.Itoa(pid) }

// EndStale does nothing on this system.
func EndStale() {}
