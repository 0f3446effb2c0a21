//go:build unix

package plugin

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether a file belongs to this user.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
