package sandbox

import (
	"sync"
	"syscall"
)

const (
	createRuleset = 444 // landlock_create_ruleset, the same on every architecture
	versionFlag   = 1   // LANDLOCK_CREATE_RULESET_VERSION
	prSetSeccomp  = 22
	filterMode    = 2
)

// Probe returns what this kernel can enforce. It asks the kernel once.
var Probe = sync.OnceValue(func() Support {
	var s Support
	if version, _, errno := syscall.Syscall(createRuleset, 0, 0, versionFlag); errno == 0 {
		s.Landlock = int(version)
	}
	// A filter at an invalid address is EFAULT where filters exist.
	_, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, prSetSeccomp, filterMode, 0, 0, 0, 0)
	s.Seccomp = errno == syscall.EFAULT
	return s
})
