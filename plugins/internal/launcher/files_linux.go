package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// The rights that rules give.
const (
	readFile  landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSReadFile
	readDir   landlock.AccessFSSet = readFile | ll.AccessFSReadDir
	writeFile landlock.AccessFSSet = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	writeDir  landlock.AccessFSSet = readDir | writeFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSym | ll.AccessFSMakeFifo | ll.AccessFSMakeSock
	device landlock.AccessFSSet = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSIoctlDev
)

// Versions of the Landlock ABI.
const (
	referABI    = 2 // moving files between directories
	truncateABI = 3
	ioctlABI    = 5
)

// restrictFiles enforces the rules for files and TCP ports on this thread.
func restrictFiles(rules *sandbox.Rules, abi int) error {
	fd, flags, err := config(rules).NewRulesetFD(rulesOf(rules, abi)...)
	if err != nil {
		return err
	}
	if fd < 0 {
		return fmt.Errorf("the kernel restricts nothing")
	}
	defer syscall.Close(fd)
	if _, _, errno := syscall.RawSyscall(syscallRestrictSelf, uintptr(fd), uintptr(flags), 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

// syscallRestrictSelf is landlock_restrict_self, the same on every architecture.
const syscallRestrictSelf = 446

// config returns what the ruleset restricts: as much as this kernel can, except
// for what the rules allow everywhere.
func config(rules *sandbox.Rules) landlock.Config {
	c := landlock.V11
	if rules.Network.All {
		c.HandledAccessNet = 0
	}
	if rules.UnixSockets {
		c.HandledAccessFS &^= ll.AccessFSResolveUnix
		c.Scoped &^= ll.ScopeAbstractUnixSocket
	}
	return c.BestEffort()
}

// rulesOf returns the Landlock rules. Files and directories that are missing, or
// that this user cannot open, are left out.
func rulesOf(rules *sandbox.Rules, abi int) []landlock.Rule {
	var all []landlock.Rule
	add := func(paths []string, file, dir landlock.AccessFSSet) {
		for _, path := range paths {
			info, err := os.Stat(path)
			switch {
			case err != nil:
			case info.IsDir():
				all = append(all, landlock.PathAccess(known(dir, abi), path).IgnoreIfMissing())
			default:
				all = append(all, landlock.PathAccess(known(file, abi), path).IgnoreIfMissing())
			}
		}
	}
	add(rules.Read, readFile, readDir)
	move := writeDir
	if abi >= referABI {
		move |= ll.AccessFSRefer
	}
	add(rules.Write, writeFile, move)
	add(rules.Devices, device, readDir)
	for _, port := range rules.Network.Ports {
		all = append(all, landlock.ConnectTCP(port))
	}
	return all
}

// known removes rights that the kernel does not know.
func known(rights landlock.AccessFSSet, abi int) landlock.AccessFSSet {
	if abi < truncateABI {
		rights &^= ll.AccessFSTruncate
	}
	if abi < ioctlABI {
		rights &^= ll.AccessFSIoctlDev
	}
	return rights
}
