package launch

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launchplan"
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

// maxFiles bounds the files and directories of rules. Each costs an open file and
// a system call.
const maxFiles = 10_000

// ownDir means another directory in each process, so its rule cannot be made here.
const ownDir = "/proc/self"

// addRuleset adds the Landlock ruleset for the files and TCP ports of rules to a
// plan. It restricts nothing itself.
func addRuleset(plan *launchplan.Plan, rules *sandbox.Rules, abi int) (ruleset *os.File, err error) {
	if len(rules.List)+len(rules.Read)+len(rules.Write)+len(rules.Data)+len(rules.Devices) > maxFiles {
		return nil, errors.New("the rules name too many files and directories")
	}
	if slices.Contains(rules.Read, ownDir) {
		plan.Own = []launchplan.Rule{{Path: ownDir, Access: uint64(known(readDir, abi))}}
	}
	var ports []landlock.Rule
	for _, port := range rules.Network.Ports {
		ports = append(ports, landlock.ConnectTCP(port))
	}
	fd, flags, err := config(rules).NewRulesetFD(ports...)
	if err != nil {
		return nil, err
	}
	if fd < 0 {
		return nil, errors.New("the kernel restricts nothing")
	}
	ruleset = os.NewFile(uintptr(fd), "ruleset")
	if err := addFiles(fd, rules, abi); err != nil {
		_ = ruleset.Close()
		return nil, err
	}
	plan.Ruleset, plan.RulesetFlags = true, flags
	return ruleset, nil
}

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

// addFiles adds the rules for files and directories to a ruleset.
func addFiles(ruleset int, rules *sandbox.Rules, abi int) error {
	move := writeDir
	if abi >= referABI {
		move |= ll.AccessFSRefer
	}
	for _, list := range []struct {
		paths     []string
		file, dir landlock.AccessFSSet
	}{
		{rules.List, 0, ll.AccessFSReadDir},
		{rules.Read, readFile, readDir},
		{rules.Write, writeFile, move},
		{rules.Data, writeFile, move &^ (ll.AccessFSMakeSym | ll.AccessFSMakeFifo | ll.AccessFSMakeSock)},
		{rules.Devices, device, readDir},
	} {
		for _, path := range list.paths {
			if path == ownDir || sandbox.Within(path, ownDir) {
				continue
			}
			if err := addFile(ruleset, path, known(list.file, abi), known(list.dir, abi)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFile adds the rule for a file or directory. It leaves out what is missing,
// what this user cannot open, and a path with a symbolic link. Paths have none when
// the rules are made, so a link leads to a file that was not granted.
func addFile(ruleset int, path string, file, dir landlock.AccessFSSet) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // some containers do not have the call
		fd, err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	}
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil
	}
	rights := file
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		rights = dir
	case unix.S_IFLNK:
		return nil
	}
	if rights == 0 {
		return nil
	}
	attr := ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: uint64(rights)}
	if err := ll.LandlockAddPathBeneathRule(ruleset, &attr, 0); err != nil {
		return fmt.Errorf("adding %s: %w", path, err)
	}
	return nil
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
