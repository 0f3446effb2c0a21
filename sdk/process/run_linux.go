package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// name gives a process a name that no other has: its number, where numbers of
// processes mean that (its PID namespace), and when it started.
func name(pid int) (string, error) {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	begun, err := started(pid)
	if err != nil {
		return "", err
	}
	space = strings.TrimSuffix(strings.TrimPrefix(space, "pid:["), "]")
	return fmt.Sprintf("%d.%s.%s", pid, short(space), short(begun)), nil
}

// short writes a number with fewer characters: names stand in paths.
func short(number string) string {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return number
	}
	return strconv.FormatUint(n, 36)
}

// started is when a process began, in clock ticks since the machine did.
func started(pid int) (string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// The name in parentheses may hold anything; the rest follows it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const startTime = 22 - 3 // numbered from the state, the third field
	if len(fields) <= startTime {
		return "", fmt.Errorf("process %d: /proc shows %d fields", pid, len(fields))
	}
	return fields[startTime], nil
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
	run, _, _ := bytes.Cut(rest, []byte{0})
	return found && Gone(string(run))
}

// Gone reports whether the host that a run is named after has certainly ended.
// That of a host in another container, say, whose number means something else
// there, is not certain.
func Gone(run string) bool {
	number, _, _ := strings.Cut(run, ".")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return false
	}
	own, err := name(os.Getpid())
	if err != nil || space(own) == "" || space(own) != space(run) {
		return false
	}
	now, err := name(pid)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	return err == nil && now != run
}

// space is the PID namespace in a name.
func space(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}
