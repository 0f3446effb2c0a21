//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestReloadKeepsResumableStreams cuts the common stream of a legacy session again and
// again while reloads go on. The client resumes it after the last event that it has
// seen, and gets each event once.
func TestReloadKeepsResumableStreams(t *testing.T) {
	t.Parallel()
	reloads, _ := reloadRounds()
	d := newSteadyDir(t)
	s := d.serveHTTP()
	c := &reloadClient{url: s.url}
	c.initialize(t)
	for _, server := range steadyServers {
		if m, err := c.request("resources/subscribe", map[string]any{"uri": publisherAt(server)}); err != nil ||
			m.Error != nil {
			t.Fatalf("%v: %s", err, m.Error)
		}
	}
	done, last := make(chan struct{}), make(chan int, 1)
	var work sync.WaitGroup
	work.Go(func() { last <- publishUntil(t, &reloadClient{url: s.url}, done) })
	work.Go(func() { c.hearInPieces(t, 7) })
	for n := 1; n <= reloads; n++ {
		broken := n%3 == 0
		rewriteConfig(t, d.path, steadyText(fmt.Sprint(n), broken))
		s.hangup(reloadOutcome(broken))
		c.keepUp(t, n)
	}
	close(done)
	calls := <-last
	heardAll(t, c, calls)
	// The end of the stream ends hearInPieces.
	req, err := http.NewRequest(http.MethodDelete, s.url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	c.sign(req.Header)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	work.Wait()
}

// hearInPieces hears the common stream of a session until the session ends. It closes
// the stream after each piece of so many messages, and resumes it after the last one.
func (c *reloadClient) hearInPieces(t *testing.T, piece int) {
	event, cuts := "", 0
	for {
		body, err := c.listen(t.Context(), event)
		if err != nil {
			break // the session has ended
		}
		left := piece
		_ = readEvents(body, func(m reloadMessage) bool { // a cut, or the end of the session
			c.hear(m)
			event = m.event
			left--
			return left > 0
		})
		_ = body.Close()
		if left > 0 {
			break
		}
		cuts++
	}
	if cuts < 5 {
		t.Errorf("the stream was cut %d times only", cuts)
	}
}

// TestReloadKeepsStreamOfCallInFlight cuts the stream of a legacy client's call, and
// replaces its server. The client resumes the stream and gets what follows.
func TestReloadKeepsStreamOfCallInFlight(t *testing.T) {
	t.Parallel()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, publishers("news", "legacy", "", "other", "legacy", ""))
	s := d.serveHTTP()
	c := &reloadClient{url: s.url}
	c.initialize(t)
	file := filepath.Join(t.TempDir(), "go")
	id, header, body := c.message("tools/call", map[string]any{"name": "news__hold",
		"arguments": map[string]any{"file": file}, "_meta": map[string]any{"progressToken": file}})
	resp, err := c.open(t.Context(), http.MethodPost, header, body)
	if err != nil {
		t.Fatal(err)
	}
	event := ""
	err = readEvents(resp.Body, func(m reloadMessage) bool { c.hear(m); event = m.event; return false })
	_ = resp.Body.Close()
	if _, progress := c.logsOf(file); err != nil || progress != 1 || event == "" {
		t.Fatalf("%v, progress %d, event %q", err, progress, event)
	}
	rewriteConfig(t, d.path, publishers("news", "legacy", "another", "other", "legacy", ""))
	s.hangup(`changed=["news"]`)
	// Progress that comes while the stream has no reader is not repeated, so the call waits
	// for the resumption.
	resumed, err := c.listen(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	defer resumed.Close()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := c.response(resumed, "text/event-stream", id)
	if err != nil || m.Result == nil {
		t.Errorf("%v: %s", err, m.Error)
	}
	if _, progress := c.logsOf(file); progress != 2 {
		t.Errorf("progress up to %d", progress)
	}
}
