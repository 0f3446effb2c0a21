package control

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/shirou/gopsutil/v4/process"
	"github.com/tailscale/peercred"
)

// maxAncestors bounds the walk from a process to the first one of the system.
const maxAncestors = 64

// checkPeer returns nil if the process at the other end of a connection may control
// this one: it runs as the same user or as root, and it does not descend from one of
// the processes in hosts.
func checkPeer(c net.Conn, hosts []int) error {
	creds, err := peercred.Get(c)
	if err != nil {
		return fmt.Errorf("the process that connected is not known: %w", err)
	}
	uid, known := creds.UserID()
	if own := strconv.Itoa(os.Getuid()); !known || uid != own && uid != "0" {
		return fmt.Errorf("a process of the user %s may not use this socket", uid)
	}
	pid, known := creds.PID()
	if !known {
		return fmt.Errorf("the process that connected is not known")
	}
	descends, err := descendsFrom(pid, hosts)
	if err != nil {
		return fmt.Errorf("the parents of process %d are not known: %w", pid, err)
	}
	if descends {
		return fmt.Errorf("process %d was started by junctor and may not control junctor", pid)
	}
	return nil
}

// descendsFrom reports whether a process is a descendant of one of others.
func descendsFrom(pid int, others []int) (bool, error) {
	for range maxAncestors {
		if slices.Contains(others, pid) {
			return true, nil
		}
		if pid <= 1 {
			return false, nil
		}
		parent, err := (&process.Process{Pid: int32(pid)}).Ppid()
		if err != nil {
			return false, err
		}
		pid = int(parent)
	}
	return false, fmt.Errorf("there are more than %d", maxAncestors)
}

// Resident returns the resident memory of a process in bytes, or 0 if it is not known.
func Resident(pid int) uint64 {
	if pid <= 0 {
		return 0
	}
	m, err := (&process.Process{Pid: int32(pid)}).MemoryInfo()
	if err != nil {
		return 0
	}
	return m.RSS
}
