//go:build !linux

package confine

// procfs reports whether a directory belongs to procfs. Other systems have it
// at /proc only, if at all.
func procfs(string) bool { return false }
