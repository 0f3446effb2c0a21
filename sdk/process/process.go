// Package process starts programs that cannot outlive the program that
// started them.
//
// Every process gets a group of its own. On Linux it also gets a death signal,
// and [Adopt] makes this process the foster parent of whatever its
// descendants leave behind, so that a daemon which forked twice is still found
// and ended. All forks come from one goroutine that never leaves its thread,
// because the death signal follows the thread that forked, not the process.
//
// The host starts plugins with it and plugins start MCP servers with it; no
// other package of Junctor starts processes.
package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// MarkVariable is set in the environment of every process started here, to a
// value of its own, so that what it leaves behind can be told apart.
const MarkVariable = "JUNCTOR_SPAWN"

// A Command is what to start.
type Command struct {
	Path string   // the executable
	File *os.File // when set and the system can, this open file is executed instead of Path
	Args []string // the whole argument list, beginning with the program's name
	Env  []string // the whole environment; [MarkVariable] is added
	Dir  string

	Stdin, Stdout, Stderr *os.File // nil is the null device

	// Soft asks for SIGTERM instead of SIGKILL when this process dies, for
	// programs that clean up after themselves.
	Soft bool

	// Release lets the process go as soon as it runs: a browser that a person
	// goes on using. Neither the end of this program nor anything in this
	// package ends it or what it starts, and [Process.Kill] does nothing to it.
	Release bool

	// Limits bound what the process may use. They are set right after the
	// start, before which the program may have run for some microseconds; what
	// it starts later has them too. Only Linux has them: elsewhere Start fails
	// when there are any.
	Limits Limits
}

// Limits are resources that each process of a command may use at most; 0 is no
// limit of ours.
type Limits struct {
	CPU       time.Duration // of computing; in whole seconds, rounded up
	Memory    uint64        // bytes of address space
	Files     uint64        // open at the same time
	Processes uint64        // of this user in all, which the system does not hold against root
}

// A Process is a started command. Its methods may be called concurrently.
type Process struct {
	mark  string
	proc  *os.Process
	group group // nothing for one that was released
	free  bool  // it was released
	done  chan struct{}
	state *os.ProcessState // valid once done is closed

	mu     sync.Mutex
	reaped bool // guarded by mu; its number may be somebody else's by now
}

var (
	spawner sync.Once
	starts  = make(chan func())

	mu      sync.Mutex
	tracked = map[int]*Process{} // guarded by mu; what this package waits for
	marks   atomic.Uint64
)

// onSpawner runs f on the thread that all forks come from. The goroutine lives
// as long as the program: its end would send every child its death signal.
func onSpawner(f func()) {
	spawner.Do(func() {
		go func() {
			runtime.LockOSThread()
			for f := range starts {
				f()
			}
		}()
	})
	done := make(chan struct{})
	starts <- func() { defer close(done); f() }
	<-done
}

// Start starts a command.
func Start(c Command) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	files := []*os.File{c.Stdin, c.Stdout, c.Stderr}
	for i, f := range files {
		if f == nil {
			files[i] = null
		}
	}
	p := &Process{
		mark: fmt.Sprintf("%d.%d.%d", os.Getpid(), time.Now().UnixNano(), marks.Add(1)),
		done: make(chan struct{}), free: c.Release,
	}
	attr := &os.ProcAttr{Dir: c.Dir, Files: files, Sys: attributes(c.Soft), Env: append([]string(nil), c.Env...)}
	if c.Release {
		attr.Sys, p.mark = releasedAttributes(), releasedMark
		released.Store(true)
	} else {
		attr.Env = handOn(attr.Env)
	}
	attr.Env = append(attr.Env, MarkVariable+"="+p.mark)
	path := c.Path
	if c.File != nil {
		path = openedPath(c.File, path)
	}
	var limited error
	onSpawner(func() {
		keepDescriptors()
		// The lock is held so that the reaper does not mistake the new child
		// for an adopted one.
		mu.Lock()
		defer mu.Unlock()
		if p.proc, err = os.StartProcess(path, c.Args, attr); err == nil {
			limited = c.Limits.set(p.proc.Pid)
			if !p.free {
				p.group = newGroup(p.proc)
			}
			tracked[p.proc.Pid] = p
		}
	})
	runtime.KeepAlive(c.File)
	if limited != nil {
		p.Kill()
		go p.wait()
		return nil, fmt.Errorf("limiting %s: %w", c.Path, limited)
	}
	if err != nil {
		if pe, ok := errors.AsType[*os.PathError](err); ok {
			pe.Path = c.Path
		}
		return nil, err
	}
	go p.wait()
	return p, nil
}

// wait ends with the process; Done tells.
func (p *Process) wait() {
	p.reap()
	mu.Lock()
	if tracked[p.proc.Pid] == p { // and not a newer one that got the number
		delete(tracked, p.proc.Pid)
	}
	mu.Unlock()
	if !p.free {
		endAdopted(p.mark)
		p.group.close()
	}
	close(p.done)
}

// releasedMark is what stands in the environment of every process that was
// released, and of those that they start.
const releasedMark = "released"

// released says that there may be such processes.
var released atomic.Bool

// PID is the process's number.
func (p *Process) PID() int { return p.proc.Pid }

// Done is closed when the process has ended and, with it, all that was left
// of its group.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended says how the process ended: "exited with status 3" or "was killed by
// signal SIGSEGV (segmentation fault)". It is empty while the process runs.
func (p *Process) Ended() string {
	select {
	case <-p.done:
		return describe(p.state)
	default:
		return ""
	}
}

// ExitCode is the exit status, or -1 while the process runs and when a signal
// ended it.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
		if p.state != nil {
			return p.state.ExitCode()
		}
	default:
	}
	return -1
}

// Terminate asks the whole group to end.
func (p *Process) Terminate() { p.signal(group.terminate) }

// Kill ends the whole group.
func (p *Process) Kill() { p.signal(group.kill) }

func (p *Process) signal(send func(group)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped && !p.free {
		send(p.group)
	}
}

// Wait waits for the end of the process, at most d. It says whether it ended.
func (p *Process) Wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

func describe(state *os.ProcessState) string {
	if state == nil {
		return "ended"
	}
	if s := describeSignal(state); s != "" {
		return s
	}
	return fmt.Sprintf("exited with status %d", state.ExitCode())
}
