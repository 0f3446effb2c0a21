//go:build unix

// Package ownership reports files and directories that another user could change. A
// user who can change a configuration, a plugin or a directory of sockets can run
// programs with the rights of its owner.
package ownership

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Private reports whether a directory belongs to the current user and no other user has
// access to it.
func Private(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// Exposed returns why a user other than the current one and root could change the file
// or directory at path, and the command that corrects it. Both are empty if no such
// user could. The user's own group may write. The sticky bit protects the entries of a
// directory and has no effect on a file. A path that cannot be read is exposed.
func Exposed(path string) (why, command string) {
	info, err := os.Stat(path)
	if err != nil {
		return "cannot be read", "ls -ld"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	own := st.Uid == 0 || int(st.Uid) == os.Getuid()
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	switch {
	case !own && !(sticky && info.Mode().Perm()&0o002 != 0):
		return fmt.Sprintf("belongs to the user %d", st.Uid), fmt.Sprintf("chown %d", os.Getuid())
	case sticky:
		return "", ""
	case info.Mode().Perm()&0o002 != 0:
		return "can be written to by everybody", "chmod go-w"
	case info.Mode().Perm()&0o020 != 0 && st.Gid != 0 && int(st.Gid) != os.Getgid():
		return "can be written to by another group", "chmod g-w"
	}
	return "", ""
}

// Own reports whether a file, and the file that it leads to if it is a link, belongs to the current
// user.
func Own(path string) bool {
	link, err := os.Lstat(path)
	if err != nil {
		return false
	}
	target, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, info := range []os.FileInfo{link, target} {
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
			return false
		}
	}
	return true
}

// SameDevice reports whether two directories are in one file system.
func SameDevice(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	if err != nil {
		return false
	}
	x, ok := one.Sys().(*syscall.Stat_t)
	y, also := two.Sys().(*syscall.Stat_t)
	return ok && also && x.Dev == y.Dev
}

// Unmanaged returns why a user other than root could change the file or directory at path,
// or "" if none could.
func Unmanaged(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "cannot be read"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case !ok:
		return ""
	case st.Uid != 0:
		return fmt.Sprintf("belongs to the user %d, not to root", st.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return "can be written to by others than root"
	}
	return ""
}

// Readable returns why a user other than the current one could read or change the file or
// directory at path, which may not be a link, and the command that corrects it. Both are
// empty if no such user but root could. A path that cannot be read is reported.
func Readable(path string) (why, command string) {
	info, err := os.Lstat(path)
	if err != nil {
		return "cannot be read", "ls -ld"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular() && !info.IsDir():
		return "is neither a regular file nor a directory", "rm"
	case !ok:
		return "", ""
	case int(st.Uid) != os.Getuid():
		return fmt.Sprintf("belongs to the user %d", st.Uid), fmt.Sprintf("chown %d", os.Getuid())
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Sprintf("can be read or changed by others (mode %#o)", info.Mode().Perm()), "chmod go-rwx"
	}
	return "", ""
}
