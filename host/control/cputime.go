package control

import (
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// CPUTime returns the computing time that a process has used, or 0 if it is not known.
func CPUTime(pid int) time.Duration {
	if pid <= 0 {
		return 0
	}
	t, err := (&process.Process{Pid: int32(pid)}).Times()
	if err != nil {
		return 0
	}
	return time.Duration((t.User + t.System) * float64(time.Second))
}
