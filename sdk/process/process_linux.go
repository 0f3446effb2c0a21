package process

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	prSetChildSubreaper = 36
	idPID               = 1   // P_PID of waitid
	sysCloseRange       = 436 // the same on every architecture
	closeRangeCloexec   = 4
	killPoll            = 2 * time.Millisecond
	endTime             = time.Second
)

func attributes(soft bool) *syscall.SysProcAttr {
	death := syscall.SIGKILL
	if soft {
		death = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}

// releasedAttributes are those of a process that is let go: a session of its own,
// which no terminal ends.
func releasedAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepDescriptors keeps what this process has open from those that it starts. Go
// marks what it opens itself, but not what a shell or the author's libraries
// left open.
func keepDescriptors() {
	if _, _, errno := syscall.RawSyscall(sysCloseRange, 3, uintptr(^uint32(0)), closeRangeCloexec); errno != 0 {
		closeAllOnExec() // a kernel before 5.11
	}
}

// openedPath names an open file so that exec runs what was opened, whatever
// stands at its old name by then. The descriptor is closed by exec itself.
func openedPath(f *os.File, _ string) string {
	return fmt.Sprintf("/proc/self/fd/%d", f.Fd())
}

// reap waits for the end of p and ends what is left of its group, in the moment
// when p is dead but still to be waited for: until then nobody else can get its
// number, which is that of the group too.
func (p *Process) reap() {
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(p.proc.Pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.free {
		p.group.kill()
	}
	p.state, _ = p.proc.Wait()
	p.reaped = true
}

var (
	adopting  sync.Once
	unclaimed = 10 * time.Second

	// inherited are the children that were there before, with their names: a
	// shell that starts something in the background and then becomes this
	// program leaves it some. They belong to somebody else, and so may what
	// they leave behind, as does everything in a container whose first process
	// this is.
	inherited map[int]string // guarded by mu
)

// Adopt makes this process the parent of descendants whose own parent dies,
// and reaps those when they end. It lasts as long as the program.
func Adopt() error {
	var failed error
	adopting.Do(func() {
		inherit()
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
			failed = errno
			return
		}
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGCHLD)
		go reapAdopted(ended)
	})
	return failed
}

// inherit takes note of the children that there are.
func inherit() {
	mu.Lock()
	defer mu.Unlock()
	inherited = map[int]string{}
	for _, pid := range children(os.Getpid()) {
		if tracked[pid] != nil {
			continue
		}
		if n, err := name(pid); err == nil {
			inherited[pid] = n
		}
	}
}

// foreign reports whether a child is none of ours to end. The caller holds mu.
func foreign(pid int) bool {
	if p := tracked[pid]; p != nil {
		return p.free
	}
	if released.Load() && carries(environment(pid), releasedMark) {
		return true
	}
	if was, ok := inherited[pid]; ok {
		if now, err := name(pid); err == nil && now == was {
			return true
		}
	}
	if os.Getpid() != 1 && len(inherited) == 0 {
		return false
	}
	// What it belongs to shows in what was handed down to it.
	env := environment(pid)
	if len(env) == 0 {
		return false // it is ending, or beginning
	}
	env = append([]byte{0}, env...)
	for _, run := range []string{Run(), os.Getenv(RunVariable)} {
		if run != "" && bytes.Contains(env, []byte("\x00"+RunVariable+"="+run+"\x00")) {
			return false
		}
	}
	return true
}

// reapAdopted waits for adopted children that have ended. Of some it cannot be
// told whether the author's code forked them and is going to wait for them
// itself; those have a while.
func reapAdopted(ended <-chan os.Signal) {
	dead := map[int]time.Time{} // those, and since when
	for {
		var again <-chan time.Time
		if len(dead) > 0 {
			again = time.After(unclaimed)
		}
		select {
		case <-ended:
		case <-again:
		}
		before := dead
		dead = map[int]time.Time{}
		collect(func(pid int) bool {
			s, ok := statOf(pid)
			if !ok || !s.dead || fostered(pid) {
				return ok && s.dead
			}
			since, seen := before[pid]
			if !seen {
				since = time.Now()
			}
			if time.Since(since) >= unclaimed {
				return true
			}
			dead[pid] = since
			return false
		})
	}
}

// collect waits for children of this process that have ended, those that which
// accepts, one by one: a wait for any child would steal the exit status of those
// that somebody waits for.
func collect(which func(pid int) bool) {
	if _, dead := look(); !dead {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	for _, pid := range children(os.Getpid()) {
		if tracked[pid] == nil && which(pid) {
			var ws syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
		}
	}
}

// fostered says that a child was certainly not forked by this process: one that
// the author's code starts with os/exec, and waits for, is in the same group or
// leads a new one in the same session.
func fostered(pid int) bool {
	child, ok := statOf(pid)
	self, _ := statOf(os.Getpid())
	return ok && child.group != self.group && (child.group != pid || child.session != self.session)
}

// adopted returns the children that this process did not start itself.
func adopted() []int {
	if any, _ := look(); !any {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	var pids []int
	for _, pid := range children(os.Getpid()) {
		if tracked[pid] == nil && !foreign(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// own returns the children of this process but for those that are foreign.
func own() []int {
	mu.Lock()
	defer mu.Unlock()
	return slices.DeleteFunc(children(os.Getpid()), foreign)
}

// endAdopted ends the adopted children that carry mark, with all below them.
func endAdopted(mark string) {
	end(func(_ int, env []byte) bool { return carries(env, mark) })
}

// end ends the adopted children that which accepts. Every process that ends may
// leave one more child to adopt, so it looks again until it has seen the end of
// all, within reason.
func end(which func(pid int, env []byte) bool) {
	killed, gone, bare := map[int]bool{}, map[int]bool{}, map[int]bool{}
	for begun := time.Now(); time.Since(begun) < endTime; {
		again := false
		for _, pid := range adopted() {
			env := environment(pid)
			if which(pid, env) {
				killed[pid], again = true, true
				killTree(pid)
				continue
			}
			// The environment of a process that is ending cannot be read.
			s, ok := statOf(pid)
			switch {
			case !ok || s.dead:
				again = again || !gone[pid]
				gone[pid] = true
			case s.ending:
				again = true
			case len(env) == 0 && !bare[pid]:
				// Nor is there one in the moment in which it becomes another program,
				// when there are no arguments either. It may be over by now.
				bare[pid] = len(read(pid, "cmdline")) > 0
				again = true
			}
		}
		collect(func(pid int) bool { return killed[pid] || fostered(pid) })
		if !again {
			return
		}
		time.Sleep(killPoll)
	}
}

// environment is what a process was given; nothing where it cannot be read.
func environment(pid int) []byte { return read(pid, "environ") }

func read(pid int, file string) []byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return nil
	}
	return text
}

// carries reports whether a process with this environment was given a mark.
func carries(env []byte, mark string) bool {
	return bytes.Contains(append([]byte{0}, env...), []byte("\x00"+MarkVariable+"="+mark+"\x00"))
}

// EndAdopted ends every child that this process did not start itself, with all
// below them: what plugins that died had left behind.
func EndAdopted() {
	end(func(pid int, _ []byte) bool {
		s, ok := statOf(pid)
		return ok && !s.dead
	})
}

// EndAll ends every descendant of this process, at most for d. It is for the
// moment before exiting, when nobody needs their exit status any more.
func EndAll(d time.Duration) {
	deadline := time.Now().Add(d)
	for {
		pids := own()
		if len(pids) == 0 || time.Now().After(deadline) {
			return
		}
		for _, pid := range pids {
			killTree(pid)
		}
		collect(func(pid int) bool { return slices.Contains(pids, pid) })
		time.Sleep(killPoll)
	}
}
