package process

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// limitLocks is RLIMIT_LOCKS. Linux enforces no limit of locks since version 2.4.25, but it
// still keeps one for each process: children inherit it, exec keeps it, and only a process with
// CAP_SYS_RESOURCE can raise it. A lower limit therefore tells that Junctor started a process,
// whatever that process did with its environment, its session, its parents or its namespaces.
const limitLocks = 10

const (
	unlimited    = math.MaxUint64
	descentLimit = 1 << 62 // of descendants; no administrator sets such a limit
)

// ownLocks returns the limit of processes that Junctor did not start: that of this process when
// it is first asked for, before anything lowers it, unless Junctor started this process.
var ownLocks = sync.OnceValue(func() uint64 {
	var own syscall.Rlimit
	if CarriesMark(os.Environ()) || prlimit(0, limitLocks, nil, &own) != nil {
		return unlimited
	}
	return own.Max
})

// MarkDescendants marks this process and everything that it starts from now on as started by
// Junctor, for [IsDescendant]. The mark cannot be taken back. A plugin calls it before it
// starts a server, so that no server runs without the mark for a moment.
func MarkDescendants() error { return markDescendant(0) }

// markDescendant marks a process that was just started; 0: this one.
func markDescendant(pid int) error {
	own := ownLocks()
	if own == 0 {
		return fmt.Errorf("the limit of file locks is 0 already")
	}
	return limit(pid, limitLocks, min(own-1, descentLimit))
}

// numbered calls start with a limit of file locks that only the process has that start starts,
// with all its descendants, and returns it. They carry the number also when they clear their
// environment and change their session. Only a marked process numbers what it starts: a number
// is a mark. The caller holds mu, so that numbers are not mixed up.
//
// Whatever starts a process by other means does so with another limit.
func numbered(start func()) uint64 {
	var own syscall.Rlimit
	unmarked := ownLocks() // first, before anything lowers the limit
	if prlimit(0, limitLocks, nil, &own) != nil || own.Max >= unmarked || own.Max < 2 {
		start()
		return 0
	}
	number := own.Max - 1
	if limit(0, limitLocks, number) != nil {
		number = 0
	}
	start()
	_ = limit(0, limitLocks, own.Max-2)
	return number
}

// hasNumber reports whether a process, or one that it descends from, was started with number.
func hasNumber(pid int, number uint64) bool {
	if number == 0 {
		return false
	}
	most, err := locksIn(string(read(pid, "limits")))
	return err == nil && most == number
}

// IsDescendant reports whether a process was started by this package, by whichever host, or
// descends from such a process. What a host released (Command.Release) is none. Only a process with
// CAP_SYS_RESOURCE can hide it.
func IsDescendant(pid int) (bool, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return false, err
	}
	most, err := locksIn(string(text))
	return err == nil && most < ownLocks(), err
}

// locksIn returns the limit of file locks in the text of /proc/PID/limits. It is the hard limit,
// because a process can change the other one.
func locksIn(text string) (uint64, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "Max file locks ")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		switch {
		case len(fields) < 2:
			return 0, fmt.Errorf("the line %q has no limits", line)
		case fields[1] == "unlimited":
			return unlimited, nil
		}
		return strconv.ParseUint(fields[1], 10, 64)
	}
	return 0, fmt.Errorf("the limits of the process have no line about file locks")
}
