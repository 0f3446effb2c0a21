package doctor

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holder returns the process that listens at a TCP port, and 0 if it is not known, for
// example because it belongs to another user.
func holder(port string) (pid int, name string) {
	number, err := strconv.Atoi(port)
	if err != nil {
		return 0, ""
	}
	inodes := listening(number)
	if len(inodes) == 0 {
		return 0, ""
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if hasSocket(id, inodes) {
			text, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "comm"))
			return id, strings.TrimSpace(string(text))
		}
	}
	return 0, ""
}

// listening returns the inodes of the sockets that listen at a port.
func listening(port int) (inodes []string) {
	const stateListen = "0A"
	for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && fields[3] == stateListen && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
				inodes = append(inodes, "socket:["+fields[9]+"]")
			}
		}
		_ = f.Close()
	}
	return inodes
}

func hasSocket(pid int, inodes []string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		return err == nil && slices.Contains(inodes, to)
	})
}
