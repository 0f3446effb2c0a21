//go:build !linux

package doctor

// holder is not known on this system.
func holder(string) (pid int, name string) { return 0, "" }
