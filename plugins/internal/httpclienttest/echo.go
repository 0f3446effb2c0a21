// Package httpclienttest holds test servers for transports over HTTP.
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

// Serve starts a server on the loopback. die ends it and every connection.
func Serve(t testing.TB, h http.Handler) (url string, die func()) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = listen(t)
	s.Start()
	die = sync.OnceFunc(func() {
		s.CloseClientConnections()
		_ = s.Listener.Close()
		go s.Close() // waits for the handlers, which then end
	})
	t.Cleanup(die)
	return s.URL, die
}

// used holds all addresses used by listen. A transport caches what it learns
// about a URL, so no address may be used twice.
var used sync.Map

// listen listens on an address that this process has not used before.
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
		defer l.Close() // after the next address was chosen, so that it differs
	}
}

// EchoSSE starts a server of HTTP with server-sent events that sends every
// message back, in order. url is the URL of its stream.
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

// Silent returns the URL of a server that accepts connections and never
// answers.
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
