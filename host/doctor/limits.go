package doctor

import (
	"context"
	"fmt"
)

// Limits are limits of the system. 0 is not known.
type Limits struct {
	Files          uint64 // open files of this process
	HardFiles      uint64 // up to which the user may raise Files
	Watches        uint64 // inotify watches of this user
	WatchInstances uint64 // inotify instances of this user
}

const (
	leastFiles     = 1024
	leastWatches   = 8192
	leastInstances = 64
)

// SystemLimits returns a check of the limits of the system for a number of servers.
func SystemLimits(read func() Limits, servers int) Check {
	return Check{"limits", func(context.Context) (found []Finding) {
		l := read()
		// A server over a pipe or a socket takes up to six descriptors in the host.
		need := uint64(max(leastFiles, 256+6*servers))
		if l.Files > 0 && l.Files < need {
			one := Finding{Severity: Warning,
				Message: fmt.Sprintf("a process may have only %d open files; %d servers need %d",
					l.Files, servers, need),
				Remedy: fmt.Sprintf(
					"run `ulimit -n %d` before `junctor serve`, or set LimitNOFILE=%d in its systemd unit", need, need,
				)}
			if l.Files < 256 {
				one.Severity = Error
			}
			found = append(found, one)
		}
		if l.Watches > 0 && l.Watches < leastWatches {
			found = append(found,
				Finding{Severity: Warning, Message: fmt.Sprintf("only %d files can be watched for changes", l.Watches),
					Remedy: fmt.Sprintf("run `sudo sysctl fs.inotify.max_user_watches=%d`", 16*leastWatches)})
		}
		if l.WatchInstances > 0 && l.WatchInstances < leastInstances {
			found = append(found, Finding{Severity: Warning,
				Message: fmt.Sprintf("only %d processes can watch files for changes", l.WatchInstances),
				Remedy:  fmt.Sprintf("run `sudo sysctl fs.inotify.max_user_instances=%d`", 8*leastInstances)})
		}
		return found
	}}
}
