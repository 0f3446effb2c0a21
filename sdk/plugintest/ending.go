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

// cancelTime is the time in which Open must return after its context is done.
const cancelTime = 250 * time.Millisecond

// ending reads a stream to the end of the connection and returns the reported
// error.
func ending(t testing.TB, s *wire.Stream) error {
	t.Helper()
	return within(t, "the end of the connection", func() error {
		for {
			_, ev, err := s.Read()
			switch {
			case err == io.EOF:
				return fmt.Errorf("the connection ended without the event closed")
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

// checkCancel checks that Open returns soon after its context is done. It
// measures the shutdown, which waits for Open to return.
func checkCancel(t testing.TB, s *subject, c *Transport) {
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
				t.Fatalf("Open does not wait, as the settings of Hang demand: %v", err)
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

// checkClose checks that concurrent and repeated calls of Close succeed and end
// the connection.
func checkClose(t testing.TB, s *subject, c *Transport) {
	l, peer := s.start(t, c.Host), c.Peer(t)
	stream, instance := l.open(t, c, peer)
	c.roundTrip(t, stream)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { l.close(t, instance) })
	}
	within(t, "Close", func() any { wg.Wait(); return nil })
	_ = l.note(ending(t, stream))
	l.close(t, instance)
	stream, _ = l.open(t, c, peer)
	c.roundTrip(t, stream)
	if s.plugin != nil {
		closeDirectly(t, s, c, peer)
	}
}

// closeDirectly calls Close of the author's Conn several times. Package wire
// calls it only once.
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
	time.Sleep(10 * time.Millisecond) // until Recv blocks
	closed := make(chan any, 4)
	for range cap(closed) {
		go func() {
			defer func() { closed <- recover() }()
			_ = conn.Close(ctx)
		}()
	}
	for range cap(closed) {
		if v := within(t, "Close", func() any { return <-closed }); v != nil {
			t.Errorf("repeated Close: panic: %v", v)
		}
	}
	if err := within(t, "the end of Recv after Close", func() error { return <-received }); err == nil {
		t.Error("Recv after Close returned no error")
	}
}

// checkDeath checks that the host is told soon when the peer ends.
func checkDeath(t testing.TB, s *subject, c *Transport) {
	peer := c.Peer(t)
	if peer.Die == nil {
		t.Skip("the peer cannot die")
	}
	l := s.start(t, c.Host)
	stream, instance := l.open(t, c, peer)
	c.roundTrip(t, stream)
	peer.Die()
	err := l.note(ending(t, stream))
	if code := sdk.CodeOf(err); err != nil && (code == sdk.Internal || code == sdk.Panicked) {
		t.Errorf("the end of the peer is reported as a mistake of the plugin: %v", err)
	}
	if err := stream.WriteMessage([]byte("{}")); err == nil {
		within(t, "sending after the end of the peer", stream.Flush)
	}
	l.close(t, instance)
}

// checkLeaks checks that closed connections release their resources.
func checkLeaks(t testing.TB, s *subject, c *Transport) {
	peer := c.Peer(t)
	var l *link
	openAndClose := func() {
		for range 10 {
			stream, instance := l.open(t, c, peer)
			c.roundTrip(t, stream)
			_ = stream.Close()
			l.close(t, instance)
			_ = l.note(ending(t, stream))
		}
	}
	if s.path != "" {
		l = s.start(t, c.Host)
		openAndClose() // acquires the resources that stay
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

// checkHostGone checks that no process outlives a host that ends without a
// shutdown.
func checkHostGone(t testing.TB, s *subject, c *Transport) {
	if s.path == "" {
		t.Skip("not a program")
	}
	l, peer := s.start(t, c.Host), c.Peer(t)
	for range 3 {
		stream, _ := l.open(t, c, peer)
		c.roundTrip(t, stream)
	}
	family := descendants(l.process.pid())
	_ = l.process.stdin.Close()
	if !l.process.endsWithin(patience) {
		t.Fatal("the program outlives its host")
	}
	defer kill(family)
	eventually(t, func() string {
		if left := living(family); len(left) > 0 {
			return fmt.Sprintf("the program left processes behind: %v", left)
		}
		return ""
	})
}
