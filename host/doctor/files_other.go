//go:build !unix

package doctor

import "io/fs"

// freeSpace is not known on this system.
func freeSpace(string) (free uint64, ok bool) { return 0, false }

// readable is not known on this system: modes are not permissions.
func readable(fs.FileInfo) bool { return false }

// foreign is not known on this system.
func foreign(string) string { return "" }
