package launch

import (
	"maps"
	"slices"
	"sync"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launchplan"
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
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
	"setpriority", "ioprio_set", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
	"migrate_pages", "move_pages",
	"shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semtimedop", "semctl",
	"add_key", "request_key", "keyctl", "mq_unlink",
	"open_by_handle_at", "mount", "umount2", "pivot_root", "move_mount", "open_tree", "open_tree_attr", "fsopen",
	"fsconfig", "fsmount", "fspick", "mount_setattr", "setns",
	"bpf", "perf_event_open", "userfaultfd", "fanotify_init", "lookup_dcookie",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff",
	"acct", "quotactl", "quotactl_fd",
	"settimeofday", "clock_settime", "sethostname", "setdomainname", "iopl", "ioperm", "vhangup", "syslog",
}

// attributes are calls that change the attributes of any file. Landlock does not
// restrict them.
var attributes = []string{
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat",
	"futimesat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
	"removexattrat", "file_setattr",
}

// A kind is what the filters depend on. Programs share them.
type kind struct {
	unixSockets, attributes, network, ports, udp bool
}

// assembled holds the filters of each kind, as an assembly.
var assembled sync.Map

type assembly struct {
	filters []launchplan.Filter
	err     error
}

// filtersFor returns the seccomp filters for rules.
func filtersFor(r *sandbox.Rules) ([]launchplan.Filter, error) {
	k := kind{r.UnixSockets, r.Attributes, r.Network.All, len(r.Network.Ports) > 0 && !r.Network.All, r.Network.UDP()}
	known, ok := assembled.Load(k)
	if !ok {
		filters, err := assemble(k)
		known, _ = assembled.LoadOrStore(k, assembly{filters, err})
	}
	a := known.(assembly)
	return a.filters, a.err
}

// assemble returns the filters of a kind. Each call with a condition on its
// arguments has a program of its own: after a condition, the library no longer
// knows the number of the call. The programs run one after the other in one filter, because
// the kernel takes long to load each filter.
func assemble(k kind) ([]launchplan.Filter, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	joined := onlyKnown(info)
	for _, groups := range k.refused(info) {
		policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: groups}
		program, err := policy.Assemble()
		if err != nil {
			return nil, err
		}
		joined = append(joined, goingOn(program)...)
	}
	raw, err := bpf.Assemble(append(joined, bpf.RetConstant{Val: uint32(seccomp.ActionAllow)}))
	if err != nil {
		return nil, err
	}
	var filter launchplan.Filter
	for _, in := range raw {
		filter = append(filter, uint64(in.Op)<<48|uint64(in.Jt)<<40|uint64(in.Jf)<<32|uint64(in.K))
	}
	return []launchplan.Filter{filter}, nil
}

// goingOn returns a program which goes on behind its end where it allowed a call.
func goingOn(program []bpf.Instruction) []bpf.Instruction {
	for i, in := range program {
		if in == (bpf.RetConstant{Val: uint32(seccomp.ActionAllow)}) {
			program[i] = bpf.Jump{Skip: uint32(len(program) - 1 - i)}
		}
	}
	return program
}

// onlyKnown returns instructions that refuse the calls of another architecture, such as
// 32-bit calls on a 64-bit kernel, and calls that are newer than the library, of which the
// lists here cannot have any. The library lets both pass.
func onlyKnown(info *arch.Info) []bpf.Instruction {
	const callOffset, archOffset, word = 0, 4, 4
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: word},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(absent)},
		bpf.LoadAbsolute{Off: callOffset, Size: word},
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual,
			Val: uint32(slices.Max(slices.Collect(maps.Values(info.SyscallNames)))), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(absent)},
	}
}

// refused returns the refused calls of each filter, with their answers.
func (k kind) refused(info *arch.Info) [][]seccomp.SyscallGroup {
	always := []seccomp.SyscallGroup{
		{Names: named(append([]string{"clone3"}, rings...), info), Action: absent},
		{Names: named(powers, info), Action: forbidden},
	}
	if !k.attributes {
		always = append(always, seccomp.SyscallGroup{Names: named(attributes, info), Action: forbidden})
	}
	switch {
	case !k.network && !k.ports && !k.unixSockets:
		always = append(always, seccomp.SyscallGroup{Names: []string{"socket"}, Action: denied})
	case k.ports && !k.unixSockets: // a socket that listens without bind gets a port that Landlock does not see
		always = append(always, seccomp.SyscallGroup{Names: []string{"listen"}, Action: denied})
	}
	all := [][]seccomp.SyscallGroup{always}
	refuse := func(calls ...seccomp.NameWithConditions) {
		calls = slices.DeleteFunc(slices.Clone(calls), func(c seccomp.NameWithConditions) bool {
			_, ok := info.SyscallNames[c.Name]
			return !ok
		})
		all = append(all, []seccomp.SyscallGroup{{NamesWithCondtions: calls, Action: denied}})
	}
	refuse(limits...)
	refuse(attributeRequests...)
	refuse(leases...)
	// The child would be one of the plugin.
	refuse(seccomp.NameWithConditions{Name: "clone",
		Conditions: seccomp.ArgumentConditions{bits(0, unix.CLONE_PARENT)}})
	if !k.unixSockets {
		refuse(datagramPairs...)
	}
	if k.network || k.ports || k.unixSockets {
		refuse(k.sockets()...)
	}
	if k.ports {
		for name, flags := range connecting {
			refuse(seccomp.NameWithConditions{Name: name,
				Conditions: seccomp.ArgumentConditions{bits(flags, unix.MSG_FASTOPEN)}})
		}
	}
	return all
}

// limits changes or reads the limits of another process (0 is the caller), or
// changes the limit of file locks, which says which run a process belongs to.
var limits = []seccomp.NameWithConditions{
	{Name: "prlimit64", Conditions: seccomp.ArgumentConditions{not(0, 0)}},
	{Name: "prlimit64", Conditions: append(equal32(1, unix.RLIMIT_LOCKS), not(2, 0))},
	{Name: "setrlimit", Conditions: equal32(0, unix.RLIMIT_LOCKS)},
}

// leases make each process that opens a file of the user wait, up to a minute, for a program
// that can only read the file.
var leases = []seccomp.NameWithConditions{
	{Name: "fcntl", Conditions: equal32(1, unix.F_SETLEASE)},
	{Name: "fcntl64", Conditions: equal32(1, unix.F_SETLEASE)},
}

// attributeRequests change flags and the like of a file that is open for reading: the
// requests of file systems that only hand data to the kernel, FS_IOC_SETFLAGS,
// FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, and what single file systems add.
var attributeRequests = []seccomp.NameWithConditions{
	{Name: "ioctl", Conditions: writeRequests('f')}, {Name: "ioctl", Conditions: writeRequests('v')},
	{Name: "ioctl", Conditions: writeRequests('X')},
}

// writeRequests matches the requests of ioctl(2) with a letter that hand data to the kernel
// and get none back.
func writeRequests(letter byte) seccomp.ArgumentConditions {
	const fromUser, toUser, letters = 1 << 30, 1 << 31, 0xff00
	return masked32(1, fromUser|toUser|letters, fromUser|uint32(letter)<<8)
}

// equal32 compares the 32 bits of an argument that the kernel looks at. A comparison
// for equality would look at 64, and a program could set the others.
func equal32(argument, value uint32) seccomp.ArgumentConditions {
	return masked32(argument, ^uint32(0), value)
}

// masked32 is equal32 for the bits of a mask.
func masked32(argument, mask, value uint32) seccomp.ArgumentConditions {
	all := seccomp.ArgumentConditions{{Argument: argument, Operation: seccomp.BitsNotSet, Value: uint64(mask &^ value)}}
	for bit := uint64(1); bit <= uint64(value); bit <<= 1 {
		if uint64(value)&bit != 0 {
			all = append(all, bits(argument, bit))
		}
	}
	return all
}

// datagramPairs are the pairs of sockets that can be connected to another address
// later: datagrams and raw sockets. Streams and sequences of packets cannot.
var datagramPairs = []seccomp.NameWithConditions{
	{Name: "socketpair", Conditions: seccomp.ArgumentConditions{not(familyArgument, unix.AF_UNIX)}},
	{Name: "socketpair", Conditions: seccomp.ArgumentConditions{bits(kindArgument, unix.SOCK_DGRAM)}},
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
	familyArgument   = 0
	kindArgument     = 1
	protocolArgument = 2
)

// sockets returns the refused calls of socket where some are allowed: every other
// family, not only the known ones.
func (k kind) sockets() []seccomp.NameWithConditions {
	var families []uint64
	if k.unixSockets {
		families = append(families, unix.AF_UNIX)
	}
	if k.network || k.ports {
		families = append(families, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK) // netlink lists the interfaces
	}
	other := seccomp.ArgumentConditions{}
	for _, f := range families {
		other = append(other, not(familyArgument, f))
	}
	refused := []seccomp.NameWithConditions{{Name: "socket", Conditions: other}}
	if k.ports {
		refused = append(refused, beyondPorts(k.udp)...)
		refused = append(refused, seccomp.NameWithConditions{Name: "socket", Conditions: seccomp.ArgumentConditions{
			// Other protocols list the sockets of all programs.
			{Argument: familyArgument, Operation: seccomp.Equal, Value: unix.AF_NETLINK},
			not(protocolArgument, unix.NETLINK_ROUTE),
		}})
	}
	return refused
}

// beyondPorts returns the refused calls of socket where only TCP ports are
// allowed: Landlock restricts TCP and no other protocol.
func beyondPorts(udp bool) []seccomp.NameWithConditions {
	var refused []seccomp.NameWithConditions
	refuse := func(f uint64, conditions ...seccomp.Condition) {
		refused = append(refused,
			seccomp.NameWithConditions{Name: "socket", Conditions: append(seccomp.ArgumentConditions{
				{Argument: familyArgument, Operation: seccomp.Equal, Value: f},
			}, conditions...)})
	}
	for _, f := range []uint64{unix.AF_INET, unix.AF_INET6} {
		refuse(f, bits(kindArgument, 4)) // neither stream nor datagram
		refuse(f, bits(kindArgument, 8))
		// Both bits are a raw socket.
		refuse(f, bits(kindArgument, unix.SOCK_STREAM), bits(kindArgument, unix.SOCK_DGRAM))
		if !udp {
			refuse(f, bits(kindArgument, unix.SOCK_DGRAM))
		}
		refuse(f, not(protocolArgument, 0), not(protocolArgument, unix.IPPROTO_TCP),
			not(protocolArgument, unix.IPPROTO_UDP))
	}
	return refused
}

// connecting are the calls that can connect without connect(2), past Landlock,
// with the argument that has the flags.
var connecting = map[string]uint32{"sendto": 3, "sendmsg": 2, "sendmmsg": 3}

// bits is true if any of the bits is set.
func bits(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.BitsSet, Value: value}
}

func not(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: value}
}
