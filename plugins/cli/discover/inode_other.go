//go:build !unix

package discover

import "os"

// inode returns 0: this system has no inode numbers in package syscall.
func inode(os.FileInfo) uint64 { return 0 }
