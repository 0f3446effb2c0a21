package confine

import "syscall"

// procMagic is the type of procfs in statfs(2).
const procMagic = 0x9fa0

// procfs reports whether a directory belongs to procfs, wherever that is
// mounted.
func procfs(dir string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(dir, &s) == nil && s.Type == procMagic
}
