package process

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	prSetChildSubreaper = 36
	idPID               = 1 // P_PID of waitid
	killPoll            = 2 * time.Millisecond
	endPasses           = 100
)

func attributes(soft bool) *syscall.SysProcAttr {
	death := syscall.SIGKILL
	if soft {
		death = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}

// openedPath names an open file so that exec runs what was opened, whatever
// stands at its old name by then. The descriptor is closed by exec itself.
func openedPath(f *os.File, _ string) string {
	return fmt.Sprintf("/proc/self/fd/%d", f.Fd())
}

// waitable returns when p has ended, leaving it to be waited for: until then
// nobody else can get its number, so its group can be signalled safely.
func waitable(p *os.Process) {
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(p.Pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

var adopting sync.Once

// Adopt makes this process the parent of descendants whose own parent dies,
// and reaps those when they end. It lasts as long as the program.
func Adopt() error {
	var failed error
	adopting.Do(func() {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
			failed = errno
			return
		}
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGCHLD)
		go func() {
			for range ended {
				reap()
			}
		}()
	})
	return failed
}

// reap collects adopted children that have ended, one by one: a wait for any
// child would steal the exit status of those that somebody waits for.
func reap() {
	mu.Lock()
	defer mu.Unlock()
	for _, pid := range children(os.Getpid()) {
		if tracked[pid] == nil {
			var ws syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
		}
	}
}

// adopted returns the children that this process did not start itself.
func adopted() []int {
	mu.Lock()
	defer mu.Unlock()
	var pids []int
	for _, pid := range children(os.Getpid()) {
		if tracked[pid] == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endAdopted ends the adopted children that carry mark, with all below them.
func endAdopted(mark string) {
	end(func(pid int) bool { return marked(pid, mark) })
}

// end ends the adopted children that which accepts. A process that forked
// while it was being killed leaves one more child to adopt, so it looks again
// until there is nothing, within reason.
func end(which func(pid int) bool) {
	for range endPasses {
		found := false
		for _, pid := range adopted() {
			if which(pid) {
				found = true
				killTree(pid)
			}
		}
		reap()
		if !found {
			return
		}
		time.Sleep(killPoll)
	}
}

func marked(pid int, mark string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+MarkVariable+"="+mark+"\x00"))
}

// EndAdopted ends every child that this process did not start itself, with all
// below them: what plugins that died had left behind.
func EndAdopted() {
	end(func(int) bool { return true })
}

// EndAll ends every descendant of this process, at most for d. It is for the
// moment before exiting, when nobody needs their exit status any more.
func EndAll(d time.Duration) {
	deadline := time.Now().Add(d)
	for {
		pids := children(os.Getpid())
		if len(pids) == 0 || time.Now().After(deadline) {
			return
		}
		for _, pid := range pids {
			killTree(pid)
		}
		reap()
		time.Sleep(killPoll)
	}
}

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
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name in parentheses may hold anything; the rest follows it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}
