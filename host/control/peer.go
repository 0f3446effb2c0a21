package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/shirou/gopsutil/v4/process"
	"github.com/tailscale/peercred"

	started "github.com/junctor-mcp/junctor/sdk/process"
)

// maxAncestors bounds the walk from a process to the first one of the system.
const maxAncestors = 64

// checkPeer returns nil if the process at the other end of a connection may control
// this one: it runs as the same user or as root, and Junctor did not start it, neither
// this process nor one of hosts nor one that has ended. The functions of this file ask the
// system, and keep no state. A weaker check lets MCP servers approve their own calls.
func checkPeer(c net.Conn, hosts []int) error {
	if err := checkUser(c); err != nil {
		return err
	}
	pid, began, err := beganByJunctor(c, os.Getpid(), hosts)
	switch {
	case err != nil:
		return err
	case began:
		return fmt.Errorf("process %d was started by junctor and may not control junctor", pid)
	}
	return nil
}

// beganByJunctor reports whether Junctor started the process at the other end of a connection,
// or one that it descends from. self and hosts are processes of Junctor; self 0 is none. It fails
// if the process has ended: another one may have its id.
func beganByJunctor(c net.Conn, self int, hosts []int) (pid int, began bool, err error) {
	creds, err := peercred.Get(c)
	if err != nil {
		return 0, false, fmt.Errorf("the process at the other end is not known: %w", err)
	}
	pid, known := creds.PID()
	if !known {
		return 0, false, errors.New("the process at the other end is not known")
	}
	if began, err = descendsFrom(pid, self, hosts); err != nil {
		return pid, false, fmt.Errorf("the parents of process %d are not known: %w", pid, err)
	}
	if !began {
		if began, err = started.IsDescendant(pid); err != nil {
			return pid, false, fmt.Errorf("the limits of process %d are not known: %w", pid, err)
		}
	}
	if peerEnded(c) {
		return pid, false, fmt.Errorf("process %d, which connected, has ended", pid)
	}
	return pid, began, nil
}

// StartedByJunctor reports whether Junctor started a process, or one that it descends from. It
// is also true where that cannot be found out.
func StartedByJunctor(pid int) bool {
	began, err := descendsFrom(pid, 0, nil)
	if err == nil && !began {
		began, err = started.IsDescendant(pid)
	}
	return began || err != nil
}

// checkUser returns nil if the process at the other end of a connection runs as the same
// user or as root.
func checkUser(c net.Conn) error {
	creds, err := peercred.Get(c)
	if err != nil {
		return fmt.Errorf("the process at the other end is not known: %w", err)
	}
	uid, known := creds.UserID()
	if own := strconv.Itoa(os.Getuid()); !known || uid != own && uid != "0" {
		return fmt.Errorf("the process at the other end belongs to the user %s", uid)
	}
	return nil
}

// errStarted is the error of a socket that a process serves which Junctor started.
var errStarted = errors.New("it was started by junctor and could show false approvals and links")

// checkServer returns nil if the process that serves a socket runs as the same user or as root,
// and Junctor did not start it: see checkPeer. A server that Junctor starts can serve a socket
// like that of Junctor.
func checkServer(c net.Conn, hosts []int) error {
	if err := checkUser(c); err != nil {
		return err
	}
	_, began, err := beganByJunctor(c, 0, hosts)
	switch {
	case err != nil:
		return err
	case began:
		return errStarted
	}
	return nil
}

// IsStarted reports whether an error of [Instance.Approvals], Approve or ConsoleLink says that
// Junctor started the process, so that its answers are not trusted.
func IsStarted(err error) bool { return errors.Is(err, errStarted) }

// descendsFrom reports whether a process is self, has an ancestor that is self or among others,
// or has the mark of a process that Junctor started, as has each of its ancestors up to
// Junctor. The mark shows what a server started that has renamed a runtime directory.
func descendsFrom(pid, self int, others []int) (bool, error) {
	requester := pid
	for range maxAncestors {
		if pid == self && self != 0 || pid != requester && slices.Contains(others, pid) || marked(pid) {
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

// marked reports whether the environment of a process has a mark of package process. It
// returns false if the environment cannot be read.
func marked(pid int) bool {
	environ, err := (&process.Process{Pid: int32(pid)}).Environ()
	return err == nil && started.CarriesMark(environ)
}
