package process

import (
	"syscall"
	"time"
	"unsafe"
)

// limitProcesses is RLIMIT_NPROC, which package syscall lacks. MIPS has another
// number, but Junctor does not support MIPS.
const limitProcesses = 6

// A Resource is one limit in the terms of setrlimit(2).
type Resource struct {
	Resource int
	Most     uint64
}

// Resources returns the limits that are set. Start sets them for a child; package sandbox/launch
// passes them to its launcher, which sets the same ones for itself in the same way before it
// executes the program.
func (l Limits) Resources() []Resource {
	var set []Resource
	for _, r := range []Resource{
		{syscall.RLIMIT_CPU, uint64((l.CPU + time.Second - 1) / time.Second)},
		{syscall.RLIMIT_AS, l.Memory},
		{syscall.RLIMIT_NOFILE, l.Files},
		{limitProcesses, l.Processes},
	} {
		if r.Most > 0 {
			set = append(set, r)
		}
	}
	return set
}

// set limits a process that was just started. Go cannot set limits in the child
// between fork and exec. Start calls it with mu held.
func (l Limits) set(pid int) error {
	for _, r := range l.Resources() {
		if err := limit(pid, r.Resource, r.Most); err != nil {
			return err
		}
	}
	return nil
}

// limit sets one limit, soft and hard. It never raises the hard one. It succeeds for a process that
// has ended.
func limit(pid, resource int, most uint64) error {
	var now syscall.Rlimit
	if err := prlimit(pid, resource, nil, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return prlimit(pid, resource, &syscall.Rlimit{Cur: most, Max: most}, nil)
}

func prlimit(pid, resource int, set, old *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(resource),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 0, 0)
	if errno != 0 && errno != syscall.ESRCH {
		return errno
	}
	return nil
}
