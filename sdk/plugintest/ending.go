package plugintest

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// cancelTime is how long Open may take once nobody waits any more.
const cancelTime = 250 * time.Millisecond

// ending reads to the end of a connection and returns why it ended.
func ending(t testing.TB, s *wire.Stream) error {
	t.Helper()
	return within(t, "the end of the connection", func() error {
		for {
			_, ev, err := s.Read()
			switch {
			case err == io.EOF:
				return fmt.Errorf("the connection ended without a word")
			case err != nil:
				return err
			case ev != nil && ev.Name == "closed" && ev.Status != nil:
				return ev.Status.Err()
			case ev != nil && ev.Name == "closed":
				return nil
			}
		}
	})
}

// askCancel: Open returns soon when nobody waits for it any more. What the
// plugin is doing cannot be seen from outside, but it cannot shut down before
// Open has returned.
func askCancel(t testing.TB, s *subject, c *Transport) {
	var settings Peer
	if c.Hang != nil {
		settings.Settings = c.Hang(t)
	} else {
		settings = c.Peer(t)
	}
	quick(t, "returning from a cancelled Open", cancelTime, func() time.Duration {
		l := s.start(t, c.Host)
		a := l.args(t, c, settings)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- opening(l.Open(ctx, a)) }()
		if c.Hang != nil {
			select {
			case err := <-done:
				t.Fatalf("Open does not hang: %v", err)
			case <-time.After(100 * time.Millisecond):
			}
		}
		cancel()
		begun := time.Now()
		_ = l.note(<-done)
		grace, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		if err := l.note(l.Shutdown(grace, cancelTime/2)); err != nil {
			t.Errorf("shutting down: %v", err)
		}
		return time.Since(begun)
	})
}

// askClose: a connection may be closed at any time, more than once, and is then
// gone.
func askClose(t testing.TB, s *subject, c *Transport) {
	l, peer := s.start(t, c.Host), c.Peer(t)
	stream, instance := l.open(t, c, peer)
	c.talk(t, stream)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { l.close(t, instance) })
	}
	within(t, "Close", func() any { wg.Wait(); return nil })
	_ = l.note(ending(t, stream))
	l.close(t, instance)
	stream, _ = l.open(t, c, peer)
	c.talk(t, stream)
	if s.plugin != nil {
		closeDirectly(t, s, c, peer)
	}
}

// closeDirectly closes without the wire in between, which would call Close only
// once.
func closeDirectly(t testing.TB, s *subject, c *Transport, peer Peer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := s.plugin.Transports[c.Name].Open(ctx, &sdk.Server{
		Name: "plugintest", Instance: "direct", Dir: t.TempDir(), Env: peer.Env, MaxMessage: largest,
		Log: hclog.NewNullLogger(), Host: c.Host.Services(),
	}, []byte(peer.Settings))
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	received := make(chan error, 1)
	go func() {
		for {
			if _, err := conn.Recv(); err != nil {
				received <- err
				return
			}
		}
	}()
	time.Sleep(10 * time.Millisecond) // Recv waits now
	closed := make(chan any, 4)
	for range cap(closed) {
		go func() {
			defer func() { closed <- recover() }()
			_ = conn.Close(ctx)
		}()
	}
	for range cap(closed) {
		if v := within(t, "Close", func() any { return <-closed }); v != nil {
			t.Errorf("closing more than once: panic: %v", v)
		}
	}
	if err := within(t, "the end of Recv after Close", func() error { return <-received }); err == nil {
		t.Error("Recv returned nothing")
	}
}

// askDeath: when the peer goes away, the host is told soon.
func askDeath(t testing.TB, s *subject, c *Transport) {
	peer := c.Peer(t)
	if peer.Die == nil {
		t.Skip("the peer cannot die")
	}
	l := s.start(t, c.Host)
	stream, instance := l.open(t, c, peer)
	c.talk(t, stream)
	peer.Die()
	err := l.note(ending(t, stream))
	if code := sdk.CodeOf(err); err != nil && (code == sdk.Internal || code == sdk.Panicked) {
		t.Errorf("the death of its peer is no mistake of the plugin's, which says %v", err)
	}
	if err := stream.WriteMessage([]byte("{}")); err == nil {
		within(t, "sending to the dead", stream.Flush)
	}
	l.close(t, instance)
}

// askLeaks: what was used is given back.
func askLeaks(t testing.TB, s *subject, c *Transport) {
	peer := c.Peer(t)
	var l *link
	openAndClose := func() {
		for range 10 {
			stream, instance := l.open(t, c, peer)
			c.talk(t, stream)
			_ = stream.Close()
			l.close(t, instance)
			_ = l.note(ending(t, stream))
		}
	}
	if s.path != "" {
		l = s.start(t, c.Host)
		openAndClose() // what is needed once stays
		before := resourcesOf(l.process.pid())
		openAndClose()
		eventually(t, func() string { return resourcesOf(l.process.pid()).beyond(before) })
		return
	}
	l = s.start(t, c.Host)
	openAndClose()
	l.stop(t)
	before := ownResources()
	l = s.start(t, c.Host)
	openAndClose()
	l.stop(t)
	eventually(t, func() string { return ownResources().beyond(before) })
}

// askHostGone: nothing outlives a host that ends without a word.
func askHostGone(t testing.TB, s *subject, c *Transport) {
	if s.path == "" {
		t.Skip("there is no program")
	}
	l, peer := s.start(t, c.Host), c.Peer(t)
	for range 3 {
		stream, _ := l.open(t, c, peer)
		c.talk(t, stream)
	}
	family := descendants(l.process.pid())
	_ = l.process.stdin.Close()
	if !l.process.endsWithin(patience) {
		t.Fatal("the program outlives its host")
	}
	defer kill(family) // so that nothing is left that was found
	eventually(t, func() string {
		if left := living(family); len(left) > 0 {
			return fmt.Sprintf("the program left processes behind: %v", left)
		}
		return ""
	})
}
