package main

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/junctor-mcp/junctor/sdk/sandbox/launchplan"
)

const (
	addRule         = 445 // landlock_add_rule, the same on every architecture
	restrictSelf    = 446 // landlock_restrict_self
	pathBeneath     = 1   // LANDLOCK_RULE_PATH_BENEATH
	openPath        = 0x200000
	prNoNewPrivs    = 38
	prSetSeccomp    = 22
	prDropBounding  = 24
	filterMode      = 2
	leastArguments  = 2 // the path of the program and the name it sees
	onlyForPlugins  = "junctor-sandbox is started by Junctor's plugins; it has no use on the command line\n"
	invalidArgument = uint64(syscall.EINVAL)
)

// launch restricts this process and executes a program. It returns only if that
// fails.
func launch(args []string) {
	runtime.LockOSThread() // the restrictions hold for this thread; exec ends all others
	plan, command, err := launchplan.Parse(args)
	if len(args) == 0 {
		_, _ = os.Stderr.WriteString(onlyForPlugins)
		return
	}
	syscall.CloseOnExec(launchplan.ReportFD)
	if err != nil || len(command) < leastArguments {
		report(launchplan.Failure{Step: "reading the plan", Errno: invalidArgument})
		return
	}
	if step, errno := restrict(&plan); errno != 0 {
		report(launchplan.Failure{Step: step, Errno: uint64(errno)})
		return
	}
	if _, err := syscall.Write(launchplan.ReportFD, []byte{launchplan.Restricted}); err != nil {
		return // the plugin has gone
	}
	errno, _ := syscall.Exec(command[0], command[1:], os.Environ()).(syscall.Errno)
	report(launchplan.Failure{Step: launchplan.Executing, Errno: uint64(errno)})
}

// capabilities reach other processes or the whole machine, past the file rules. The
// superuser's program runs without them; exec takes from the bounding set.
var capabilities = []uintptr{
	9,  // CAP_LINUX_IMMUTABLE
	12, // CAP_NET_ADMIN
	13, // CAP_NET_RAW, which reads the connections of other programs
	14, // CAP_IPC_LOCK
	15, // CAP_IPC_OWNER
	16, // CAP_SYS_MODULE
	17, // CAP_SYS_RAWIO
	19, // CAP_SYS_PTRACE
	20, // CAP_SYS_PACCT
	21, // CAP_SYS_ADMIN
	22, // CAP_SYS_BOOT
	23, // CAP_SYS_NICE
	24, // CAP_SYS_RESOURCE
	25, // CAP_SYS_TIME
	27, // CAP_MKNOD
	28, // CAP_LEASE
	29, // CAP_AUDIT_WRITE
	30, // CAP_AUDIT_CONTROL
	31, // CAP_SETFCAP
	32, // CAP_MAC_OVERRIDE
	33, // CAP_MAC_ADMIN
	34, // CAP_SYSLOG
	37, // CAP_AUDIT_READ
	38, // CAP_PERFMON
	39, // CAP_BPF
	40, // CAP_CHECKPOINT_RESTORE
}

// restrict carries out a plan. The limits come last: little memory may be left
// for this process then.
func restrict(plan *launchplan.Plan) (step string, errno syscall.Errno) {
	for _, capability := range capabilities {
		if prctl(prDropBounding, capability, 0) == syscall.EPERM {
			break // a process that may not drop them has none
		}
	}
	if errno := prctl(prNoNewPrivs, 1, 0); errno != 0 {
		return "giving up new privileges", errno
	}
	for _, rule := range plan.Own {
		if errno := add(rule); errno != 0 {
			return "adding a rule", errno
		}
	}
	if plan.Ruleset {
		syscall.CloseOnExec(launchplan.RulesetFD)
		if _, _, errno := syscall.RawSyscall(restrictSelf, launchplan.RulesetFD, uintptr(plan.RulesetFlags),
			0); errno != 0 {
			return "restricting files", errno
		}
	}
	for _, filter := range plan.Filters {
		if errno := load(filter); errno != 0 {
			return "restricting system calls", errno
		}
	}
	for _, l := range plan.Limits {
		if err := lower(l); err != nil {
			errno, _ := err.(syscall.Errno)
			return "setting a limit", errno
		}
	}
	return "", 0
}

// add adds a rule to the ruleset.
func add(rule launchplan.Rule) syscall.Errno {
	dir, err := syscall.Open(rule.Path, openPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	beneath := struct { // a packed struct: the second half of the last word is not read
		access uint64
		dir    int32
	}{rule.Access, int32(dir)}
	_, _, errno := syscall.RawSyscall6(addRule, launchplan.RulesetFD, pathBeneath, uintptr(unsafe.Pointer(&beneath)),
		0, 0, 0)
	_ = syscall.Close(dir)
	return errno
}

// load loads a filter on this thread.
func load(filter launchplan.Filter) syscall.Errno {
	instructions := make([]syscall.SockFilter, len(filter))
	for i, in := range filter {
		instructions[i] = syscall.SockFilter{Code: uint16(in >> 48), Jt: uint8(in >> 40), Jf: uint8(in >> 32),
			K: uint32(in)}
	}
	program := syscall.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]}
	return prctl(prSetSeccomp, filterMode, uintptr(unsafe.Pointer(&program)))
}

func prctl(option, a, b uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, b, 0, 0, 0)
	return errno
}

// lower lowers a limit and never raises it.
func lower(l launchplan.Limit) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(l.Resource, &now); err != nil {
		return err
	}
	most := min(l.Most, now.Max)
	return syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: most, Max: most})
}

// report tells the plugin why the program does not run.
func report(f launchplan.Failure) {
	_, _ = syscall.Write(launchplan.ReportFD, []byte(f.String())) // the plugin may have gone
}
