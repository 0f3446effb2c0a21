//go:build unix

package ownership

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Exposed says why another user than this one and root could change the file or
// directory at path, and the command that ends it; both are empty when none
// could. In a directory with the sticky bit others can replace nothing; on a
// file the bit means nothing. The user's own group may write.
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
