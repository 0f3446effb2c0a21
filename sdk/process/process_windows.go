package process

import (
	"os"
	"syscall"
	"unsafe"
)

// On Windows a job object takes the place of the process group. The system
// closes its last handle when this process ends, and that kills every process
// in the job.

var (
	kernel32                 = syscall.NewLazyDLL("kernel32.dll")
	createJobObject          = kernel32.NewProc("CreateJobObjectW")
	setInformationJobObject  = kernel32.NewProc("SetInformationJobObject")
	assignProcessToJobObject = kernel32.NewProc("AssignProcessToJobObject")
	terminateJobObject       = kernel32.NewProc("TerminateJobObject")
)

const (
	createNewProcessGroup = 0x200
	createNoWindow        = 0x08000000
	processSetQuota       = 0x0100
	processTerminate      = 0x0001

	jobExtendedLimitInformation = 9
	jobLimitKillOnClose         = 0x2000
)

// extendedLimit is JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
type extendedLimit struct {
	perProcessTime, perJobTime int64
	flags                      uint32
	minSet, maxSet             uintptr
	activeProcesses            uint32
	affinity                   uintptr
	priority, scheduling       uint32
	io                         [6]uint64
	memory                     [4]uintptr
}

type group struct {
	job  syscall.Handle
	proc *os.Process
}

func newGroup(p *os.Process) group {
	g := group{proc: p}
	job, _, _ := createJobObject.Call(0, 0)
	if job == 0 {
		return g
	}
	limit := extendedLimit{flags: jobLimitKillOnClose}
	_, _, _ = setInformationJobObject.Call(job, jobExtendedLimitInformation, uintptr(unsafe.Pointer(&limit)),
		unsafe.Sizeof(limit))
	handle, err := syscall.OpenProcess(processSetQuota|processTerminate, false, uint32(p.Pid))
	if err == nil {
		_, _, _ = assignProcessToJobObject.Call(job, uintptr(handle))
		_ = syscall.CloseHandle(handle)
	}
	g.job = syscall.Handle(job)
	return g
}

// terminate kills the job: Windows has no signal that a program without a
// console could handle.
func (g group) terminate() { g.kill() }

func (g group) kill() {
	if g.job != 0 {
		_, _, _ = terminateJobObject.Call(uintptr(g.job), 1)
	}
	_ = g.proc.Kill()
}

func (g group) close() {
	if g.job != 0 {
		_ = syscall.CloseHandle(g.job)
	}
}

func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup | createNoWindow, HideWindow: true}
}

// releasedAttributes returns the attributes of a released process. It is in no
// job.
func releasedAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup}
}

// keepDescriptors does nothing: children inherit named handles only.
func keepDescriptors() {}

func describeSignal(*os.ProcessState) string { return "" }

// SignalOf returns "": exit statuses do not represent signals on Windows.
func SignalOf(int) string { return "" }

// exists reports whether a process with this id exists. Only an existing
// process can be opened.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
