package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// started is when a process began, in clock ticks since the machine did: with
// its number it names a process for good. It is empty when there is none.
func started(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything; the rest follows it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const startTime = 22 - 3 // numbered from the state, the third field
	if len(fields) <= startTime {
		return ""
	}
	return fields[startTime]
}

// EndStale ends the processes of hosts that are gone: what a host left behind
// that was killed together with its plugins. It looks at every process of this
// user, which takes a few milliseconds.
func EndStale() {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return
	}
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil {
			continue // another user's, or gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && stale(env) {
			killTree(pid)
		}
	}
}

// stale reports whether an environment names a host that is gone.
func stale(env []byte) bool {
	_, rest, found := bytes.Cut(append([]byte{0}, env...), []byte("\x00"+RunVariable+"="))
	if !found {
		return false
	}
	run, _, _ := bytes.Cut(rest, []byte{0})
	number, start, ok := strings.Cut(string(run), ".")
	pid, err := strconv.Atoi(number)
	return ok && err == nil && start != "" && started(pid) != start
}
