package stdioserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

type known struct{}

func (known) Revision() mcp.Revision { return mcp.Revision20251125 }
func (known) Remember(mcp.Revision)  {}

// serving is a gateway of one server, a, with one tool, t, that answers after a
// moment.
func serving(t *testing.T, moment time.Duration) (*gateway.Gateway, *conversation.Server) {
	t.Helper()
	server := &conversation.Server{Revision: "2025-11-25"}
	server.Set("tools/list", `{"name":"t"}`)
	server.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method != mcp.MethodCallTool {
			return ""
		}
		go func() {
			time.Sleep(moment)
			l.Say(conversation.Result(m, `{"content":[]}`))
		}()
		return conversation.Later
	}
	g := gateway.New(gateway.Options{Version: "1", Policy: policy.New(map[string]policy.Server{"a": {}}), Log: hclog.NewNullLogger()})
	u := upstream.New(upstream.Options{
		Name: "a", Peer: g.Peer("a"), Memory: known{}, Log: hclog.NewNullLogger(), Start: time.Second, Call: time.Minute,
		Open: func(context.Context) (upstream.Link, error) { return server.Open(), nil },
	})
	c := catalog.New([]*catalog.Server{{Name: "a", Prefix: "a", Upstream: u}}, "", hclog.NewNullLogger(), g.ListsChanged)
	g.Bind(c)
	t.Cleanup(func() { c.Stop(); u.Close() })
	return g, server
}

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}` + "\n"
	call  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}` + "\n"
	ping  = `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
)

// A page is an output that can be read while it is written.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	err  error        // guarded by mu; of writing
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// TestDrain: when the input ends, requests in flight are answered first.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := serving(t, 5*time.Second)
		var out page
		begun := time.Now()
		if err := Serve(t.Context(), g, strings.NewReader(hello+call+strings.TrimSuffix(ping, "\n")), &out); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
		for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}` + "\n", `{"jsonrpc":"2.0","id":2,"result":{}}` + "\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in %q", want, out.String())
			}
		}
	})
}

// TestDrainTime: but not for ever.
func TestDrainTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := serving(t, 30*time.Second)
		var out page
		begun := time.Now()
		if err := Serve(t.Context(), g, strings.NewReader(hello+call), &out); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != drainTime || !strings.Contains(out.String(), `"id":1,"error":{"code":-32800`) {
			t.Errorf("after %s: %s", took, out.String())
		}
		time.Sleep(time.Minute)
		if told := strings.Join(server.Seen(true), "\n"); !strings.Contains(told, `"reason":"junctor is shutting down"`) {
			t.Errorf("the server was not told: %s", told)
		}
	})
}

// TestHurry: a client that ends its input and then insists waits for nothing.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := serving(t, 9*time.Second)
		var out page
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begun := time.Now()
		if err := Serve(ctx, g, strings.NewReader(hello+call), &out); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != 2*time.Second || !strings.Contains(out.String(), `"id":1,"error":{"code":-32800`) {
			t.Errorf("after %s: %s", took, out.String())
		}
		time.Sleep(time.Minute) // for the server
	})
}

// TestSignal: the end of ctx does the same, though the input goes on.
func TestSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := serving(t, 5*time.Second)
		in, client := io.Pipe()
		var out page
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, g, in, &out) }()
		_, _ = io.WriteString(client, hello+call)
		synctest.Wait()
		cancel()
		time.Sleep(time.Second)
		_, _ = io.WriteString(client, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a__t"}}`+"\n")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := out.String(); !strings.Contains(got, `"id":1,"result"`) || !strings.Contains(got, `"id":3,"error":{"code":-32000,"message":"junctor is shutting down"`) {
			t.Error(got)
		}
		_ = client.Close()
	})
}

// TestGone: a client that closed its end is not waited for.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := serving(t, time.Hour)
		in, client := io.Pipe()
		out := &page{err: errors.New("broken pipe")}
		ended := make(chan error, 1)
		begun := time.Now()
		go func() { ended <- Serve(t.Context(), g, in, out) }()
		_, _ = io.WriteString(client, hello+call)
		if err := <-ended; err == nil || err.Error() != "broken pipe" || time.Since(begun) > 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		_ = client.Close()
	})
}

// TestNotRead: a client that does not read does not keep the process.
func TestNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := serving(t, time.Second)
		client, out := io.Pipe() // nobody reads it
		begun := time.Now()
		if err := Serve(t.Context(), g, strings.NewReader(hello+call), out); err != errNotRead {
			t.Error(err)
		}
		if took := time.Since(begun); took != time.Second+flushTime {
			t.Errorf("it took %s", took)
		}
		_ = client.Close()
	})
}

// TestUnreadable: an input that fails is an end, with its reason.
func TestUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := serving(t, 0)
		in, client := io.Pipe()
		_ = client.CloseWithError(errors.New("i/o error"))
		if err := Serve(t.Context(), g, in, io.Discard); err == nil || err.Error() != "reading from the client: i/o error" {
			t.Error(err)
		}
	})
}

// TestLines: line ends of all kinds, junk, and a line that is too long; one
// message is one line of output.
func TestLines(t *testing.T) {
	g, _ := serving(t, 0)
	long := `{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":"` + strings.Repeat("x", ndjson.DefaultLimit) + `"}}` + "\n"
	in := strings.TrimSuffix(hello, "\n") + "\r\n\n\r\n \n" + long + "banner\n\x00\xff\n" +
		`{"jsonrpc":"2.0","id":"a","method":"ping",` + "\r" + `"params":{}}` + "\n" + ping
	var out page
	if err := Serve(t.Context(), g, strings.NewReader(in), &out); err != nil {
		t.Error(err)
	}
	var got []string
	for lines := bufio.NewScanner(strings.NewReader(out.String())); lines.Scan(); {
		got = append(got, lines.Text())
	}
	want := []string{
		`{"jsonrpc":"2.0","id":0,"result":…}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message is not valid JSON"}}`,
		`{"jsonrpc":"2.0","id":"long","error":{"code":-32600,"message":"message of 16777279 bytes is longer than 16777216","data":{"reason":"message_too_large"}}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message is not valid JSON"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message is not valid UTF-8"}}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"2.0","id":2,"result":{}}`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines: %.2000s", len(got), out.String())
	}
	for i := range want {
		if !conversation.Match(want[i], got[i]) {
			t.Errorf("line %d: %s, want %s", i, got[i], want[i])
		}
	}
}
