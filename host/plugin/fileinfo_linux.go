package plugin

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

func changeTime(info fs.FileInfo) syscall.Timespec {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim
	}
	return syscall.Timespec{}
}

// fileVersion identifies a file and its content. A writer cannot reset the change time. ok is
// false if the system does not tell. This file and its siblings tell whether a program's file
// has changed.
func fileVersion(info fs.FileInfo) (version string, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%d.%d.%d.%d.%d.%d.%d", st.Dev, st.Ino, st.Size, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec,
		st.Ctim.Nsec), true
}

// lastChange returns the later of the modification time and the change time. The functions of
// this file are pure.
func lastChange(info fs.FileInfo) time.Time {
	at := changeTime(info)
	changed := time.Unix(at.Unix())
	if info.ModTime().After(changed) {
		return info.ModTime()
	}
	return changed
}
