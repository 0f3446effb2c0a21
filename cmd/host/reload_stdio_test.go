//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
)

// reloadRounds returns the numbers of reloads, and of calls of each client, for a test.
func reloadRounds() (reloads, calls int) {
	if os.Getenv("JUNCTOR_SOAK") != "" {
		return 50, 2500
	}
	return 10, 250
}

// serveStdio starts "junctor serve --watch" and returns its client.
func (d *reloadDir) serveStdio() (*reloadProcess, *reloadClient) {
	d.t.Helper()
	return d.startStdio(d.command("serve", "--watch"))
}

// startStdio starts a command that serves on standard input and output, and returns its
// client.
func (d *reloadDir) startStdio(cmd *exec.Cmd) (*reloadProcess, *reloadClient) {
	d.t.Helper()
	c := &reloadClient{waiting: map[string]chan reloadMessage{}}
	in, err := cmd.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	c.in = in
	s := startProcess(d.t, cmd)
	var reading sync.WaitGroup
	reading.Go(func() {
		if err := c.read(out); err != nil && !errors.Is(err, os.ErrClosed) {
			d.t.Error(err)
		}
	})
	d.t.Cleanup(func() { // before the process is waited for
		_ = in.Close()
		reading.Wait()
	})
	s.waitLog("serving on standard input and output")
	return s, c
}

// TestReloadLosesNoCallOverStdio is TestReloadLosesNoCall for clients on standard
// input, whose configuration is watched.
func TestReloadLosesNoCallOverStdio(t *testing.T) {
	t.Parallel()
	reloads, calls := reloadRounds()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, demoServers("0", false))
	d.trust()
	var processes []*reloadProcess
	var clients []*reloadClient
	for range 2 {
		s, c := d.serveStdio()
		processes, clients = append(processes, s), append(clients, c)
	}
	clients[0].initialize(t)
	for _, c := range clients {
		for _, tool := range []string{"steady__add", "other__add"} {
			if _, err := c.call(tool); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := processes[0].children()
	done := make(chan struct{})
	var work sync.WaitGroup
	for _, c := range clients {
		work.Go(func() { callUntil(t, c, calls, done) })
	}
	for n := 1; n <= reloads; n++ {
		broken := n%3 == 0
		rewriteConfig(t, d.path, demoServers(fmt.Sprint(n), broken))
		for _, s := range processes {
			s.waitLog(reloadOutcome(broken))
		}
	}
	close(done)
	work.Wait()
	if after := processes[0].children(); len(before) != 4 || kept(before, after) != 2 {
		t.Errorf("the servers were %v and are %v", before, after)
	}
}

// callUntil calls a server that stays and one that is replaced in turn, at least so
// many times and until done is closed.
func callUntil(t *testing.T, c *reloadClient, calls int, done chan struct{}) {
	for n := 0; ; n++ {
		if n >= calls {
			select {
			case <-done:
				return
			default:
			}
		}
		if _, err := c.call([]string{"steady__add", "other__add"}[n%2]); err != nil {
			t.Errorf("%s, call %d: %v", c.name(), n, err)
			return
		}
	}
}

// reloadOutcome is the text in the log after a reload.
func reloadOutcome(broken bool) string {
	if broken {
		return "was not reloaded"
	}
	return "reloaded the configuration"
}

// TestHangupEndsServeOverStdio: without --http, SIGHUP means that the terminal of the
// client is gone. It ends the process and its servers in order, except under nohup.
func TestHangupEndsServeOverStdio(t *testing.T) {
	t.Parallel()
	for name, nohup := range map[string]bool{"hangup": false, "nohup": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !nohup && signal.Ignored(syscall.SIGHUP) {
				t.Skip("the tests run under nohup, and so would the process")
			}
			d := newReloadDir(t)
			rewriteConfig(t, d.path, publishers("steady", "legacy", ""))
			d.trust()
			cmd := d.command("serve")
			if nohup {
				cmd = d.commandOf("sh", "-c", "trap '' HUP; exec junctor serve")
			}
			s, c := d.startStdio(cmd)
			call := map[string]any{"name": "steady__publish"}
			pid, err := c.process(call)
			if err == nil {
				err = s.cmd.Process.Signal(syscall.SIGHUP)
			}
			if err != nil {
				t.Fatal(err)
			}
			if nohup {
				if again, err := c.process(call); err != nil || again != pid {
					t.Errorf("the process %s, before %s: %v", again, pid, err)
				}
				return
			}
			s.awaitExit()
			awaitEnd(t, pid)
		})
	}
}
