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
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

type fixedRevision struct{}

func (fixedRevision) Revision() mcp.Revision { return mcp.Revision20251125 }
func (fixedRevision) Remember(mcp.Revision)  {}

// newTestGateway returns a gateway with one server, a, whose one tool, t,
// answers after delay.
func newTestGateway(t *testing.T, delay time.Duration) (*gateway.Gateway, *conversation.Server) {
	t.Helper()
	server := &conversation.Server{Revision: "2025-11-25"}
	server.Set("tools/list", `{"name":"t"}`)
	server.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method != mcp.MethodCallTool {
			return ""
		}
		go func() {
			bubble.Sleep(delay)
			l.Say(conversation.Result(m, `{"content":[]}`))
		}()
		return conversation.Later
	}
	c := catalog.New(nil, "", hclog.NewNullLogger(), nil)
	g := gateway.New(gateway.Options{Version: "1", Catalog: c, Log: hclog.NewNullLogger()})
	u := upstream.New(upstream.Options{
		Name: "a", Peer: g.Peer("a"), Revisions: fixedRevision{}, Log: hclog.NewNullLogger(), Start: time.Second,
		Call: time.Minute,
		Open: func(context.Context) (upstream.Link, error) { return server.Open(), nil },
	})
	g.Apply(&gateway.Generation{Policy: policy.New(map[string]policy.Server{"a": {}}, policy.Rules{}),
		Servers: map[string]gateway.Server{"a": {Upstream: u}}})
	c.SetServers([]*catalog.Server{{Name: "a", Prefix: "a", Upstream: u}})
	t.Cleanup(func() { c.Stop(); u.Close() })
	return g, server
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}` +
		"\n"
	call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}` + "\n"
	ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
)

// An output is a buffer that a test may read while Serve writes to it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	err  error        // guarded by mu; error of Write
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// TestEndOfInputAnswersRequestsInFlight ends the input while a call is in
// flight.
func TestEndOfInputAnswersRequestsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newTestGateway(t, 5*time.Second)
		var out output
		begun := time.Now()
		if err := Serve(t.Context(), g, strings.NewReader(initialize+call+strings.TrimSuffix(ping, "\n")), &out,
			Options{}); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("Serve took %s", took)
		}
		for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}` + "\n",
			`{"jsonrpc":"2.0","id":2,"result":{}}` + "\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in %q", want, out.String())
			}
		}
	})
}

// TestCallsAreCancelledAfterDrainTime checks that a call that takes longer than
// drainTime gets an error and its server a cancellation.
func TestCallsAreCancelledAfterDrainTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := newTestGateway(t, 30*time.Second)
		var out output
		begun := time.Now()
		if err := Serve(t.Context(), g, strings.NewReader(initialize+call), &out, Options{}); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != drainTime ||
			!strings.Contains(out.String(), `"id":1,"error":{"code":-32800`) {
			t.Errorf("after %s: %s", took, out.String())
		}
		bubble.Sleep(time.Minute)
		if told := strings.Join(server.Seen(true), "\n"); !strings.Contains(told,
			`"reason":"junctor is shutting down"`) {
			t.Errorf("the server got no cancellation: %s", told)
		}
	})
}

// TestSignalAfterEndOfInputCancelsCalls ends the input, and then the context
// before the call has finished.
func TestSignalAfterEndOfInputCancelsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newTestGateway(t, 9*time.Second)
		var out output
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begun := time.Now()
		if err := Serve(ctx, g, strings.NewReader(initialize+call), &out, Options{}); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != 2*time.Second ||
			!strings.Contains(out.String(), `"id":1,"error":{"code":-32800`) {
			t.Errorf("after %s: %s", took, out.String())
		}
		bubble.Sleep(time.Minute) // until the server has answered
	})
}

// TestEndOfContextAnswersRequestsInFlight ends the context while the input
// stays open. Later requests are refused.
func TestEndOfContextAnswersRequestsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newTestGateway(t, 5*time.Second)
		in, client := io.Pipe()
		var out output
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, g, in, &out, Options{}) }()
		_, _ = io.WriteString(client, initialize+call)
		synctest.Wait()
		cancel()
		bubble.Sleep(time.Second)
		_, _ = io.WriteString(client, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a__t"}}`+"\n")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := out.String(); !strings.Contains(got, `"id":1,"result"`) ||
			!strings.Contains(got, `"id":3,"error":{"code":-32000,"message":"junctor is shutting down"`) {
			t.Error(got)
		}
		_ = client.Close()
	})
}

// TestWriteErrorEndsServeAtOnce uses an output that fails.
func TestWriteErrorEndsServeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newTestGateway(t, time.Hour)
		in, client := io.Pipe()
		out := &output{err: errors.New("broken pipe")}
		ended := make(chan error, 1)
		begun := time.Now()
		go func() { ended <- Serve(t.Context(), g, in, out, Options{}) }()
		_, _ = io.WriteString(client, initialize+call)
		if err := <-ended; err == nil || err.Error() != "broken pipe" || time.Since(begun) > 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		_ = client.Close()
	})
}

// TestClientThatDoesNotReadIsGivenUp checks that Serve waits flushTime at most.
func TestClientThatDoesNotReadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newTestGateway(t, time.Second)
		client, out := io.Pipe() // has no reader
		begun := time.Now()
		if err := Serve(t.Context(), g, strings.NewReader(initialize+call), out,
			Options{}); err != errClientNotReading {
			t.Error(err)
		}
		if took := time.Since(begun); took != time.Second+flushTime {
			t.Errorf("Serve took %s", took)
		}
		_ = client.Close()
	})
}

// TestReadErrorIsReturned uses an input that fails.
func TestReadErrorIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newTestGateway(t, 0)
		in, client := io.Pipe()
		_ = client.CloseWithError(errors.New("i/o error"))
		if err := Serve(t.Context(), g, in, io.Discard, Options{}); err == nil ||
			err.Error() != "reading from the client: i/o error" {
			t.Error(err)
		}
	})
}

// TestLineEndsAndInvalidLines sends all kinds of line ends, invalid messages
// and a line that is too long. Each answer is one line.
func TestLineEndsAndInvalidLines(t *testing.T) {
	g, _ := newTestGateway(t, 0)
	long := `{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":"` + strings.Repeat("x", ndjson.DefaultLimit) +
		`"}}` + "\n"
	in := strings.TrimSuffix(initialize, "\n") + "\r\n\n\r\n \n" + long + "banner\n\x00\xff\n" +
		`{"jsonrpc":"2.0","id":"a","method":"ping",` + "\r" + `"params":{}}` + "\n" + ping
	var out output
	if err := Serve(t.Context(), g, strings.NewReader(in), &out, Options{}); err != nil {
		t.Error(err)
	}
	var got []string
	for lines := bufio.NewScanner(strings.NewReader(out.String())); lines.Scan(); {
		got = append(got, lines.Text())
	}
	want := []string{
		`{"jsonrpc":"2.0","id":0,"result":…}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message is not valid JSON"}}`,
		`{"jsonrpc":"2.0","id":"long","error":{"code":-32600,"message":"message is longer than 16777216 bytes","data":{"reason":"message_too_large"}}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message is not valid JSON: banner at byte 0"}}`,
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
