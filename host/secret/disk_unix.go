//go:build unix

package secret

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to who runs this program.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}

func othersWrite(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
func othersTouch(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// private reports whether nobody but us and root has a file. One that root made
// for this user by an access list, as systemd does with credentials, looks as if
// root's group could read it.
func private(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return false
	}
	others := info.Mode().Perm() & 0o077
	return others == 0 || others == 0o040 && s.Uid == 0 && s.Gid == 0
}

// syncDir makes a rename last. What it costs to lose one is the old file.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// claimDescriptor takes a descriptor that was given to this program, so that
// no program it starts gets it. One that closes when a program starts was not
// given but opened here: Go itself has some open from the beginning, and the
// text in one of them must not become a password.
func claimDescriptor(fd int) *os.File {
	if flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno != 0 || flags&syscall.FD_CLOEXEC != 0 {
		return nil
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil // there is none
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "the descriptor of the password")
}
