//go:build unix

package process

import (
	"os"
	"strconv"
	"syscall"
)

// closeAllOnExec marks all descriptors except the standard streams as
// close-on-exec.
func closeAllOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
}

// A group is a process group. Its id is the process id of its leader.
type group struct{ id int }

func newGroup(p *os.Process) group { return group{id: p.Pid} }

func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.id, syscall.SIGKILL) }
func (g group) close()     {}

var signalNames = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
	syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM",
	syscall.SIGTERM: "SIGTERM", syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ",
}

func describeSignal(state *os.ProcessState) string {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return ""
	}
	name := signalNames[ws.Signal()]
	if name == "" {
		return "was killed by " + ws.Signal().String()
	}
	return "was killed by " + name + " (" + ws.Signal().String() + ")"
}

// SignalOf returns the name of the signal that a shell reports by an exit
// status of 128 plus its number. It is empty for any other status.
func SignalOf(status int) string { return signalNames[syscall.Signal(status-128)] }
