package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The functions here read /proc. On systems other than Linux they return
// nothing.

// tick is a clock tick of /proc, which is 100 a second on every system.
const tick = 10 * time.Millisecond

// tree returns pid and its descendants, without the echo servers.
func tree(pid int) []int {
	return slices.DeleteFunc(family(pid), func(p int) bool { return nameOf(p) == "bench-echo" })
}

func nameOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}

// family returns pid and its descendants.
func family(pid int) []int {
	below := map[int][]int{}
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, path := range entries {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		below[parent] = append(below[parent], child)
	}
	var all []int
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, below[queue[0]]...)
	}
	return all
}

// treeCPU returns the processor time of a tree.
func treeCPU(pid int) time.Duration {
	var sum time.Duration
	for _, p := range tree(pid) {
		sum += oneCPU(p)
	}
	return sum
}

// oneCPU returns the processor time of a process.
func oneCPU(pid int) time.Duration {
	if exact := threadCPU(pid); exact > 0 {
		return exact
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var sum time.Duration
	for _, f := range fields[11:13] { // user and system
		if n, err := strconv.ParseInt(f, 10, 64); err == nil {
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// threadCPU returns the sum over the threads of a process, in nanoseconds. Go
// programs seldom end a thread, whose time would be missing. It is 0 on a system
// that does not count.
func threadCPU(pid int) (sum time.Duration) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			sum += time.Duration(n)
		}
	}
	return sum
}

// familyCPU returns the processor time of this process and its descendants.
func familyCPU() time.Duration {
	var sum time.Duration
	for _, p := range family(os.Getpid()) {
		sum += oneCPU(p)
	}
	return sum
}

// busyCPU returns the processor time of the whole machine.
func busyCPU() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var sum time.Duration
	for i, f := range strings.Fields(line) {
		// user, nice, system, idle, iowait, irq, softirq, steal. Idle and
		// iowait do not count.
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i <= 8 && i != 4 && i != 5 {
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// treePSS returns the memory of a tree in KiB. Shared pages count once.
func treePSS(pid int) int {
	sum := 0
	for _, p := range tree(pid) {
		sum += onePSS(p)
	}
	return sum
}

// onePSS returns the memory of a process in KiB.
func onePSS(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}
