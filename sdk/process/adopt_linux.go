package process

import (
	"bytes"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	prSetChildSubreaper = 36
	endTime             = time.Second
	gather              = 10 * time.Millisecond
)

var (
	adopting  sync.Once
	unclaimed = 10 * time.Second // time after which a zombie that may belong to os/exec is reaped

	// inherited holds the children that existed before Adopt, with their
	// names. A shell that starts a background job and then executes this
	// program leaves such children. The first process of a container has them
	// too. Neither they nor their descendants may be ended.
	inherited map[int]string // guarded by mu
)

// Adopt makes this process the subreaper of its descendants and reaps them when
// they end. It lasts as long as the program.
func Adopt() error {
	var failed error
	adopting.Do(func() {
		inherit()
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
			failed = errno
			return
		}
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGCHLD)
		go reapAdopted(ended)
	})
	return failed
}

// EndAdopted kills the children that this process did not start, with all their
// descendants. Plugins that died leave such processes behind.
func EndAdopted() {
	killAdopted(func(pid int, _ []byte) bool {
		s, ok := statOf(pid)
		return ok && !s.dead
	})
}

// inherit fills inherited with the current children.
func inherit() {
	mu.Lock()
	defer mu.Unlock()
	inherited = map[int]string{}
	for _, pid := range children(os.Getpid()) {
		if tracked[pid] != nil {
			continue
		}
		if n, err := identity(pid); err == nil {
			inherited[pid] = n
		}
	}
}

// exempt reports whether this package must not end a child. The caller holds
// mu.
func exempt(pid int) bool {
	if p := tracked[pid]; p != nil {
		return p.free
	}
	if released.Load() && hasMark(environmentAfterExec(pid), releasedMark) {
		return true
	}
	if was, ok := inherited[pid]; ok {
		if now, err := identity(pid); err == nil && now == was {
			return true
		}
	}
	if os.Getpid() != 1 && len(inherited) == 0 {
		return false
	}
	if ours, err := IsDescendant(pid); ours && err == nil {
		return false
	}
	// The inherited RunVariable shows which run the process belongs to.
	env := environment(pid)
	if len(env) == 0 {
		return false // the process is ending or in exec
	}
	env = append([]byte{0}, env...)
	for _, run := range []string{Run(), os.Getenv(RunVariable)} {
		if run != "" && bytes.Contains(env, []byte("\x00"+RunVariable+"="+run+"\x00")) {
			return false
		}
	}
	return true
}

// reapAdopted reaps adopted children that have ended. Some zombies may be
// children of the author's code, which may still wait for them. reapAdopted
// gives it the time unclaimed.
func reapAdopted(ended <-chan os.Signal) {
	dead := map[int]time.Time{} // zombies that may be waited for, and the time they were first seen
	for {
		var again <-chan time.Time
		if len(dead) > 0 {
			again = time.After(unclaimed)
		}
		select {
		case <-ended:
			time.Sleep(gather) // many may end at once: list the children once for them
		case <-again:
		}
		before := dead
		dead = map[int]time.Time{}
		reapMatching(ownChildren, func(pid int) bool {
			s, ok := statOf(pid)
			if !ok || !s.dead || surelyAdopted(pid) {
				return ok && s.dead
			}
			since, seen := before[pid]
			if !seen {
				since = time.Now()
			}
			if time.Since(since) >= unclaimed {
				return true
			}
			dead[pid] = since
			return false
		})
	}
}

// ownChildren returns the children of all threads of this process.
func ownChildren() []int { return children(os.Getpid()) }

// reapMatching reaps the zombies in list that match accepts, one by one. Waiting
// for any child would take the exit status from other code that waits for it.
func reapMatching(list func() []int, match func(pid int) bool) {
	if _, dead := childState(); !dead {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	for _, pid := range list() {
		if tracked[pid] == nil && match(pid) {
			var ws syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
		}
	}
}

// surelyAdopted reports whether a child was certainly not forked by this
// process. A child that the author's code started with os/exec is in the same group, or
// leads a new group in the same session.
func surelyAdopted(pid int) bool {
	child, ok := statOf(pid)
	self, _ := statOf(os.Getpid())
	return ok && child.group != self.group && (child.group != pid || child.session != self.session)
}

// adopted returns the children that this process did not start and may end.
func adopted() []int {
	if any, _ := childState(); !any {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	var pids []int
	for _, pid := range adoptable() {
		if tracked[pid] == nil && !exempt(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endable returns all children that are not exempt.
func endable() []int {
	mu.Lock()
	defer mu.Unlock()
	return slices.DeleteFunc(ownChildren(), exempt)
}

// endAdopted kills the adopted children with this mark or this number, and all
// their descendants.
func endAdopted(mark string, number uint64) {
	list := func() []int { return slices.Concat(adopted(), siblings(number)) }
	killThose(list, func(pid int, env []byte) bool { return hasMark(env, mark) || hasNumber(pid, number) })
}

// siblings returns the children with this number that are neither tracked nor adopted: a
// program can start a process as its sibling, a child of the thread that started the program.
func siblings(number uint64) (pids []int) {
	ours := adoptable()
	mu.Lock()
	defer mu.Unlock()
	for _, pid := range ownChildren() {
		if tracked[pid] == nil && !exempt(pid) && !slices.Contains(ours, pid) && hasNumber(pid, number) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killAdopted is killThose for the adopted children.
func killAdopted(match func(pid int, env []byte) bool) { killThose(adopted, match) }

// killThose kills the children in a list that match accepts, with all their
// descendants. The end of a process may leave further children to adopt, so
// killThose repeats until all have ended, for at most endTime.
func killThose(list func() []int, match func(pid int, env []byte) bool) {
	killed, gone, bare := map[int]bool{}, map[int]bool{}, map[int]bool{}
	for begun := time.Now(); time.Since(begun) < endTime; {
		again := false
		for _, pid := range list() {
			env := environment(pid)
			if match(pid, env) {
				killed[pid], again = true, true
				killTree(pid)
				continue
			}
			// The environment of an ending process cannot be read.
			s, ok := statOf(pid)
			switch {
			case !ok || s.dead:
				again = again || !gone[pid]
				gone[pid] = true
			case s.ending:
				again = true
			case len(env) == 0 && !bare[pid]:
				// During exec the environment and the arguments are empty. If
				// there
				// are arguments now, the exec may be over: look once more.
				bare[pid] = len(read(pid, "cmdline")) > 0
				again = true
			}
		}
		reapMatching(adoptable, func(pid int) bool { return killed[pid] || surelyAdopted(pid) })
		reapMatching(ownChildren, func(pid int) bool { return killed[pid] })
		if !again {
			return
		}
		time.Sleep(killPoll)
	}
}

// hasMark reports whether an environment contains this mark.
func hasMark(env []byte, mark string) bool {
	return bytes.Contains(append([]byte{0}, env...), []byte("\x00"+MarkVariable+"="+mark+"\x00"))
}

// EndAll kills every descendant of this process and waits for them for at most
// d. Call it before exiting, when their exit status is no longer needed.
func EndAll(d time.Duration) {
	deadline := time.Now().Add(d)
	for {
		pids := endable()
		if len(pids) == 0 || time.Now().After(deadline) {
			return
		}
		for _, pid := range pids {
			killTree(pid)
		}
		reapMatching(ownChildren, func(pid int) bool { return slices.Contains(pids, pid) })
		time.Sleep(killPoll)
	}
}

// EndStale kills processes of hosts that have ended: a host killed together
// with its plugins leaves their descendants. It reads the environment of every
// process of this user, which takes a few milliseconds.
func EndStale() {
	for _, pid := range numbersIn("/proc") {
		if stale(environment(pid)) {
			killTree(pid)
		}
	}
}

// stale reports whether the host named in an environment has ended.
func stale(env []byte) bool {
	const prefix = RunVariable + "="
	rest, found := bytes.CutPrefix(env, []byte(prefix))
	if !found {
		_, rest, found = bytes.Cut(env, []byte("\x00"+prefix))
	}
	run, _, _ := bytes.Cut(rest, []byte{0})
	return found && Gone(string(run))
}
