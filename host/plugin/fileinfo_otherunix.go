//go:build unix && !linux

package plugin

import (
	"io/fs"
	"time"
)

// sameVersion compares it (fileinfo_unix.go). It is pure.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
