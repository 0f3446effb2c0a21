package plugintest

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

func ownResources() resources {
	r := resourcesOf(os.Getpid())
	r.goroutines = goroutines()
	return r
}

// resourcesOf returns the resources of another process, without the files that
// the Go runtime opens.
func resourcesOf(pid int) resources {
	r := resources{descriptors: map[string]int{}, children: descendants(pid)}
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		target, err := os.Readlink(dir + e.Name())
		if err == nil && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "/sys/") &&
			!strings.HasPrefix(target, "anon_inode:") {
			r.descriptors[target]++
		}
	}
	return r
}

// descendants returns the living descendants of a process.
func descendants(pid int) []int {
	parents := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(n); ok {
			parents[n] = parent
		}
	}
	var below []int
	for found := []int{pid}; len(found) > 0; {
		var next []int
		for child, parent := range parents {
			if slices.Contains(found, parent) {
				next = append(next, child)
			}
		}
		below = append(below, next...)
		found = next
	}
	return below
}

// parentOf returns the parent of a living process.
func parentOf(pid int) (int, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// living returns the processes among pids that still live.
func living(pids []int) []int {
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		_, ok := parentOf(pid)
		return !ok
	})
}
