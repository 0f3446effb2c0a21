// Package process starts programs that cannot outlive the program that started
// them.
//
// Every process gets its own process group. On Linux it also gets a parent
// death signal. [Adopt] makes this process the subreaper of its descendants
// there, so that a daemon that forked twice is found and ended. All forks run
// on one goroutine locked to its thread, because the death signal depends on
// the thread that forked, not on the process.
//
// The host starts plugins with this package, and plugins start MCP servers with
// it. Other packages of Junctor do not start processes, but for the editor of `junctor config edit`.
//
// Files, from the top: process.go, adopt_linux.go, descent_linux.go, descent_other.go,
// tree_linux.go, start_linux.go, process_other.go, process_otherunix.go, process_unix.go,
// process_windows.go, limits_linux.go, yield_linux.go, marks.go, identity_linux.go, lastwords.go.
//
// process.go starts and ends; the files start_linux, process_unix, process_otherunix,
// process_windows and process_other are its parts for systems. adopt_linux.go and tree_linux.go end
// what a process leaves behind; marks.go, descent_linux.go and identity_linux.go recognize it.
// limits_linux.go and yield_linux.go bound a child.
//
// All functions may be called concurrently; the state of the package is process-wide. What a
// process inherits, its mark and its number are also read by other processes of Junctor, of other
// versions, that end leftovers: keep their form.
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

// A Command describes a program to start.
type Command struct {
	Path string   // executable
	File *os.File // if set, executed instead of Path where the system supports that
	Args []string // all arguments, beginning with the program's name
	Env  []string // whole environment; [MarkVariable] is added
	Dir  string

	Stdin, Stdout, Stderr *os.File   // nil is the null device
	Extra                 []*os.File // descriptors from 3 on; unix only

	// Soft makes the parent death signal SIGTERM instead of SIGKILL, for
	// programs that clean up after themselves.
	Soft bool

	// Release detaches the process when it runs, for example a browser that the
	// user keeps. It and its descendants survive the end of this program. No
	// function of this package ends them, and [Process.Kill] has no effect.
	Release bool

	// Limits bound the resources of the process and its descendants. They are
	// set right after the start; before, the program may run for some
	// microseconds. They exist on Linux only: elsewhere Start fails if any is
	// set.
	Limits Limits
}

// Limits are maximum resources of each process of a command. 0 sets no limit.
type Limits struct {
	CPU       time.Duration // computing time; rounded up to whole seconds
	Memory    uint64        // bytes of address space
	Files     uint64        // open files
	Processes uint64        // processes of this user in total; root is exempt
}

// A Process is a started command. Its methods may be called concurrently. The caller of Start ends it; a
// goroutine of this package waits for the end, closes done and then forgets the process.
type Process struct {
	mark  string
	limit uint64 // see numbered; 0 if the process has no number
	proc  *os.Process
	group group // unset for a released process
	free  bool  // Command.Release was set
	done  chan struct{}
	state *os.ProcessState // valid after done is closed

	mu     sync.Mutex
	reaped bool // guarded by mu; another process may have the id now
}

var (
	spawner sync.Once
	starts  = make(chan func())

	mu      sync.Mutex
	tracked = map[int]*Process{} // guarded by mu; processes that this package waits for
	marks   atomic.Uint64
)

// onSpawner runs f on the thread of all forks. The goroutine lasts as long as
// the program: its end would send the death signal to every child.
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

// Start starts a command. The process ends with this program unless c.Release
// is set. The files of c stay the caller's, who closes them. Start blocks while
// another goroutine forks.
func Start(c Command) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	files := append([]*os.File{c.Stdin, c.Stdout, c.Stderr}, c.Extra...)
	for i, f := range files[:3] {
		if f == nil {
			files[i] = null
		}
	}
	p := &Process{
		mark: fmt.Sprintf("%d.%d.%d", os.Getpid(), time.Now().UnixNano(), marks.Add(1)),
		done: make(chan struct{}), free: c.Release,
	}
	attr := p.attributes(c, files)
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
		p.limit = numbered(func() { p.proc, err = os.StartProcess(path, c.Args, attr) })
		if err == nil {
			limited = c.Limits.set(p.proc.Pid)
			if !p.free {
				_ = markDescendant(p.proc.Pid) // without it, the environment is the mark
				_ = yieldMemory(p.proc.Pid)    // a sandbox may have no /proc
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

// attributes returns how the system starts the process, and sets its mark.
func (p *Process) attributes(c Command, files []*os.File) *os.ProcAttr {
	attr := &os.ProcAttr{Dir: c.Dir, Files: files, Sys: attributes(c.Soft), Env: append([]string(nil), c.Env...)}
	if c.Release {
		attr.Sys, p.mark = releasedAttributes(), releasedMark
		released.Store(true)
	} else {
		attr.Env = withRun(attr.Env)
	}
	attr.Env = append(attr.Env, MarkVariable+"="+p.mark)
	return attr
}

// wait waits for the end of the process and of everything that it left, then
// closes done.
func (p *Process) wait() {
	p.reap()
	mu.Lock()
	if tracked[p.proc.Pid] == p { // another process may have the id by now
		delete(tracked, p.proc.Pid)
	}
	mu.Unlock()
	if !p.free {
		endAdopted(p.mark, p.limit)
		p.group.close()
	}
	close(p.done)
}

// PID returns the process id.
func (p *Process) PID() int { return p.proc.Pid }

// Done returns a channel that is closed when the process has ended and the rest
// of its group was killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended describes how the process ended: "exited with status 3" or "was killed
// by SIGSEGV (segmentation fault)". It is empty while the process runs.
func (p *Process) Ended() string {
	select {
	case <-p.done:
		return describe(p.state)
	default:
		return ""
	}
}

// ExitCode returns the exit status. It is -1 while the process runs and if a
// signal ended it.
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

// Terminate asks the process group to end, with SIGTERM on unix.
func (p *Process) Terminate() { p.signal(group.terminate) }

// Kill kills the process group.
func (p *Process) Kill() { p.signal(group.kill) }

func (p *Process) signal(send func(group)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped && !p.free {
		send(p.group)
	}
}

// Wait waits until the process has ended, for at most d, and reports whether it
// has.
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

// describe returns the text of [Process.Ended] for an exit state.
func describe(state *os.ProcessState) string {
	if state == nil {
		return "ended"
	}
	if s := describeSignal(state); s != "" {
		return s
	}
	return fmt.Sprintf("exited with status %d", state.ExitCode())
}
