package httpserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A counter counts what is written to the connections of a listener.
type counter struct {
	net.Listener
	writes atomic.Int64
}

type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c *counter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return counted{conn, &c.writes}, err
}

func (c counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// TestWholeInOnePiece: an answer leaves in one piece, of whatever length it is,
// and the client of the next one gets nothing of it.
func TestWholeInOnePiece(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counts := &counter{Listener: l}
	w := newDeadlineListener(time.Minute, time.Minute)
	f := &Server{}
	server := &http.Server{
		ConnContext: remember, ConnState: w.state,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("n"))
			letter := byte('a' + n%26)
			f.writeJSON(w, r, sendqueue.Message{Head: []byte("<"), Body: bytes.Repeat([]byte{letter}, n), Tail: []byte(">")}, http.StatusOK)
		}),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(w.on(counts)) }()
	defer func() {
		_ = server.Shutdown(context.Background())
		<-done
	}()
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	for _, n := range []int{0, 1, 2047, 3000, joinedLeast - 2, joinedLeast, joinedLeast + 1, 16 << 10, wholeQuick - 1, 5, 20 << 10} {
		before := counts.writes.Load()
		answer, err := client.Get("http://" + l.Addr().String() + "/?n=" + strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if want := "<" + string(bytes.Repeat([]byte{byte('a' + n%26)}, n)) + ">"; err != nil || string(body) != want {
			t.Errorf("%d: %d bytes, %v", n, len(body), err)
		}
		// Between 4 and 8 KiB the second piece comes with the end of the response.
		if got := counts.writes.Load() - before; got != 1 && (n < 3500 || n+2 >= joinedLeast) {
			t.Errorf("%d: %d writes", n, got)
		}
	}
}
