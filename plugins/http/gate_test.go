package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// TestCallsWaitForTheStream checks that calls wait for the GET stream, for a
// limited time. A server with sessions may send its requests during a call on
// that stream, and some drop them if there is none (the TypeScript SDK does).
func TestCallsWaitForTheStream(t *testing.T) {
	for name, c := range map[string]struct {
		open  func(w http.ResponseWriter, r *http.Request)
		first bool // the stream opens before the call
	}{
		// The server takes a part of the time that calls wait.
		"slow":  {func(w http.ResponseWriter, r *http.Request) { time.Sleep(streamTime / 5); stream(w, r) }, true},
		"none":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }, true},
		"stuck": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var order []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				note := func(what string) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, what)
				}
				switch {
				case r.Method == "GET":
					c.open(w, r)
					note("stream")
					if f, ok := w.(http.Flusher); ok && c.first && name != "none" {
						f.Flush()
						<-r.Context().Done()
					}
				case strings.Contains(string(body), `"initialize"`):
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("Mcp-Session-Id", "one")
					fmt.Fprint(w,
						`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
				case strings.Contains(string(body), `"tools/call"`):
					note("call")
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, `{"jsonrpc":"2.0","id":2,"result":{}}`)
				default:
					w.WriteHeader(http.StatusAccepted)
				}
			}))
			defer s.Close()
			conn, err := open(context.Background(),
				&sdk.Server{Name: "s", MaxMessage: ndjson.DefaultLimit, Log: hclog.NewNullLogger()},
				&settings{URL: s.URL, Mode: "streamable", ConnectTimeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			for _, msgs := range [][]string{
				{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`},
				{`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
					`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`},
			} {
				for _, msg := range msgs {
					if err := conn.Send([]byte(msg)); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := conn.Recv(); err != nil {
					t.Fatal(err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			want := []string{"stream", "call"}
			if !c.first {
				want = want[1:]
			}
			if !slices.Equal(order, want) {
				t.Errorf("the server received %q, want %q", order, want)
			}
		})
	}
}

// stream begins an empty stream.
func stream(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
}

// TestListsWaitForListen checks that a list request after a listen request
// arrives after it, although each has its own connection. A server that
// responds to the listen request late delays it for a limited time.
func TestListsWaitForListen(t *testing.T) {
	for name, c := range map[string]struct {
		begin time.Duration // until the server responds to the listen request
		want  []string
	}{
		"slow":  {streamTime / 5, []string{"listen", "tools/list"}},
		"stuck": {time.Hour, []string{"tools/list"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var order []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				method := r.Header.Get("Mcp-Method")
				if method == "tools/list" {
					mu.Lock()
					order = append(order, method)
					mu.Unlock()
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
					return
				}
				select {
				case <-time.After(c.begin):
				case <-r.Context().Done():
					return
				}
				mu.Lock()
				order = append(order, "listen")
				mu.Unlock()
				stream(w, r)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}))
			defer s.Close()
			conn, err := open(context.Background(),
				&sdk.Server{Name: "s", MaxMessage: ndjson.DefaultLimit, Log: hclog.NewNullLogger()},
				&settings{URL: s.URL, Mode: "streamable", ConnectTimeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			for id, method := range []string{"subscriptions/listen", "tools/list"} {
				meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
				if err := conn.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id+1,
					method, meta)); err != nil {
					t.Fatal(err)
				}
			}
			if msg, err := conn.Recv(); err != nil || !strings.Contains(string(msg), `"tools":[]`) {
				t.Fatalf("got %s, %v", msg, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(order, c.want) {
				t.Errorf("the server received %q, want %q", order, c.want)
			}
		})
	}
}
