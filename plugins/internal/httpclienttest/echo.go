// Package httpclienttest holds servers for the tests of transports that speak HTTP.
package httpclienttest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Serve starts a server on the loopback. die ends it with every connection.
func Serve(t testing.TB, h http.Handler) (url string, die func()) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = listen(t)
	s.Start()
	die = sync.OnceFunc(func() {
		s.CloseClientConnections()
		_ = s.Listener.Close()
		go s.Close() // waits for handlers, which see that their client is gone
	})
	t.Cleanup(die)
	return s.URL, die
}

// used are the addresses that were listened at. A transport remembers what it has
// found out about a URL, which is not to be another server's later.
var used sync.Map

// listen listens at an address that no server of this process has had.
func listen(t testing.TB) net.Listener {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if _, again := used.LoadOrStore(l.Addr().String(), nil); !again {
			return l
		}
		defer l.Close() // not before there is another one
	}
}

// EchoSSE is a server of HTTP with server-sent events that sends back every
// message, in the order of arrival. Its stream is at /sse.
func EchoSSE(t testing.TB) (url string, die func()) {
	t.Helper()
	var mu sync.Mutex
	streams := map[string]chan []byte{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", func(w http.ResponseWriter, r *http.Request) {
		id, mine := r.RemoteAddr, make(chan []byte, 1024)
		mu.Lock()
		streams[id] = mine
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: /messages?id=%s\n\n", id)
		for flush := w.(http.Flusher).Flush; ; {
			flush()
			select {
			case msg := <-mine:
				_, _ = w.Write(bytes.Join([][]byte{[]byte("event: message\ndata: "), msg, []byte("\n\n")}, nil))
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		msg, err := io.ReadAll(r.Body)
		mu.Lock()
		to := streams[r.URL.Query().Get("id")]
		mu.Unlock()
		if err != nil || to == nil {
			http.Error(w, "no such stream", http.StatusNotFound)
			return
		}
		to <- msg
		w.WriteHeader(http.StatusAccepted)
	})
	url, die = Serve(t, mux)
	return url + "/sse", die
}

// Silent is an address that accepts connections and never answers.
func Silent(t testing.TB) (url string) {
	t.Helper()
	l := listen(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return "http://" + l.Addr().String() + "/"
}
