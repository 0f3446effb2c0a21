//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestReloadRenewsSubscriptions replaces a server whose resource clients of both eras
// are subscribed to. The legacy client hears the updates of the new server. The listen
// request of the modern client ends with a result, and the next one is about the new
// server. Its tools change each time, which clients hear once.
func TestReloadRenewsSubscriptions(t *testing.T) {
	t.Parallel()
	rounds := 4
	if os.Getenv("JUNCTOR_SOAK") != "" {
		rounds = 50
	}
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			d := newReloadDir(t)
			rewriteConfig(t, d.path, publishers("news", era, "version 0"))
			d.trust()
			if text, err := d.command("tools").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			s := d.serveHTTP()
			old, listener, lists, caller := &reloadClient{url: s.url}, &reloadClient{url: s.url},
				&reloadClient{url: s.url}, &reloadClient{url: s.url}
			old.initialize(t)
			old.subscribe(t, "news://n")
			listener.subscribe(t, "news://n")
			lists.subscribe(t)
			for n := 1; n <= rounds; n++ {
				rewriteConfig(t, d.path, publishers("news", era, fmt.Sprint("version ", n)))
				s.hangup(reloadOutcome(false))
				listener.await(t, fmt.Sprintf("the end of listen request %d", n), func(heard []reloadMessage) bool {
					ends := 0
					for _, m := range heard {
						if m.Result != nil {
							ends++
						}
					}
					return ends == n
				})
				listener.subscribe(t, "news://n")
				pid := publishUntilHeard(t, caller, old, 0)
				publishUntilHeard(t, caller, listener, pid)
				for _, c := range []*reloadClient{old, lists} {
					c.await(t, "tools/list_changed",
						func([]reloadMessage) bool { return c.count("notifications/tools/list_changed") >= n })
				}
			}
			for _, c := range []*reloadClient{old, lists} {
				if n := c.count("notifications/tools/list_changed"); n != rounds {
					t.Errorf("%s: tools/list_changed came %d times for %d changes", c.name(), n, rounds)
				}
				if n := c.count("notifications/resources/list_changed"); n > 0 {
					t.Errorf("%s: resources/list_changed came %d times for no change", c.name(), n)
				}
			}
		})
	}
}

// publishUntilHeard makes the server publish until a subscriber hears an update from
// the process that answers, which it returns. If pid is not 0, that is the process.
func publishUntilHeard(t *testing.T, caller, subscriber *reloadClient, pid int) int {
	t.Helper()
	eventually.NoError(t, func() error {
		text, err := caller.process(map[string]any{"name": "news__publish"})
		if err != nil {
			t.Fatal(err)
		}
		if pid != 0 && text != fmt.Sprint(pid) {
			t.Fatalf("process %s answered, not %d", text, pid)
		}
		if !subscriber.heardFrom(text) {
			return fmt.Errorf("%s does not hear process %s", subscriber.name(), text)
		}
		_, _ = fmt.Sscan(text, &pid)
		return nil
	})
	return pid
}

// heardFrom reports whether an update of a process has come.
func (c *reloadClient) heardFrom(pid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.heard, func(m reloadMessage) bool { return fmt.Sprint(m.Params.PID) == pid })
}

// TestReloadFinishesCallsInFlight removes a server, replaces one and leaves one, while
// each has a call of clients of both eras in flight. All get the log messages, the
// progress and the result that come afterwards. Then the processes of the first two
// servers end.
func TestReloadFinishesCallsInFlight(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, publishers("steady", "legacy", "", "replaced", "legacy", "", "removed", "legacy", ""))
	s := d.serveHTTP()
	type held struct {
		c           *reloadClient
		server, pid string
		file        string
		err         error
	}
	var calls []*held
	for _, server := range []string{"steady", "replaced", "removed"} {
		for _, legacy := range []bool{true, false} {
			c := &reloadClient{url: s.url}
			if legacy {
				c.initialize(t)
				if m, err := c.request("logging/setLevel", map[string]any{"level": "info"}); err != nil ||
					m.Error != nil {
					t.Fatalf("%v: %s", err, m.Error)
				}
			}
			calls = append(calls, &held{c: c, server: server, file: filepath.Join(t.TempDir(), "go")})
		}
	}
	done := make(chan *held, len(calls))
	for _, h := range calls {
		go func() {
			h.pid, h.err = h.c.process(map[string]any{
				"name": h.server + "__hold", "arguments": map[string]any{"file": h.file},
				"_meta": map[string]any{"progressToken": h.file, "io.modelcontextprotocol/logLevel": "info"},
			})
			done <- h
		}()
		h.c.await(t, "the first progress", func(heard []reloadMessage) bool { return lastProgress(heard, h.file) == 1 })
	}
	rewriteConfig(t, d.path, publishers("steady", "legacy", "", "replaced", "legacy", "another"))
	s.hangup(`changed=["replaced"] removed=["removed"]`)
	caller := &reloadClient{url: s.url}
	fresh, err := caller.process(map[string]any{"name": "replaced__publish"})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range calls {
		if err := os.WriteFile(h.file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ended := map[string]string{}
	for range calls {
		h := <-done
		logs, reports := h.c.logsOf(h.file)
		if h.err != nil || logs != 1 || reports != 2 {
			t.Errorf("%s at the server %s: %v, %d log messages, progress up to %d",
				h.c.name(), h.server, h.err, logs, reports)
		}
		ended[h.server] = h.pid
	}
	awaitEnd(t, ended["replaced"])
	awaitEnd(t, ended["removed"])
	if pid, err := caller.process(map[string]any{"name": "steady__publish"}); err != nil || pid != ended["steady"] {
		t.Errorf("the process %s, %v; before the reload %s", pid, err, ended["steady"])
	}
	if pid, err := caller.process(map[string]any{"name": "replaced__publish"}); err != nil || pid != fresh {
		t.Errorf("the process %s, %v; before %s", pid, err, fresh)
	}
}

// lastProgress returns the last progress with a token.
func lastProgress(heard []reloadMessage, token string) (n int) {
	for _, m := range heard {
		if m.Method == "notifications/progress" && m.Params.ProgressToken == token {
			n = m.Params.Progress
		}
	}
	return n
}

// logsOf returns the number of log messages with a text, and the last progress with it
// as its token.
func (c *reloadClient) logsOf(text string) (logs, progress int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.heard {
		if m.Method == "notifications/message" && m.Params.Data == text {
			logs++
		}
	}
	return logs, lastProgress(c.heard, text)
}
