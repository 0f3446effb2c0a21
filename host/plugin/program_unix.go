//go:build unix

package plugin

import (
	"io/fs"
	"os"
	"syscall"
)

// sameVersion compares what changes whenever a file is written to. The change
// time cannot be set back by who wrote.
func sameVersion(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changeTime(a) == changeTime(b)
}

// writableByOthers says why others than the user and root could change path;
// empty means that they cannot. A directory with the sticky bit lets others
// add files but not replace ours; on a file the bit means nothing.
func writableByOthers(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "cannot be read"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if st.Uid != 0 && int(st.Uid) != os.Getuid() {
		return "belongs to another user"
	}
	if info.IsDir() && info.Mode()&fs.ModeSticky != 0 {
		return ""
	}
	if info.Mode().Perm()&0o002 != 0 {
		return "can be written to by everybody"
	}
	if info.Mode().Perm()&0o020 != 0 && int(st.Gid) != os.Getgid() && st.Gid != 0 {
		return "can be written to by another group"
	}
	return ""
}
