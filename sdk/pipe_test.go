package sdk_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/sdk"
)

func TestPipeConnRecv(t *testing.T) {
	big := `{"a":"` + strings.Repeat("x", 100) + `"}`
	conn := sdk.PipeConn(
		strings.NewReader("banner\n{\"a\":1}\r\n\n[1]\n"+big+"\n{\"b\":\r2}\n{\"c\":\"\r\"}\n{\"d\":3}"),
		nopCloser{io.Discard},
	)
	conn.(sdk.Limiter).LimitMessages(50)

	recv := func(want string) {
		t.Helper()
		if msg, err := conn.Recv(); err != nil || string(msg) != want {
			t.Errorf("got %q, %v; want %q", msg, err, want)
		}
	}
	recv(`{"a":1}`)
	_, err := conn.Recv()
	if d, ok := errors.AsType[*sdk.Dropped](err); !ok || d.Reason != "message_too_large" || d.Limit != 50 ||
		d.Size != int64(len(big)) || !strings.HasPrefix(big, string(d.Prefix)) {
		t.Errorf("got %#v", err)
	}
	recv(`{"b": 2}`) // a line break between tokens is white space; in a string it is invalid JSON
	recv(`{"d":3}`)
	for range 2 {
		if _, err := conn.Recv(); err != io.EOF {
			t.Errorf("got %v, want EOF", err)
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestPipeConnSend(t *testing.T) {
	var sent bytes.Buffer
	conn := sdk.PipeConn(strings.NewReader(""), nopCloser{&sent})
	msg := []byte(`{"a":1}`)
	for range 2 {
		if err := conn.Send(msg); err != nil {
			t.Fatal(err)
		}
	}
	if sent.String() != "{\"a\":1}\n{\"a\":1}\n" || string(msg) != `{"a":1}` {
		t.Errorf("sent %q of %q", &sent, msg)
	}
}

// TestPipeConnClose checks that Close unblocks Recv and Send, that Recv then
// returns io.EOF, and that Close may be called again.
func TestPipeConnClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		conn := sdk.PipeConn(ours, ours)
		received, sent := make(chan error, 1), make(chan error, 1)
		go func() { _, err := conn.Recv(); received <- err }()
		go func() { sent <- conn.Send([]byte(`{}`)) }() // blocks: the other end does not read
		synctest.Wait()
		for range 2 {
			if err := conn.Close(context.Background()); err != nil {
				t.Errorf("closing: %v", err)
			}
		}
		if err := <-received; err != io.EOF {
			t.Errorf("Recv returned %v", err)
		}
		if err := <-sent; sdk.CodeOf(err) != sdk.Unavailable {
			t.Errorf("Send returned %v", err)
		}
		if _, err := conn.Recv(); err != io.EOF {
			t.Errorf("Recv after Close returned %v", err)
		}
	})
}

type broken struct{ io.Writer }

func (broken) Read([]byte) (int, error) { return 0, errors.New("reset by peer") }
func (broken) Close() error             { return errors.New("not closed") }

func TestPipeConnBreaks(t *testing.T) {
	conn := sdk.PipeConn(broken{}, broken{})
	if _, err := conn.Recv(); sdk.CodeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "reset by peer") {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if err := conn.Close(t.Context()); err == nil {
			t.Error("the error of the first Close is lost")
		}
	}
}
