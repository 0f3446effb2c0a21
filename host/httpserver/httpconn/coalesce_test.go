package httpconn

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A countingListener counts the writes to its connections.
type countingListener struct {
	net.Listener
	writes atomic.Int64
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countingConn{conn, &l.writes}, err
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// TestResponsesLeaveInOneWrite sends bodies of many lengths and checks that each
// leaves in one write, with no byte of the previous one.
func TestResponsesLeaveInOneWrite(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counts := &countingListener{Listener: l}
	listener := Listen(counts, Options{
		Limits:     Limits{Header: time.Minute, Body: time.Minute, Idle: time.Minute, Send: time.Minute},
		Log:        hclog.NewNullLogger(),
		AddressKey: func(string) (key netip.Prefix, counted bool) { return key, false },
	})
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("n"))
			w.Header().Set("Content-Length", strconv.Itoa(n))
			Coalesce(r, n, func() { _, _ = w.Write(bytes.Repeat([]byte{byte('a' + n%26)}, n)) })
		}),
	}
	listener.Attach(server)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	defer func() {
		_ = server.Shutdown(context.Background())
		<-done
	}()
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	for _, n := range []int{0, 1, 2047, 3000, coalesceMin - 2, coalesceMin, coalesceMin + 1, 16 << 10, 32<<10 - 1,
		5, 20 << 10} {
		before := counts.writes.Load()
		answer, err := client.Get("http://" + l.Addr().String() + "/?n=" + strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if want := bytes.Repeat([]byte{byte('a' + n%26)}, n); err != nil || !bytes.Equal(body, want) {
			t.Errorf("body of %d bytes: got %d bytes, %v", n, len(body), err)
		}
		// Between 4 and 8 KiB the second piece leaves with the end of the response.
		if got := counts.writes.Load() - before; got != 1 && (n < 3500 || n >= coalesceMin) {
			t.Errorf("body of %d bytes: %d writes, want 1", n, got)
		}
	}
}
