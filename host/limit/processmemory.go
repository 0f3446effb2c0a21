package limit

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// The Go runtime does not count the program itself, of which about programMemory is
// resident, nor some of its own memory. It may also exceed its limit for a moment while
// large messages are read.
const (
	uncountedPart = 8 // divisor of the process's memory
	programMemory = 34 << 20
)

// Plugins and servers are in the control group of the process, and need a part of its memory.
const (
	defaultShare = 2 // divisor of the group's memory for a process without a configured limit
	leastRest    = 4 // divisor of the group's memory that a configured limit leaves
	pluginShare  = 4 // divisor of the group's memory for each plugin process
	leastPlugin  = 32 << 20
)

// ProcessMemory returns how many bytes the process may use: most, or less if its control
// group or GOMEMLIMIT allows less. It leaves half of the group to plugins and servers, or a
// quarter if most is configured. The functions of this file read the system; only SetGoMemory
// changes something, for the whole process. Package host calls them at the start and at
// reloads; they do not wait.
func ProcessMemory(most int64, configured bool) int64 {
	most = partOf(groupMemory(os.DirFS("/")), most, configured)
	if os.Getenv("GOMEMLIMIT") != "" {
		most = min(most, debug.SetMemoryLimit(-1)) // a negative limit only reads it
	}
	return most
}

// partOf returns the part of a control group for the process; 0 is no limit of the group.
func partOf(group, most int64, configured bool) int64 {
	switch {
	case group == 0:
		return most
	case configured:
		return min(most, group-group/leastRest)
	}
	return min(most, group/defaultShare)
}

// PluginMemory returns the soft limit of a plugin process in bytes, or 0 if the control group
// has no limit.
func PluginMemory() int64 { return pluginPart(groupMemory(os.DirFS("/"))) }

func pluginPart(group int64) int64 {
	if group == 0 {
		return 0
	}
	return max(group/pluginShare, leastPlugin)
}

// SetGoMemory sets the soft limit of the Go runtime so that the process stays
// within most bytes. A GOMEMLIMIT in the environment takes precedence. It
// returns the limit that holds.
func SetGoMemory(most int64) int64 {
	if os.Getenv("GOMEMLIMIT") == "" && most > 0 && most < math.MaxInt64 {
		uncounted := min(max(most/uncountedPart, programMemory), most/2)
		debug.SetMemoryLimit(most - uncounted)
	}
	return debug.SetMemoryLimit(-1)
}

// groupMemory returns the lowest memory limit of the process's control groups
// in bytes, or 0 if there is none. It reads both versions of control groups.
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
		if n := lowestLimit(root, dir, file, fields[2]); n > 0 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	return lowest
}

// maxGroupMemory is more than any machine has. Version 1 writes such a number
// for no limit.
const maxGroupMemory = 1 << 60

// lowestLimit returns the lowest limit of a group and of its ancestors, or 0 if
// there is none. In a container the group's own path may not exist. The mounted
// root is the group then.
func lowestLimit(root fs.FS, dir, file, group string) (lowest int64) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		if text, err := fs.ReadFile(root, path.Join(dir, at, file)); err == nil {
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && n > 0 && n < maxGroupMemory && (lowest == 0 || n < lowest) {
				lowest = n
			}
		}
		if at == "/" {
			return lowest
		}
	}
}
