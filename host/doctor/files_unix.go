//go:build unix

package doctor

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// freeSpace returns the bytes that this user can still write to the disk of a directory.
func freeSpace(dir string) (free uint64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}

// readable reports whether other users can read a file.
func readable(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
