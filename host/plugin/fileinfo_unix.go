//go:build unix

package plugin

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUser reports whether a file belongs to the current user. debugattach.go calls it, and
// program.go calls sameVersion. The functions of this file are pure.
func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// sameVersion compares the attributes that change with every write. The writer cannot
// reset the change time.
func sameVersion(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changeTime(a) == changeTime(b)
}
