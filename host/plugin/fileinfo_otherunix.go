//go:build unix && !linux

package plugin

import (
	"io/fs"
	"time"
)

// changeTime returns the time of the last change of the file or its attributes. sameVersion
// compares it (fileinfo_unix.go). It is pure.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
