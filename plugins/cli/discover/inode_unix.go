//go:build unix

package discover

import (
	"os"
	"syscall"
)

// inode returns the inode number of a file.
func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
