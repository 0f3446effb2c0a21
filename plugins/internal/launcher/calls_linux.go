package main

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Answers of the filter. EACCES is what programs report best.
const (
	denied    = seccomp.ActionErrno | seccomp.Action(unix.EACCES)
	forbidden = seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	absent    = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)
)

// rings are the calls of io_uring, which open files and sockets past the filter.
// Programs do without when these are missing.
var rings = []string{"io_uring_setup", "io_uring_enter", "io_uring_register"}

// powers are calls that reach other processes or the whole machine. Most need
// privileges, which a program in a container often has.
var powers = []string{
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
	"add_key", "request_key", "keyctl",
	"open_by_handle_at", "mount", "umount2", "pivot_root", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "setns",
	"bpf", "perf_event_open", "userfaultfd", "fanotify_init", "lookup_dcookie",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
	"settimeofday", "clock_settime", "sethostname", "setdomainname", "iopl", "ioperm", "vhangup", "syslog",
}

// attributes are calls that change the attributes of any file. Landlock does not
// restrict them.
var attributes = []string{
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat", "futimesat",
	"setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
}

// restrictCalls loads the seccomp filters on this thread. Each call with a
// condition on its arguments has a filter of its own: after a condition, the
// library no longer knows the number of the call. The kernel runs all filters.
func restrictCalls(rules *sandbox.Rules) error {
	info, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	for _, groups := range filters(rules, info) {
		policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: groups}
		filter, err := policy.Assemble()
		if err != nil {
			return err
		}
		raw, err := bpf.Assemble(append(onlyNative(info), filter...))
		if err != nil {
			return err
		}
		if err := load(raw); err != nil {
			return err
		}
	}
	return nil
}

// onlyNative returns instructions that refuse the calls of another architecture,
// such as 32-bit calls on a 64-bit kernel. The library lets these pass.
func onlyNative(info *arch.Info) []bpf.Instruction {
	const archOffset, word = 4, 4
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: word},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(absent)},
	}
}

// filters returns the refused calls of each filter, with their answers.
func filters(rules *sandbox.Rules, info *arch.Info) [][]seccomp.SyscallGroup {
	always := []seccomp.SyscallGroup{
		{Names: named(rings, info), Action: absent},
		{Names: named(powers, info), Action: forbidden},
	}
	if !rules.Attributes {
		always = append(always, seccomp.SyscallGroup{Names: named(attributes, info), Action: forbidden})
	}
	if rules.Network.Off() && !rules.UnixSockets {
		return [][]seccomp.SyscallGroup{append(always, seccomp.SyscallGroup{Names: []string{"socket"}, Action: denied})}
	}
	all := [][]seccomp.SyscallGroup{always}
	refuse := func(calls ...seccomp.NameWithConditions) {
		all = append(all, []seccomp.SyscallGroup{{NamesWithCondtions: calls, Action: denied}})
	}
	refuse(sockets(rules)...)
	if len(rules.Network.Ports) > 0 && !rules.Network.All {
		for name, flags := range connecting {
			refuse(seccomp.NameWithConditions{Name: name, Conditions: seccomp.ArgumentConditions{bits(flags, unix.MSG_FASTOPEN)}})
		}
	}
	return all
}

// named returns the calls that this architecture has.
func named(calls []string, info *arch.Info) []string {
	var all []string
	for _, name := range calls {
		if _, ok := info.SyscallNames[name]; ok {
			all = append(all, name)
		}
	}
	return all
}

// The arguments of socket(2).
const (
	family   = 0
	kind     = 1
	protocol = 2
)

// sockets returns the refused calls of socket where some are allowed: every other
// family, not only the known ones.
func sockets(rules *sandbox.Rules) []seccomp.NameWithConditions {
	var families []uint64
	if rules.UnixSockets {
		families = append(families, unix.AF_UNIX)
	}
	if !rules.Network.Off() {
		families = append(families, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK) // netlink lists the interfaces
	}
	other := seccomp.ArgumentConditions{}
	for _, f := range families {
		other = append(other, not(family, f))
	}
	refused := []seccomp.NameWithConditions{{Name: "socket", Conditions: other}}
	if !rules.Network.All && len(rules.Network.Ports) > 0 {
		refused = append(refused, beyondPorts(rules.Network.UDP())...)
	}
	return refused
}

// beyondPorts returns the refused calls of socket where only TCP ports are
// allowed: Landlock restricts TCP and no other protocol.
func beyondPorts(udp bool) []seccomp.NameWithConditions {
	var refused []seccomp.NameWithConditions
	refuse := func(f uint64, conditions ...seccomp.Condition) {
		refused = append(refused, seccomp.NameWithConditions{Name: "socket", Conditions: append(seccomp.ArgumentConditions{
			{Argument: family, Operation: seccomp.Equal, Value: f},
		}, conditions...)})
	}
	for _, f := range []uint64{unix.AF_INET, unix.AF_INET6} {
		refuse(f, bits(kind, 4)) // neither stream nor datagram
		refuse(f, bits(kind, 8))
		refuse(f, bits(kind, unix.SOCK_STREAM), bits(kind, unix.SOCK_DGRAM)) // both bits are a raw socket
		if !udp {
			refuse(f, bits(kind, unix.SOCK_DGRAM))
		}
		refuse(f, not(protocol, 0), not(protocol, unix.IPPROTO_TCP), not(protocol, unix.IPPROTO_UDP))
	}
	return refused
}

// connecting are the calls that can connect without connect(2), past Landlock,
// with the argument that has the flags.
var connecting = map[string]uint32{"sendto": 3, "sendmsg": 2, "sendmmsg": 3}

func bits(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.BitsSet, Value: value}
}

func not(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: value}
}

// load loads a filter on this thread.
func load(raw []bpf.RawInstruction) error {
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("loading the filter: %w", errno)
	}
	return nil
}
