package process

import "os"

// exists reports whether there is a process of this number: only one that is
// there can be opened.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
