package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	someRequest  = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":8}}`
	someNote     = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	someResponse = `{"jsonrpc":"2.0","id":7,"result":{}}`
)

// failing is an echo whose Send fails for the messages that contain a word.
type failing struct {
	*echo
	word string
	err  error
	ends error // if set, Recv returns it after a failed Send
}

func (f *failing) Send(msg []byte) error {
	if !strings.Contains(string(msg), f.word) {
		return f.echo.Send(msg)
	}
	if f.ends != nil {
		_ = f.Close(context.Background())
	}
	return f.err
}

func (f *failing) Recv() ([]byte, error) {
	msg, err := f.echo.Recv()
	if err != nil && f.ends != nil {
		err = f.ends
	}
	return msg, err
}

func openFailing(t *testing.T, f *failing) *Stream {
	f.echo = newEcho()
	return transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) { return f, nil }).open(t, "i")
}

// TestSendFailsTheRequest checks that an error of Send fails the request that it is about,
// and no other.
func TestSendFailsTheRequest(t *testing.T) {
	for _, c := range []struct {
		name, msg string
		err       error
		want      string // id, code, text, hint
		delivered bool
		ends      bool
	}{
		{"any error", someRequest, errors.New("boom"), "7 unavailable sending to the server: boom []", true, false},
		{"an error with a code",
			someRequest, &sdk.Error{Code: sdk.AuthRequired, Message: "who are you", Hint: "log in"},
			"7 auth_required who are you [log in]", true, false},
		{"an error around one with a code",
			someRequest, fmt.Errorf("post: %w", sdk.Errorf(sdk.Denied, "no")), "7 denied post: no []", true, false},
		{"a timeout", someRequest, context.DeadlineExceeded, "7 deadline context deadline exceeded []", true, false},
		{"failed, without id", someRequest, &sdk.Failed{Err: sdk.Errorf(sdk.Unavailable, "refused")},
			"7 unavailable refused []", false, false},
		{"failed, with the id", someRequest,
			&sdk.Failed{ID: []byte("7"), Err: sdk.Errorf(sdk.Unavailable, "reset"), Delivered: true, Ends: true},
			"7 unavailable reset []", true, true},
		{"failed, without a reason",
			someRequest, &sdk.Failed{}, "7 internal the transport did not say why the request failed []", false, false},
		{"an id that is a text", `{"id":"a\"b","method":"x","jsonrpc":"2.0"}`, errors.New("boom"),
			`"a\"b" unavailable sending to the server: boom []`, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openFailing(t, &failing{word: "method", err: c.err})
			s.mustSend(t, c.msg)
			msg, ev, err := s.Read()
			if err != nil || ev == nil || ev.Name != "failed" || ev.Status == nil {
				t.Fatalf("got %q, %+v, %v", msg, ev, err)
			}
			got := fmt.Sprintf("%s %s %s [%s]", ev.ID, ev.Status.Code, ev.Status.Message, ev.Status.Hint)
			if got != c.want || ev.Delivered != c.delivered || ev.Ends != c.ends {
				t.Errorf("got %s, delivered %t, ends %t", got, ev.Delivered, ev.Ends)
			}
			s.mustSend(t, `{"still":"there"}`)
			s.mustRead(t, `{"still":"there"}`)
		})
	}
}

// TestSendEndsTheConnection checks that an error of Send ends the connection if it is about
// no request, or if the connection is over. A reason of Recv wins then.
func TestSendEndsTheConnection(t *testing.T) {
	reason := &sdk.Error{Code: sdk.Unavailable, Reason: "exited", Message: "the server exited"}
	for _, c := range []struct {
		name, msg string
		err, ends error
		want      string
	}{
		{"notification", someNote, errors.New("boom"), nil, "sending to the server: boom"},
		{"response", someResponse, errors.New("boom"), nil, "sending to the server: boom"},
		{"response to a text", `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"method"}}`, errors.New("boom"),
			nil, "sending to the server: boom"},
		{"no message", `{"method":7}`, errors.New("boom"), nil, "sending to the server: boom"},
		{"no JSON", `method`, errors.New("boom"), nil, "sending to the server: boom"},
		{"notification, with a code", someNote, sdk.Errorf(sdk.Denied, "no"), nil, "no"},
		{"notification, failed", someNote, &sdk.Failed{Err: sdk.Errorf(sdk.Unavailable, "refused")}, nil, "refused"},
		{"end of file", someRequest, io.EOF, reason, "the server exited"},
		{"closed pipe", someRequest, io.ErrClosedPipe, reason, "the server exited"},
		{"closed file",
			someRequest, &os.PathError{Op: "write", Path: "x", Err: os.ErrClosed}, reason, "the server exited"},
		{"closed connection", someRequest, &net.OpError{Op: "write", Err: net.ErrClosed}, reason, "the server exited"},
		{"broken pipe", someRequest, os.NewSyscallError("write", syscall.EPIPE), reason, "the server exited"},
		{"reset", someRequest, os.NewSyscallError("write", syscall.ECONNRESET), reason, "the server exited"},
		{"cancelled", someRequest, sdk.Errorf(sdk.Canceled, "the connection is closed"), reason, "the server exited"},
		{"cause of an error", someRequest, &sdk.Error{Code: sdk.Unavailable, Message: "sending", Err: io.ErrClosedPipe},
			reason, "the server exited"},
		{"broken pipe, Recv goes on",
			someRequest, os.NewSyscallError("write", syscall.EPIPE), nil, "sending to the server: write: broken pipe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.name, "goes on") && testing.Short() {
				t.Skip("waits for Recv")
			}
			begun := time.Now()
			s := openFailing(t, &failing{word: "", err: c.err, ends: c.ends})
			s.mustSend(t, c.msg)
			if err := s.ending(t); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if took := time.Since(begun); took > patience/2 {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// flushFails is an echo whose Flush fails.
type flushFails struct{ *echo }

func (flushFails) Send([]byte) error { return nil }
func (flushFails) Flush() error      { return errors.New("boom") }

// TestFlushEndsTheConnection checks that an error of Flush is not kept until the next
// message.
func TestFlushEndsTheConnection(t *testing.T) {
	s := transport(t,
		func(context.Context, *sdk.Server) (sdk.Conn, error) { return flushFails{newEcho()}, nil }).open(t,
		"i")
	s.mustSend(t, someRequest)
	if err := s.ending(t); err == nil || err.Error() != "sending to the server: boom" {
		t.Errorf("got %v", err)
	}
}

// TestSendFailsAfterClose checks that errors of Send while the host closes the connection
// are no reason for its end.
func TestSendFailsAfterClose(t *testing.T) {
	e := newEcho()
	sending := make(chan struct{})
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		return &fakeConn{recv: e.Recv, close: e.Close, send: func([]byte) error {
			close(sending)
			<-e.done
			return errors.New("boom")
		}}, nil
	})
	s := p.open(t, "i")
	s.mustSend(t, someNote)
	within(t, "Send", sending)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.Close(ctx, "i", 0); err != nil {
		t.Error(err)
	}
	if err := s.ending(t); err != nil {
		t.Errorf("got %v", err)
	}
}
