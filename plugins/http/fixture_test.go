package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclienttest"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// patience is the timeout for events that normally happen at once.
const patience = 20 * time.Second

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
)

// A seen is a received request.
type seen struct {
	http.Header
	verb, body string
}

// A server records its requests and responds as the test demands.
type server struct {
	t   testing.TB
	url string
	die func()

	mu   sync.Mutex
	seen []seen // guarded by mu
}

// answering starts a server. answer gets every request after its body was read.
// If it returns false, handshake responds.
func answering(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, body string) bool) *server {
	t.Helper()
	s := &server{t: t}
	s.url, s.die = httpclienttest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body := string(b)
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Header.Clone(), r.Method, body})
		s.mu.Unlock()
		if answer == nil || !answer(w, r, body) {
			handshake(w, r, body)
		}
	}))
	return s
}

// handshake responds like an older server.
func handshake(w http.ResponseWriter, r *http.Request, body string) {
	switch {
	case r.Method != "POST":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case strings.Contains(body, `"initialize"`):
		w.Header().Set("Mcp-Session-Id", "s-1")
		asJSON(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
	case !strings.Contains(body, `"id"`) || !strings.Contains(body, `"method"`):
		w.WriteHeader(http.StatusAccepted)
	default:
		asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(body)))
	}
}

func asJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

// events writes events to a stream and flushes each.
func events(w http.ResponseWriter, all ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range all {
		_, _ = io.WriteString(w, e)
		w.(http.Flusher).Flush()
	}
}

func data(msg string) string { return "data: " + msg + "\n\n" }

func idOf(body string) string {
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal([]byte(body), &m)
	return string(m.ID)
}

func (s *server) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.seen...)
}

// await returns the first request for which fits is true.
func (s *server) await(what string, fits func(seen) bool) (first seen) {
	s.t.Helper()
	eventually.NoError(s.t, func() error {
		all := s.requests()
		i := slices.IndexFunc(all, fits)
		if i < 0 {
			return fmt.Errorf("no %s among %d requests", what, len(all))
		}
		first = all[i]
		return nil
	})
	return first
}

// A client is a connection under test.
type client struct {
	t    testing.TB
	conn sdk.Conn
	got  chan got
}

type got struct {
	msg     string
	related string
	err     error
}

// connect opens a connection. more are settings besides url, such as
// `"mode":"sse"`.
func connect(t testing.TB, url string, more ...string) *client {
	t.Helper()
	c, err := try(t, url, more...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func try(t testing.TB, url string, more ...string) (*client, error) {
	t.Helper()
	return tryServer(t,
		&sdk.Server{Name: "s", MaxMessage: ndjson.DefaultLimit, Cache: t.TempDir(), Log: hclog.NewNullLogger()}, url,
		more...)
}

func tryServer(t testing.TB, server *sdk.Server, url string, more ...string) (*client, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	settings := `{` + strings.Join(append(more, fmt.Sprintf(`"url":%q`, url)), ",") + `}`
	conn, err := plugin().Transports["http"].Open(ctx, server, []byte(settings))
	if err != nil {
		return nil, err
	}
	c := &client{t: t, conn: conn, got: make(chan got, 100_000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			msg, err := conn.Recv()
			g := got{msg: string(msg), err: err}
			if r, ok := conn.(sdk.Relater); ok && err == nil {
				g.related = string(r.Related())
			}
			c.got <- g
			var dropped *sdk.Dropped
			var failed *sdk.Failed
			if err != nil && !errors.As(err, &dropped) && !errors.As(err, &failed) {
				return
			}
		}
	}()
	t.Cleanup(func() {
		c.close()
		<-done
	})
	return c, nil
}

func (c *client) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience/2)
	defer cancel()
	if err := c.conn.Close(ctx); err != nil {
		c.t.Error(err)
	}
}

func (c *client) send(msgs ...string) {
	c.t.Helper()
	for _, m := range msgs {
		if err := c.conn.Send([]byte(m)); err != nil {
			c.t.Errorf("sending: %v", err)
		}
	}
}

// next returns the next result of Recv.
func (c *client) next() got {
	c.t.Helper()
	select {
	case g := <-c.got:
		return g
	case <-time.After(patience):
		c.t.Fatal("Recv returns nothing")
		panic("not reached")
	}
}

// want compares the next results of Recv with messages.
func (c *client) want(msgs ...string) {
	c.t.Helper()
	for _, m := range msgs {
		if g := c.next(); g.err != nil || g.msg != m {
			c.t.Fatalf("got %q, %v; want %q", g.msg, g.err, m)
		}
	}
}

// fails expects that a request fails with a reason.
func (c *client) fails(id, reason string) *sdk.Failed {
	c.t.Helper()
	g := c.next()
	var f *sdk.Failed
	if !errors.As(g.err, &f) || string(f.ID) != id || f.Err.Reason != reason {
		c.t.Fatalf("got %q, %#v; want failure of %s with reason %q", g.msg, g.err, id, reason)
	}
	return f
}

func failedOf(err error) *sdk.Failed {
	f, _ := errors.AsType[*sdk.Failed](err)
	return f
}

// shake performs the handshake of an older client.
func (c *client) shake() {
	c.t.Helper()
	c.send(initialize)
	if g := c.next(); g.err != nil || !strings.Contains(g.msg, "protocolVersion") {
		c.t.Fatalf("the handshake gave %q, %v", g.msg, g.err)
	}
	c.send(initialized)
}

func request(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":"t"}}`, id, method)
}

func modern(id int, method, params string) string {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, id, method, params, modernMeta)
}

func result(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }
