package legacysse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/httpclienttest"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

// dial connects to a server whose stream f writes.
func dial(t *testing.T, keepalive time.Duration, f func(w io.Writer, flush func(), r *http.Request),
	post http.HandlerFunc) (*Conn, error) {
	t.Helper()
	url, _ := httpclienttest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			_, _ = io.Copy(io.Discard, r.Body)
			if post == nil {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			post(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		f(w, w.(http.Flusher).Flush, r)
	}))
	client, err := httpclient.NewClient(httpclient.Options{URL: url + "/at/sse", Log: hclog.NewNullLogger(),
		Connect: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := Dial(ctx, Options{Client: client, Limit: 1 << 20, Keepalive: keepalive, Log: hclog.NewNullLogger()})
	if err == nil {
		t.Cleanup(func() { _ = c.Close(context.Background()) })
	} else {
		client.Close()
	}
	return c, err
}

// TestEndpoint checks valid and rejected forms of the endpoint event. TRN-21
func TestEndpoint(t *testing.T) {
	for event, want := range map[string]string{
		"event: endpoint\ndata: /m?s=1\n\n":                             "/m?s=1",
		"event: endpoint\ndata: m\n\n":                                  "/at/m",
		"event: endpoint\ndata: ?s=1\n\n":                               "/at/sse?s=1",
		": hello\n\nretry: 5\n\nevent: endpoint\ndata:m#f\n\n":          "/at/m",
		"event: endpoint\ndata: http://HOST/abs\n\n":                    "/abs",
		"event: endpoint\ndata: //HOST/abs\n\n":                         "/abs",
		"event: endpoint\ndata: HTTP://HOST/abs\n\n":                    "/abs",
		"event: endpoint\ndata: http://127.0.0.1:1/m\n\n":               "",
		"event: endpoint\ndata: https://HOST/m\n\n":                     "",
		"event: endpoint\ndata: //evil.example/m\n\n":                   "",
		"event: endpoint\ndata: http://u:p@HOST/m\n\n":                  "",
		"event: endpoint\ndata: http://HOST.evil.example\n\n":           "",
		"event: endpoint\ndata: :\x7f\n\n":                              "",
		"data: /m\n\n":                                                  "",
		"event: message\ndata: {}\n\n":                                  "",
		"":                                                              "",
		"event: endpoint\n":                                             "",
		"event: endpoint\ndata: /" + strings.Repeat("x", 9000) + "\n\n": "",
	} {
		posted := make(chan string, 1)
		c, err := dial(t, 0, func(w io.Writer, flush func(), r *http.Request) {
			_, _ = io.WriteString(w, strings.ReplaceAll(event, "HOST", r.Host))
			flush()
			if want != "" {
				<-r.Context().Done()
			}
		}, func(w http.ResponseWriter, r *http.Request) { posted <- r.URL.String() })
		if want == "" {
			if err == nil {
				t.Errorf("%q was accepted", event)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", event, err)
			continue
		}
		if err := c.Send([]byte(`{"jsonrpc":"2.0","method":"n"}`)); err != nil {
			t.Error(err)
		}
		if got := <-posted; got != want {
			t.Errorf("%q: posted to %s, want %s", event, got, want)
		}
	}
}

// TestPieces checks that events and characters may arrive in any pieces.
func TestPieces(t *testing.T) {
	const msg = `{"jsonrpc":"2.0","method":"n","params":{"x":"é😀"}}`
	c, err := dial(t, 0, func(w io.Writer, flush func(), r *http.Request) {
		for _, b := range []byte("event: endpoint\r\ndata: /m\r\n\r\n: ping\r\n\r\nevent: message\r\ndata: " + msg +
			"\r\n\r\ndata: oops\n\ndata: " + msg + "\n\n") {
			_, _ = w.Write([]byte{b})
			flush()
		}
		<-r.Context().Done()
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := c.Recv(); err != nil || string(got) != msg {
			t.Errorf("%s, %v", got, err)
		}
	}
	if n := c.Status().Dropped; n != 1 {
		t.Errorf("%d dropped", n)
	}
}

// TestSilence checks that silence ends the connection only after a comment of
// the server.
func TestSilence(t *testing.T) {
	for sign, most := range map[string]time.Duration{": ping\n\n": patience, "": time.Second} {
		c, err := dial(t, 300*time.Millisecond, func(w io.Writer, flush func(), r *http.Request) {
			_, _ = io.WriteString(w, "event: endpoint\ndata: /m\n\n"+sign)
			flush()
			<-r.Context().Done()
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { _, err := c.Recv(); ended <- err }()
		select {
		case err := <-ended:
			if sign == "" || err == nil || !strings.Contains(err.Error(), "silent for 300ms") {
				t.Errorf("%q: ended with %v", sign, err)
			}
		case <-time.After(most):
			if sign != "" {
				t.Error("silence does not end the connection")
			}
		}
	}
}

// TestRefusedPosts checks that a rejected post fails the request, and that an
// unknown session ends the connection.
func TestRefusedPosts(t *testing.T) {
	for status, ends := range map[int]bool{400: false, 500: false, 404: true, 410: true, 307: false} {
		c, err := dial(t, 0, func(w io.Writer, flush func(), r *http.Request) {
			_, _ = io.WriteString(w, "event: endpoint\ndata: /m\n\n")
			flush()
			<-r.Context().Done()
		}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Send([]byte(`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`)); err != nil {
			t.Error(err)
		}
		_, err = c.Recv()
		var f *sdk.Failed
		if !errors.As(err, &f) || string(f.ID) != "5" || f.Ends != ends {
			t.Errorf("%d: %#v", status, err)
		}
		if ends {
			if _, err := c.Recv(); err == nil || errors.As(err, &f) {
				t.Errorf("%d: then %v", status, err)
			}
		}
	}
}

// TestEndpointOfNoPage checks the error for an endpoint event whose path does not exist. A
// server does not know the prefix that a proxy adds to its paths.
//
// deviation: the endpoint event lacks the prefix that a proxy adds to the path | Junctor says so, and not that the session is lost | go-sdk#687
func TestEndpointOfNoPage(t *testing.T) {
	for n, want := range []string{"at /m, the path that its endpoint event names", "no longer knows the session"} {
		posts := 0
		c, err := dial(t, 0, func(w io.Writer, flush func(), r *http.Request) {
			_, _ = io.WriteString(w, "event: endpoint\ndata: /m\n\n")
			flush()
			<-r.Context().Done()
		}, func(w http.ResponseWriter, _ *http.Request) {
			if posts++; posts > n {
				w.WriteHeader(http.StatusNotFound)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			if err := c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/x"}`)); err != nil {
				t.Error(err)
			}
		}
		if err := c.Send([]byte(`{"jsonrpc":"2.0","id":5,"method":"initialize"}`)); err != nil {
			t.Error(err)
		}
		_, err = c.Recv()
		if f, ok := errors.AsType[*sdk.Failed](err); !ok || f.Delivered || !f.Ends ||
			!strings.Contains(f.Err.Message, want) {
			t.Errorf("after %d posts: %v", n, err)
		}
	}
}

// TestStreamEnds checks that the end of the stream ends the connection with an
// error.
func TestStreamEnds(t *testing.T) {
	c, err := dial(t, 0, func(w io.Writer, flush func(), _ *http.Request) {
		_, _ = fmt.Fprint(w, "event: endpoint\ndata: /m\n\ndata: {\"half")
		flush()
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Recv()
	var e *sdk.Error
	if !errors.As(err, &e) || e.Reason != "stream_ended" {
		t.Errorf("ended with %v", err)
	}
	if err := c.Send([]byte(`{}`)); err == nil {
		t.Error("the connection accepts messages after its end")
	}
}

// TestHungPosts checks that a server that does not accept requests still
// receives their cancellations, and that a cancelled request frees its slot.
func TestHungPosts(t *testing.T) {
	const calls = 2 * postsMost
	var begun, ended, told atomic.Int32
	c, err := dial(t, 0, func(w io.Writer, flush func(), r *http.Request) {
		_, _ = io.WriteString(w, "event: endpoint\ndata: /m\n\n")
		flush()
		<-r.Context().Done()
	}, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 65 { // a request, not a cancellation
			begun.Add(1)
			<-r.Context().Done()
			ended.Add(1)
			return
		}
		told.Add(1)
	})
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, n *atomic.Int32, want func() int32) {
		t.Helper()
		eventually.NoError(t, func() error {
			if n, want := n.Load(), want(); n != want {
				return fmt.Errorf("%d %s, want %d", n, what, want)
			}
			return nil
		})
	}
	cancel := func(i int) error {
		return c.Send(fmt.Appendf(nil,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	for i := range calls {
		if err := c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call"}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	until("posts", &begun, func() int32 { return postsMost })
	for i := range calls {
		if err := cancel(i); err != nil {
			t.Fatal(err)
		}
	}
	until("posts given up", &ended, begun.Load) // more posts begin meanwhile
	// A cancellation that overtakes a request that is still connecting ends
	// that post, too.
	until("cancellations", &told, func() int32 { return max(told.Load(), begun.Load()) })
	if n := begun.Load(); n < postsMost || n > calls {
		t.Errorf("%d requests were posted", n)
	}
	eventually.NoError(t, func() error {
		if n := len(c.posts); n != 0 {
			return fmt.Errorf("%d slots are not released", n)
		}
		return nil
	})
}
