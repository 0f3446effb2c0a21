package process

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

const (
	idPID             = 1   // P_PID of waitid
	sysCloseRange     = 436 // the same on every architecture
	closeRangeCloexec = 4
)

func attributes(soft bool) *syscall.SysProcAttr {
	death := syscall.SIGKILL
	if soft {
		death = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}

// releasedAttributes returns the attributes of a released process: it gets its
// own session, so that closing a terminal does not end it.
func releasedAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepDescriptors keeps children from inheriting open files. Go marks the files
// that it opens. It does not mark files that a shell or a C library left open.
func keepDescriptors() {
	if _, _, errno := syscall.RawSyscall(sysCloseRange, 3, uintptr(^uint32(0)), closeRangeCloexec); errno != 0 {
		closeAllOnExec() // for kernels before 5.11
	}
}

// openedPath returns a path that executes the open file f, even if its old path
// now names another file. exec closes the descriptor.
func openedPath(f *os.File, _ string) string {
	return fmt.Sprintf("/proc/self/fd/%d", f.Fd())
}

// reap waits for the end of p and kills the rest of its group. It does so while
// p is a zombie, because the id of p, which is also the id of the group, cannot
// be reused until then.
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
