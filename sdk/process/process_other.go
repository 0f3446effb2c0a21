//go:build !linux

package process

import (
	"errors"
	"os"
	"strconv"
	"time"
)

// Only Linux has a parent death signal, subreapers and the execution of an open
// file. Elsewhere processes end through the lifeline on standard input and
// their group. On Windows a job object takes the place of the group.

func openedPath(_ *os.File, path string) string { return path }

// reap waits for the end of p and kills the rest of its group. This system does
// not report the end before the id of p is free, so the group is killed
// afterwards.
func (p *Process) reap() {
	p.state, _ = p.proc.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.free {
		p.group.kill()
	}
	p.reaped = true
}

// Adopt does nothing on this system.
func Adopt() error { return nil }

// EndAdopted does nothing on this system.
func EndAdopted() {}

func endAdopted(string, uint64) {}

// EndAll kills the group of every process started here and waits for them for
// at most d.
func EndAll(d time.Duration) {
	mu.Lock()
	var all []*Process
	for _, p := range tracked {
		if !p.free {
			all = append(all, p)
		}
	}
	mu.Unlock()
	for _, p := range all {
		p.Kill()
	}
	deadline := time.Now().Add(d)
	for _, p := range all {
		p.Wait(time.Until(deadline))
	}
}

func identity(pid int) (string, error) { return strconv.Itoa(pid), nil }

// namespace returns "": this system has no PID namespaces.
func namespace(string) string { return "" }

// EndStale does nothing on this system.
func EndStale() {}

// Gone reports whether the host with this name has certainly ended.
func Gone(run string) bool {
	pid, err := strconv.Atoi(run)
	return err == nil && !exists(pid)
}

func (l Limits) set(int) error {
	if l != (Limits{}) {
		return errors.New("limits for processes are supported on Linux only")
	}
	return nil
}
