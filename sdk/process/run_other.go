//go:build !linux

package process

import "strconv"

func name(pid int) (string, error) { return strconv.Itoa(pid), nil }

// EndStale does nothing on this system.
func EndStale() {}
