package doctor

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadLimits returns the limits of this process and system.
func ReadLimits() Limits {
	l := Limits{Watches: number("/proc/sys/fs/inotify/max_user_watches"),
		WatchInstances: number("/proc/sys/fs/inotify/max_user_instances")}
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		// Go raises the soft limit of its own process to the hard one, so that one counts.
		l.Files, l.HardFiles = files.Cur, files.Max
	}
	return l
}

// number returns the number in a file, or 0.
func number(path string) uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n
}
