package httpconn

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// serveLimited serves a handler with a Listener that checks time limits often.
func serveLimited(t *testing.T, handler http.HandlerFunc) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := Listen(l, Options{
		Limits: Limits{
			Header: 200 * time.Millisecond, Body: 200 * time.Millisecond, Idle: time.Minute, Send: time.Minute,
		}, Log: hclog.NewNullLogger(),
		AddressKey: func(string) (key netip.Prefix, counted bool) { return key, false },
	})
	server := &http.Server{Handler: handler}
	listener.Attach(server)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { listener.Run(ctx) })
	work.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		_ = server.Close()
		cancel()
		work.Wait()
	})
	return l.Addr().String()
}

// TestWriteLimit sends a large response to a client that does not read.
func TestWriteLimit(t *testing.T) {
	failed := make(chan error, 1)
	address := serveLimited(t, func(w http.ResponseWriter, r *http.Request) {
		LimitWrite(w, r, time.Now().Add(300*time.Millisecond))
		_, err := w.Write(bytes.Repeat([]byte("x"), 64<<20))
		failed <- err
	})
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		if err == nil {
			t.Error("64 MiB were written to a client that does not read")
		}
	case <-time.After(20 * time.Second):
		t.Error("the response is still being written")
	}
}

// TestWriteLimitEnds checks that the limit of a response ends with it: a later response
// of the connection may begin after that time.
func TestWriteLimitEnds(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second // a busy machine writes a response in less
	address := serveLimited(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/limited" {
			LimitWrite(w, r, time.Now().Add(limit))
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	for _, path := range []string{"/limited", "/later"} {
		answer, err := client.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || string(body) != path {
			t.Errorf("%q, %v", body, err)
		}
		if path == "/limited" {
			time.Sleep(limit + limit/4) // the limit of the response has passed
		}
	}
}

// A busyConn always has a byte to read.
type busyConn struct{ net.Conn }

func (busyConn) Read(p []byte) (int, error)      { return copy(p, "G"), nil }
func (busyConn) SetReadDeadline(time.Time) error { return nil }

// TestIdleConnectionsStayLimited begins a request while its connection is being closed as
// idle: the connection is closed, or keeps its time limits.
func TestIdleConnectionsStayLimited(t *testing.T) {
	s := new(connSet)
	s.limits.Store(&Limits{Header: time.Second, Body: time.Second, Idle: time.Second})
	for range 20_000 {
		c := &conn{Conn: busyConn{}, set: s}
		c.idle.Store(true)
		s.open = map[*conn]struct{}{c: {}}
		var closed bool
		var work sync.WaitGroup
		work.Go(func() { closed = s.closeIdle() })
		work.Go(func() { _, _ = uncheckedReader{c}.Read(make([]byte, 1)) })
		work.Wait()
		if _, limited := s.open[c]; limited == closed {
			t.Fatalf("closed %v, limited %v", closed, limited)
		}
	}
}
