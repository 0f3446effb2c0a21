package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// An installer replaces the stdio plugin of a process by other builds of it.
type installer struct {
	t    *testing.T
	path string
	host int // id of the process
}

// install replaces the program as an installer does, by a build of another digest.
func (i *installer) install() {
	i.t.Helper()
	b, err := os.ReadFile(i.path)
	if err == nil {
		err = os.WriteFile(i.path+".new", append(b, 0), 0o755)
	}
	if err == nil {
		err = os.Rename(i.path+".new", i.path)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// running returns the ids of the plugin's processes, and those of them that run the program which is
// installed now.
func (i *installer) running() (all, current []int) {
	installed, err := os.Stat(i.path)
	if err != nil {
		i.t.Fatal(err)
	}
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) < 2 || fields[1] != strconv.Itoa(i.host) || !strings.Contains(string(text), "(junctor-stdio)") {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		all = append(all, pid)
		if runs, err := os.Stat(filepath.Join(filepath.Dir(path), "exe")); err == nil && os.SameFile(runs, installed) {
			current = append(current, pid)
		}
	}
	return all, current
}

// awaitCurrent waits until only the installed program runs.
func (i *installer) awaitCurrent() {
	i.t.Helper()
	eventually.NoError(i.t, func() error {
		if all, current := i.running(); len(current) != 1 || len(all) != 1 {
			return fmt.Errorf("the processes are %v, %v of the program that is installed", all, current)
		}
		return nil
	})
}

// TestReplacedPluginIsTakenUp installs other builds of a plugin while four clients call its server. A
// reload and the next start take up the program: no call fails for it.
func TestReplacedPluginIsTakenUp(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, publishers("steady", "legacy", ""))
	s := d.serveHTTP()
	i := &installer{t, filepath.Join(d.site.dir, "plugins", "junctor-plugin-stdio"), s.cmd.Process.Pid}
	first := &reloadClient{url: s.url}
	if _, err := first.process(map[string]any{"name": "steady__publish"}); err != nil {
		t.Fatal(err)
	}
	i.awaitCurrent()

	for range 2 {
		var calls, stop atomic.Int64
		var calling sync.WaitGroup
		for range 4 {
			c := &reloadClient{url: s.url}
			calling.Go(func() {
				for stop.Load() == 0 {
					if _, err := c.process(map[string]any{"name": "steady__publish"}); err != nil {
						t.Errorf("call %d: %v", calls.Load(), err)
						return
					}
					calls.Add(1)
				}
			})
		}
		eventually.True(t, "there are calls", func() bool { return calls.Load() > 20 })
		i.install()
		s.hangup(`changed=["steady"]`)
		before := calls.Load()
		eventually.True(t, "calls go on after a reload", func() bool { return calls.Load() > before+60 })
		stop.Store(1)
		calling.Wait()
		i.awaitCurrent()
	}

	// The next start after the end of a process takes up another program without a reload.
	for range 2 {
		i.install()
		old, _ := i.running()
		for _, pid := range old {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		eventually.True(t, "a call succeeds", func() bool {
			_, err := first.process(map[string]any{"name": "steady__publish"})
			return err == nil
		})
		i.awaitCurrent()
	}
}
