//go:build unix && !linux

package plugin

import (
	"io/fs"
	"time"
)

func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
