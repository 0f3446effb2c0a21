package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// resources are the numbers of open file descriptors of a process and of its plugins, by
// name of the program, and the number of all processes.
type resources map[string]int

// resourcesOf counts the resources of a process. A process may end meanwhile.
func resourcesOf(t *testing.T, pid int) resources {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid=,ppid=,comm=").Output()
	if err != nil {
		t.Fatal(err)
	}
	type process struct{ pid, name string }
	below := map[string][]process{}
	for line := range strings.Lines(string(out)) {
		var child process
		var parent string
		if _, err := fmt.Sscan(line, &child.pid, &parent, &child.name); err == nil {
			below[parent] = append(below[parent], child)
		}
	}
	r, n := resources{}, 0
	var count func(p process)
	count = func(p process) {
		n++
		if p.name != "demo" { // Go's runtime opens descriptors when a server first uses a timer
			open, _ := os.ReadDir("/proc/" + p.pid + "/fd")
			r[p.name] += len(open)
		}
		for _, child := range below[p.pid] {
			count(child)
		}
	}
	count(process{fmt.Sprint(pid), "junctor"})
	r["processes"] = n
	return r
}

// TestReloadLeaksNoDescriptorsAndProcesses: after many reloads the process and its
// plugin have as many file descriptors and processes as before.
func TestReloadLeaksNoDescriptorsAndProcesses(t *testing.T) {
	t.Parallel()
	reloads, _ := reloadRounds()
	s := startReloadSite(t)
	use := func() {
		c := &reloadClient{url: s.url}
		for _, tool := range []string{"steady__add", "other__add"} {
			if _, err := c.call(tool); err != nil {
				t.Fatal(err)
			}
		}
		http.DefaultClient.CloseIdleConnections()
	}
	reload := func(n int) {
		broken := n%3 == 0
		s.write(fmt.Sprint(n), broken)
		s.hangup(reloadOutcome(broken))
	}
	reload(1)
	use()
	before := settled(t, s)
	for n := 2; n < reloads; n++ {
		reload(n)
		use()
	}
	eventually.NoError(t, func() error { // servers are given time to exit
		if after := resourcesOf(t, s.cmd.Process.Pid); !maps.Equal(before, after) {
			return fmt.Errorf("before %v, after %d reloads %v", before, reloads, after)
		}
		return nil
	})
	t.Logf("descriptors after %d reloads: %v", reloads, before)
}

// settled returns the resources when the servers are the two of the configuration and
// nothing changes for a second.
func settled(t *testing.T, s *reloadSite) resources {
	t.Helper()
	for end := time.Now().Add(reloadPatience); time.Now().Before(end); {
		before := resourcesOf(t, s.cmd.Process.Pid)
		time.Sleep(time.Second) // a change that is still to come shows within this time
		if after := resourcesOf(t, s.cmd.Process.Pid); maps.Equal(before, after) && len(s.children()) == 2 {
			return after
		}
	}
	t.Fatal("the number of file descriptors does not settle")
	return nil
}
