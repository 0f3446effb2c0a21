//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestReloadLosesNoCall reloads again and again, every third time with a broken
// configuration, while clients of both eras call a server that stays and one that is
// replaced. No call fails, sessions go on, and the server that stays is never
// restarted.
func TestReloadLosesNoCall(t *testing.T) {
	reloads, calls := reloadRounds()
	s := startReloadSite(t)
	clients := []*reloadClient{{url: s.url}, {url: s.url}, {url: s.url}, {url: s.url}}
	clients[0].initialize(t)
	clients[1].initialize(t)
	for _, tool := range []string{"steady__add", "other__add"} {
		if _, err := clients[0].call(tool); err != nil {
			t.Fatal(err)
		}
	}
	before := s.children()
	done := make(chan struct{})
	var work sync.WaitGroup
	for _, c := range clients {
		work.Go(func() { callUntil(t, c, calls, done) })
	}
	for n := 1; n <= reloads; n++ {
		broken := n%3 == 0
		s.write(fmt.Sprint(n), broken)
		s.hangup(reloadOutcome(broken))
	}
	close(done)
	work.Wait()
	if after := s.children(); len(before) != 2 || kept(before, after) != 1 {
		t.Errorf("the servers were %v and are %v", before, after)
	}
}

// TestReloadOfServers: a new server can be called after a reload, a removed one not
// any longer, and an error leaves everything as it was and has a place in the log.
func TestReloadOfServers(t *testing.T) {
	s := startReloadSite(t)
	c := &reloadClient{url: s.url}
	if _, err := c.call("other__add"); err != nil {
		t.Fatal(err)
	}
	s.write("", false)
	if line := s.hangup("reloaded"); !strings.Contains(line, `removed=["other"]`) {
		t.Error(line)
	}
	if text, err := c.call("other__add"); err == nil || !strings.Contains(text, "unknown tool") {
		t.Errorf("a removed server: %s", text)
	}
	s.write("2", true)
	if line := s.hangup("not reloaded"); !strings.Contains(line, "junctor.hcl:") {
		t.Errorf("no place: %s", line)
	}
	if _, err := c.call("steady__add"); err != nil {
		t.Error(err)
	}
	s.write("2", false)
	if line := s.hangup("reloaded"); !strings.Contains(line, `added=["other"]`) {
		t.Error(line)
	}
	if _, err := c.call("other__add"); err != nil {
		t.Error(err)
	}
}

// TestReloadNamesMissingPrograms: a reload succeeds, and its answer and the log warn of a server
// whose program cannot be found, with the place.
func TestReloadNamesMissingPrograms(t *testing.T) {
	s := startReloadSite(t)
	lost := "server \"lost\" {\n  transport \"stdio\" {\n    command = [\"./gone\"]\n  }\n}\n"
	rewriteConfig(t, s.path, demoServers("", false)+lost)
	if line := s.hangup(`server "lost" cannot start`, `server \"lost\" cannot start`); !strings.Contains(line,
		"junctor.hcl:8:") {
		t.Errorf("no place: %s", line)
	}
	_, stderr, status := s.junctor("--text", "reload")
	if status != 0 || !strings.Contains(stderr, `warning: server "lost" cannot start`) ||
		strings.Contains(stderr, "steady") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestWatchReloads changes the configuration without a signal.
func TestWatchReloads(t *testing.T) {
	s := startReloadSite(t, "--watch")
	s.write("", false)
	s.waitLog(`removed=["other"]`)
	s.write("1", false)
	s.waitLog(`added=["other"]`)
	if _, err := (&reloadClient{url: s.url}).call("other__add"); err != nil {
		t.Error(err)
	}
}

// TestReloadRefusesEmptyFile: an editor has truncated the file and not written it yet.
func TestReloadRefusesEmptyFile(t *testing.T) {
	t.Parallel()
	s := startReloadSite(t)
	for _, text := range []string{"", "# nothing\n", "locals {\n  x = 1\n}\n"} {
		rewriteConfig(t, s.path, text)
		if line := s.hangup("not reloaded", "reloaded the"); !strings.Contains(line,
			"neither servers nor gateway.http") {
			t.Errorf("%q: %s", text, line)
		}
	}
	if _, err := (&reloadClient{url: s.url}).call("steady__add"); err != nil {
		t.Error(err)
	}
}

// TestReloadNeedsTrust: a changed configuration that was found in the current
// directory is not used before it is trusted.
func TestReloadNeedsTrust(t *testing.T) {
	s := startReloadSiteWith(t, "JUNCTOR_CONFIG=")
	s.write("", false)
	if line := s.hangup("not reloaded"); !strings.Contains(line, "junctor trust") {
		t.Error(line)
	}
	c := &reloadClient{url: s.url}
	if _, err := c.call("other__add"); err != nil {
		t.Errorf("the configuration before is not in effect: %v", err)
	}
	s.trust()
	s.hangup(`removed=["other"]`)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if line := s.hangup("reloaded the configuration",
		"was not reloaded"); !strings.Contains(line, "was not reloaded") || !strings.Contains(line, "junctor.hcl") {
		t.Errorf("without the configuration: %s", line)
	}
}

// TestReloadKeepsLocation: a process that serves the user's own configuration reloads
// that one, although there is a junctor.hcl in its directory now, which is trusted.
// Secrets that were granted to the former must not reach the latter.
func TestReloadKeepsLocation(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	own := filepath.Join(d.site.dir, "home", "config", "junctor.hcl")
	if err := errors.Join(os.Remove(d.path), os.MkdirAll(filepath.Dir(own), 0o700)); err != nil {
		t.Fatal(err)
	}
	rewriteConfig(t, own, publishers("first", "legacy", ""))
	d.site.env = append(d.site.env, "JUNCTOR_CONFIG=")
	s := startProcess(t, d.command("serve", "--http=127.0.0.1:0"))
	s.waitLog("serving over HTTP")
	rewriteConfig(t, d.path, publishers("found", "legacy", ""))
	d.trust()
	rewriteConfig(t, own, publishers("second", "legacy", ""))
	if line := s.hangup("reloaded the configuration", "was not reloaded"); !strings.Contains(line, `added=["second"]`) {
		t.Error(line)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if line := s.hangup("reloaded the configuration",
		"was not reloaded"); !strings.Contains(line, "was not reloaded") || !strings.Contains(line, own) {
		t.Errorf("without the configuration: %s", line)
	}
}

// TestReloadNotifiesClients: clients hear of changed lists once, and only when what
// they see changed.
func TestReloadNotifiesClients(t *testing.T) {
	s := startReloadSite(t)
	c := &reloadClient{url: s.url}
	c.initialize(t)
	for _, tool := range []string{"steady__add", "other__add"} {
		if _, err := c.call(tool); err != nil {
			t.Fatal(err)
		}
	}
	body, err := c.listen(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		_ = readEvents(body, func(m reloadMessage) bool { events <- m.Method; return true }) // until it is closed
	}()
	next := func(quiet time.Duration) (method string, ok bool) {
		select {
		case method, ok = <-events:
			return method, ok
		case <-time.After(quiet):
			return "", false
		}
	}
	for ok := true; ok; { // the first lists
		_, ok = next(2 * time.Second)
	}
	s.hangup("reloaded") // nothing has changed
	s.write("", false)
	s.hangup("reloaded")
	counts := map[string]int{}
	for {
		method, ok := next(2 * time.Second)
		if !ok {
			break
		}
		counts[method]++
	}
	if counts["notifications/tools/list_changed"] != 1 {
		t.Errorf("notifications: %v", counts)
	}
}

// TestReloadOfManyServers changes one of 500 servers.
func TestReloadOfManyServers(t *testing.T) {
	most := 5 * time.Second
	if os.Getenv("JUNCTOR_SOAK") != "" {
		most = 300 * time.Millisecond
	}
	s := startReloadSite(t)
	write := func(version int) {
		var text strings.Builder
		for i := range 500 {
			v := 0
			if i == 250 {
				v = version
			}
			fmt.Fprintf(&text,
				"server \"s%d\" {\n  transport \"stdio\" {\n    command = [\"./demo\", \"%d\"]\n  }\n}\n", i, v)
		}
		rewriteConfig(t, s.path, text.String())
	}
	write(1)
	s.hangup("reloaded")
	write(2)
	begun := time.Now()
	line := s.hangup("reloaded")
	took := time.Since(begun)
	t.Logf("a reload of 500 servers, one of them changed: %s (bar %s)", took.Round(time.Millisecond), most)
	if took > most || !strings.Contains(line, `changed=["s250"]`) {
		t.Errorf("it took %s: %s", took, line)
	}
}

// TestReloadKeepsMemory reloads again and again: the memory stays as it was.
func TestReloadKeepsMemory(t *testing.T) {
	// The heap settles first; in soak the buffers of the log and of the events become full.
	settle, reloads, growth := 200, 100, 0.5
	if os.Getenv("JUNCTOR_SOAK") != "" {
		settle, reloads, growth = 1500, 1000, 0.1
	}
	s := startReloadSite(t)
	reload := func(times int) {
		for n := range times {
			s.write(fmt.Sprint(n), n%3 == 2)
			s.hangup("reloaded")
		}
	}
	reload(settle)
	before := s.residentKiB()
	reload(reloads)
	after := s.residentKiB()
	t.Logf("memory before and after %d reloads: %d and %d KiB (bar +%.0f %%)", reloads, before, after, 100*growth)
	if float64(after) > float64(before)*(1+growth) {
		t.Errorf("memory grew from %d to %d KiB", before, after)
	}
}
