//go:build unix

package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

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

// foreign returns why a file, or a symbolic link on the way to it, belongs to another user; ""
// if nothing does.
func foreign(path string) string {
	own := uint32(os.Getuid())
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return reason(err)
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; info.Mode()&fs.ModeSymlink != 0 && owner != own && owner != 0 {
			return fmt.Sprintf("%s is a link of the user %d", at, owner)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return reason(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != own {
		return fmt.Sprintf("%s belongs to the user %d", path, owner)
	}
	return ""
}
