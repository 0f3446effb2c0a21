package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
