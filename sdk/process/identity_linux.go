package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// identity returns a unique name of a process: its id, its PID namespace and its
// start time.
func identity(pid int) (string, error) {
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

// short encodes a decimal number in base 36. Names are used in paths and must
// be short.
func short(number string) string {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return number
	}
	return strconv.FormatUint(n, 36)
}

// started returns the start time of a process in clock ticks since boot.
func started(pid int) (string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// The name in parentheses may contain any character; the other fields
	// follow it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const startTime = 22 - 3 // numbered from the state, the third field
	if len(fields) <= startTime {
		return "", fmt.Errorf("process %d: /proc shows %d fields", pid, len(fields))
	}
	return fields[startTime], nil
}

// numbersIn returns the numeric names in a directory of /proc.
func numbersIn(dir string) []int {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil // the process or thread has ended
	}
	var numbers []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// Gone reports whether the host with this name has certainly ended. It returns
// false for a host in another PID namespace, for example in a container,
// because process ids differ there. The host calls it to clean up after runs that were killed.
func Gone(run string) bool {
	number, _, _ := strings.Cut(run, ".")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return false
	}
	own, err := identity(os.Getpid())
	if err != nil || namespace(own) == "" || namespace(own) != namespace(run) {
		return false
	}
	now, err := identity(pid)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	return err == nil && now != run
}

// namespace returns the PID namespace in a name of a process.
func namespace(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}
