package plugin

import (
	"io/fs"
	"syscall"
)

func changeTime(info fs.FileInfo) syscall.Timespec {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim
	}
	return syscall.Timespec{}
}
