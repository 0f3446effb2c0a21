package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// killTree kills pid, then its descendants. A parent is killed before its
// children so that it cannot start more.
func killTree(pid int) {
	below := children(pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for _, child := range below {
		killTree(child)
	}
}

// children returns the processes whose parent is pid.
func children(pid int) []int {
	listed := false // the kernel lists children
	var pids []int
	for _, thread := range numbersIn(fmt.Sprintf("/proc/%d/task", pid)) {
		of, ok := childrenOf(pid, thread)
		listed = listed || ok
		pids = append(pids, of...)
	}
	if !listed {
		return childrenByScan(pid)
	}
	return pids
}

// adoptable returns the children of the first thread of this process, among
// them all adopted ones: the kernel gives an orphan to the first thread of the
// process that adopts it, and Go never ends that thread. A list of the children
// of all threads takes one read a thread, and a thread waits for each child.
func adoptable() []int {
	self := os.Getpid()
	if pids, ok := childrenOf(self, self); ok {
		return pids
	}
	return childrenByScan(self)
}

// childrenOf returns the children of one thread. It fails if the thread is gone
// or the kernel does not list children.
func childrenOf(pid, thread int) (pids []int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, thread))
	if err != nil {
		return nil, false
	}
	for word := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(word); err == nil {
			pids = append(pids, n)
		}
	}
	return pids, true
}

// childState reports whether this process has children, and whether one of them is a
// zombie. It takes one system call, which is a hundred times faster than
// listing them.
func childState() (any, dead bool) {
	const (
		idAll  = 0          // P_ALL of waitid
		ofKind = 0x40000000 // __WALL: include children that do not send SIGCHLD
	)
	for {
		var info [128]byte // siginfo_t; the first four bytes are the signal, 0 without a zombie
		_, _, errno := syscall.RawSyscall6(syscall.SYS_WAITID, idAll, 0, uintptr(unsafe.Pointer(&info)),
			syscall.WEXITED|syscall.WNOHANG|syscall.WNOWAIT|ofKind, 0, 0)
		switch errno {
		case syscall.EINTR:
			continue
		case syscall.ECHILD:
			return false, false
		case 0:
			return true, info[0]|info[1]|info[2]|info[3] != 0
		}
		return true, true // unknown error: assume both
	}
}

// childrenByScan returns the children of a process on kernels that do not list
// children.
func childrenByScan(parent int) []int {
	var pids []int
	for _, pid := range numbersIn("/proc") {
		if s, ok := statOf(pid); ok && s.parent == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A stat holds fields of /proc/PID/stat.
type stat struct {
	parent, group, session int
	ending                 bool // the process is exiting
	dead                   bool // zombie; its children have new parents
}

const flagExiting = 4 // PF_EXITING

func statOf(pid int) (stat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	// The name in parentheses may contain any character; the other fields
	// follow it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 7 {
		return stat{}, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(fields[i])
		return n
	}
	return stat{
		parent: number(1), group: number(2), session: number(3),
		ending: number(6)&flagExiting != 0, dead: fields[0] == "Z" || fields[0] == "X",
	}, true
}

// environment returns the environment of a process, or nil if it cannot be
// read.
func environment(pid int) []byte { return read(pid, "environ") }

const (
	killPoll = 2 * time.Millisecond
	execTime = 50 * time.Millisecond // for a process to execute its program
)

// environmentAfterExec returns the environment of a process. If the process is
// in exec, which hides the environment, it waits for the end of exec for at most
// execTime.
func environmentAfterExec(pid int) []byte {
	for begun := time.Now(); ; time.Sleep(killPoll) {
		env := environment(pid)
		if len(env) > 0 || time.Since(begun) > execTime {
			return env
		}
		if s, ok := statOf(pid); !ok || s.dead || s.ending {
			return nil
		}
	}
}

func read(pid int, file string) []byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return nil
	}
	return text
}
