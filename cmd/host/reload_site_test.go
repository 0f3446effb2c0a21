//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A reloadSite is a running "junctor serve --http" with its configuration.
type reloadSite struct {
	*reloadProcess
	path string // of the configuration
	url  string
}

// A reloadProcess is a running "junctor serve".
type reloadProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	log chan string // lines of the log
}

// A reloadDir is a directory with a configuration.
type reloadDir struct {
	t    *testing.T
	site silent
	path string // of the configuration
}

func newReloadDir(t *testing.T) *reloadDir {
	t.Helper()
	site := silentSite(t)
	return &reloadDir{t: t, site: site, path: filepath.Join(site.dir, "junctor.hcl")}
}

// command returns a command that starts junctor in the directory.
func (d *reloadDir) command(args ...string) *exec.Cmd {
	return d.commandOf("junctor", args...)
}

func (d *reloadDir) commandOf(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = d.site.dir, d.site.env
	return cmd
}

// rewriteConfig replaces the configuration at once: a process that watches the file sees
// either text, and never a part of one.
func rewriteConfig(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path+".new", []byte(text), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a configuration with a server that never changes and one whose
// arguments have a version. Without a version that server is left out; broken adds
// a block that is not closed.
func (s *reloadSite) write(version string, broken bool) {
	s.t.Helper()
	rewriteConfig(s.t, s.path, demoServers(version, broken))
}

func demoServers(version string, broken bool) string {
	text := "server \"steady\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"
	if version != "" {
		text += fmt.Sprintf("server \"other\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n    env = { VERSION = %q }\n  }\n}\n",
			version)
	}
	if broken {
		text += "server \"unclosed\" {\n"
	}
	return text
}

// hangup makes the process reload and waits until the log has one of the texts.
func (s *reloadProcess) hangup(want ...string) string {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
	return s.waitLog(want...)
}

func (s *reloadProcess) waitLog(want ...string) string {
	s.t.Helper()
	deadline := time.After(reloadPatience)
	for {
		select {
		case line, ok := <-s.log:
			if !ok {
				s.t.Fatalf("it ended, and the log has none of %q", want)
			}
			for _, w := range want {
				if strings.Contains(line, w) {
					return line
				}
			}
		case <-deadline:
			s.t.Fatalf("the log has none of %q", want)
		}
	}
}

// awaitExit waits until the log ends.
func (s *reloadProcess) awaitExit() {
	s.t.Helper()
	for deadline := time.After(reloadPatience); ; {
		select {
		case _, ok := <-s.log:
			if !ok {
				return
			}
		case <-deadline:
			s.t.Fatal("the process has not ended")
		}
	}
}

// startProcess starts a command and reads its log. The test ends it with SIGTERM.
func startProcess(t *testing.T, cmd *exec.Cmd) *reloadProcess {
	t.Helper()
	s := &reloadProcess{t: t, cmd: cmd, log: make(chan string, 1<<16)}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(s.log)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.log <- lines.Text()
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		reading.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	return s
}

func startReloadSite(t *testing.T, flags ...string) *reloadSite {
	t.Helper()
	return startReloadSiteWith(t, "", flags...)
}

// startReloadSiteWith starts it with another variable of the environment.
func startReloadSiteWith(t *testing.T, variable string, flags ...string) *reloadSite {
	t.Helper()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, demoServers("0", false))
	if variable != "" {
		d.site.env = append(d.site.env, variable)
	}
	return d.serveHTTP(flags...)
}

// serveHTTP starts the process.
func (d *reloadDir) serveHTTP(flags ...string) *reloadSite {
	d.t.Helper()
	s := d.newSite()
	s.start(append([]string{"serve", "--http=127.0.0.1:0"}, flags...)...)
	return s
}

// newSite returns a site whose process is not started yet.
func (d *reloadDir) newSite() *reloadSite {
	return &reloadSite{reloadProcess: &reloadProcess{t: d.t, cmd: d.command()}, path: d.path}
}

// newReloadSite returns a site without a configuration.
func newReloadSite(t *testing.T) *reloadSite {
	t.Helper()
	return newReloadDir(t).newSite()
}

// start trusts the configuration, starts the process and waits until it accepts clients.
func (s *reloadSite) start(args ...string) {
	s.t.Helper()
	s.trust()
	cmd := exec.Command("junctor", args...)
	cmd.Dir, cmd.Env = s.cmd.Dir, s.cmd.Env
	s.reloadProcess = startProcess(s.t, cmd)
	s.url = s.endpoint()
}

// endpoint waits until the process accepts clients, and returns its URL.
func (s *reloadSite) endpoint() string {
	s.t.Helper()
	_, rest, _ := strings.Cut(s.waitLog("serving over HTTP"), "endpoint=")
	url, _, _ := strings.Cut(rest, " ")
	return url
}

// trust trusts the configuration as it is, unless the environment names it: then it needs no
// trust, and a change would ask again for one that has it.
func (d *reloadDir) trust() {
	d.t.Helper()
	named := ""
	for _, kv := range d.site.env {
		if value, is := strings.CutPrefix(kv, "JUNCTOR_CONFIG="); is {
			named = value
		}
	}
	if named != "" {
		return
	}
	if out, err := d.command("trust", "junctor.hcl", "--yes").CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
}

func (s *reloadSite) trust() {
	s.t.Helper()
	(&reloadDir{t: s.t, site: silent{s.cmd.Dir, s.cmd.Env}}).trust()
}

// children returns the process ids of the demo servers in the directory of the process.
func (s *reloadProcess) children() map[string]bool {
	pids := map[string]bool{}
	out, _ := exec.Command("ps", "-eo", "pid=,args=").Output()
	for line := range strings.Lines(string(out)) {
		pid, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		cwd, err := os.Readlink("/proc/" + pid + "/cwd")
		if strings.TrimSpace(args) == "./demo" && err == nil && cwd == s.cmd.Dir {
			pids[pid] = true
		}
	}
	return pids
}

// kept returns how many of the process ids before are there afterwards.
func kept(before, after map[string]bool) (n int) {
	for pid := range before {
		if after[pid] {
			n++
		}
	}
	return n
}

// residentKiB returns the resident memory of the process.
func (s *reloadSite) residentKiB() (n int) {
	s.t.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", fmt.Sprint(s.cmd.Process.Pid)).Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &n)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
