//go:build !linux

package process

import (
	"os"
	"time"
)

// Only Linux has a death signal, foster parents and the execution of an open
// file. Elsewhere the lifeline on standard input and the group (on Windows the
// job object) are what ends processes.

func openedPath(_ *os.File, path string) string { return path }

// reap waits for the end of p and ends what is left of its group. Nothing here
// tells of the end before its number is free, so the group comes second.
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

func endAdopted(string) {}

// EndAll ends the group of every process started here, at most for d.
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
