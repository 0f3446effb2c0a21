package control

import (
	"github.com/shirou/gopsutil/v4/process"
)

// A Use is what a process, or a process with its descendants, uses. It is a value. The
// functions of this file read the system and keep no state.
type Use struct {
	Memory uint64  // resident bytes; memory that processes share counts for each
	CPU    float64 // seconds of processor time
}

// UseOf returns what a process uses, without its children. What is not known is 0.
func UseOf(pid int) (u Use) {
	if pid <= 0 {
		return u
	}
	p := process.Process{Pid: int32(pid)}
	if t, err := p.Times(); err == nil {
		u.CPU = t.User + t.System
	}
	if m, err := p.MemoryInfo(); err == nil {
		u.Memory = m.RSS
	}
	return u
}

// maxDescendants bounds the processes that count for a server.
const maxDescendants = 1000

// A Tree has the processes of the machine by their parents, at one time. It is read-only once
// it was made.
type Tree map[int32][]int32

// Processes returns the processes of the machine. It takes some milliseconds.
func Processes() Tree {
	t := Tree{}
	pids, _ := process.Pids() // without any, a process counts alone
	for _, pid := range pids {
		if parent, err := (&process.Process{Pid: pid}).Ppid(); err == nil {
			t[parent] = append(t[parent], pid)
		}
	}
	return t
}

// UseOf returns what a process and its descendants use: launchers such as npx and uvx start
// the server as a child.
func (t Tree) UseOf(pid int) (sum Use) {
	if pid <= 0 {
		return sum
	}
	seen := map[int32]bool{int32(pid): true}
	for next := []int32{int32(pid)}; len(next) > 0; next = next[1:] {
		one := UseOf(int(next[0]))
		sum.Memory += one.Memory
		sum.CPU += one.CPU
		for _, child := range t[next[0]] {
			if !seen[child] && len(seen) < maxDescendants {
				seen[child] = true
				next = append(next, child)
			}
		}
	}
	return sum
}
