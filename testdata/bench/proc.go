package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The functions here read /proc; elsewhere than on Linux they find nothing.

// tick is a clock tick of /proc, which is 100 a second on every system there is.
const tick = 10 * time.Millisecond

// tree returns pid and everything below it, without the echo servers.
func tree(pid int) []int {
	below := map[int][]int{}
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	names := map[int]string{}
	for _, path := range entries {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		name, rest, ok := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		_, names[child], _ = strings.Cut(name, "(")
		below[parent] = append(below[parent], child)
	}
	var all []int
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		if names[queue[0]] != "bench-echo" {
			all = append(all, queue[0])
		}
		queue = append(queue, below[queue[0]]...)
	}
	return all
}

// treeCPU is the processor time that a tree has used.
func treeCPU(pid int) time.Duration {
	var sum time.Duration
	for _, p := range tree(pid) {
		sum += oneCPU(p)
	}
	return sum
}

// oneCPU is the processor time that one process has used.
func oneCPU(pid int) time.Duration {
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

// treePSS is the memory of a tree in KiB, shared pages counted once.
func treePSS(pid int) int {
	sum := 0
	for _, p := range tree(pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				n, err := strconv.Atoi(strings.Fields(rest)[0])
				if err == nil {
					sum += n
				}
			}
		}
	}
	return sum
}
