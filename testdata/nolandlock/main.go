//go:build linux

// Command nolandlock runs a program as on a kernel without Landlock: a seccomp
// filter answers ENOSYS to landlock_create_ruleset. With -seccomp the kernel seems
// to have no seccomp filters either.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func main() {
	args := os.Args[1:]
	calls := []uint32{unix.SYS_LANDLOCK_CREATE_RULESET}
	refuseFilters := len(args) > 0 && args[0] == "-seccomp"
	if refuseFilters {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: nolandlock [-seccomp] PROGRAM [ARGUMENT…]")
		os.Exit(2)
	}
	path, err := exec.LookPath(args[0])
	if err == nil {
		err = restrict(calls, refuseFilters)
	}
	if err == nil {
		err = syscall.Exec(path, args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "nolandlock:", err)
	os.Exit(1)
}

// restrict loads a filter that answers ENOSYS to the calls, and EINVAL to prctl for
// filters, as kernels without them do.
func restrict(calls []uint32, refuseFilters bool) error {
	runtime.LockOSThread()
	const number, argument = 0, 16 // offsets in struct seccomp_data
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: number, Size: 4}}
	refuse := func(call uint32, errno unix.Errno) {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1},
			bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	for _, call := range calls {
		refuse(call, unix.ENOSYS)
	}
	if refuseFilters {
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_PRCTL, SkipTrue: 3},
			bpf.LoadAbsolute{Off: argument, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.PR_SET_SECCOMP, SkipTrue: 1},
			bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)})
	}
	program = append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	raw, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	loaded := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&loaded)), 0, 0)
}
