package limit

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// groupMemory returns the lowest memory limit of the process's control groups in
// bytes, 0 where there is none. Both versions of control groups are read.
func groupMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	lowest := int64(0)
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		dir, file := "sys/fs/cgroup", "memory.max"
		switch {
		case fields[1] == "memory":
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case fields[1] != "":
			continue
		}
		if n := lowestOf(root, dir, file, fields[2]); n > 0 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	return lowest
}

// mostGroup is more than any machine has: version 1 writes such a number for no
// limit.
const mostGroup = 1 << 60

// lowestOf returns the lowest limit of a group and the groups around it. In a
// container the group's own path may not exist; the root then is the group.
func lowestOf(root fs.FS, dir, file, group string) (lowest int64) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		if text, err := fs.ReadFile(root, path.Join(dir, at, file)); err == nil {
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && n > 0 && n < mostGroup && (lowest == 0 || n < lowest) {
				lowest = n
			}
		}
		if at == "/" {
			return lowest
		}
	}
}
