package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/sdk/process"
)

// orphans returns the processes of this user that a junctor started which has ended.
func orphans() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue
		}
		for _, one := range bytes.Split(env, []byte{0}) {
			if run, ok := bytes.CutPrefix(one, []byte(process.RunVariable+"=")); ok && process.Gone(string(run)) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// nameOf returns the name of a process.
func nameOf(pid int) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	return strings.TrimSpace(string(text))
}
