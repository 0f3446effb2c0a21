package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// killTree ends pid and everything below it, the leaves last: a parent that is
// gone cannot start another child.
func killTree(pid int) {
	below := children(pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for _, child := range below {
		killTree(child)
	}
}

// children returns the processes whose parent is pid.
func children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(lists) == 0 {
		return childrenByScan(pid)
	}
	var pids []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread is gone
		}
		for word := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// look asks the kernel, in one call, what there is to learn about the children of
// this process: whether there are any, and whether one of them is dead and still
// to be waited for. To list them costs a hundred times as much.
func look() (any, dead bool) {
	const (
		idAll  = 0          // P_ALL of waitid
		ofKind = 0x40000000 // __WALL: whatever signal tells of their end
	)
	for {
		var info [128]byte // siginfo_t; it begins with the signal, none when nobody is dead
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
		return true, true // it does not say
	}
}

// childrenByScan is for kernels built without the list of children.
func childrenByScan(parent int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, ok := statOf(pid); ok && s.parent == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A stat is what the kernel says about a process.
type stat struct {
	parent, group, session int
	ending                 bool // on its way out
	dead                   bool // its children have other parents already
}

const flagExiting = 4 // PF_EXITING

func statOf(pid int) (stat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	// The name in parentheses may hold anything; the rest follows it.
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
