//go:build unix

package secret

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUser reports whether a file belongs to the user of this process. The functions of this
// file ask the system who can use a file, and keep no state; disk.go and passwordfile.go call
// them.
func ownedByUser(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}

func writableByOthers(info fs.FileInfo) bool   { return info.Mode().Perm()&0o022 != 0 }
func accessibleByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// private reports whether only this user and root can read a file. A file that root
// made for this user with an access list, as systemd does with credentials, has the
// mode 0040 of root's group.
func private(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return false
	}
	others := info.Mode().Perm() & 0o077
	return others == 0 || others == 0o040 && s.Uid == 0 && s.Gid == 0
}

// syncDir makes a rename durable. Without it a crash may bring back the old file.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// claimDescriptor takes over a descriptor that the parent process passed on, and
// marks it close-on-exec. A descriptor that already is close-on-exec was opened by
// this process, for example by the Go runtime. claimDescriptor returns nil for it,
// because its text must not become a password.
func claimDescriptor(fd int) *os.File {
	if flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno != 0 ||
		flags&syscall.FD_CLOEXEC != 0 {
		return nil
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil // not open
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "the descriptor of the password")
}
