package mcpconn_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/mcpconn"
)

// TestServer connects to a real server of the MCP SDK.
func TestServer(t *testing.T) {
	here, there := mcp.NewInMemoryTransports()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, there) }()

	conn, err := mcpconn.Open(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	send(t, conn, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"},"unknown":9007199254740993}}`)
	var answer struct {
		ID     int
		Result struct{ ProtocolVersion string }
	}
	if err := json.Unmarshal(recv(t, conn), &answer); err != nil || answer.ID != 1 ||
		answer.Result.ProtocolVersion != "2025-11-25" {
		t.Errorf("answer %+v, %v", answer, err)
	}
	closeNow(t, conn)
	closeNow(t, conn)
	if _, err := conn.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the server does not end")
	}
}

// TestBytes checks that params keep their bytes.
func TestBytes(t *testing.T) {
	here, there := mcp.NewInMemoryTransports()
	a, err := mcpconn.Open(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	b, err := mcpconn.Open(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	defer closeNow(t, a)
	defer closeNow(t, b)
	const params = `{"z":9007199254740993,"a":{"unknown":[1.0,-0]}}`
	go send(t, a, `{"jsonrpc":"2.0","method":"notifications/x","params":`+params+`}`)
	if got := recv(t, b); !strings.Contains(string(got), params) {
		t.Errorf("got %s", got)
	}
}

// TestGarbage checks that Send rejects data that is not a message.
func TestGarbage(t *testing.T) {
	here, _ := mcp.NewInMemoryTransports()
	conn, err := mcpconn.Open(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	defer closeNow(t, conn)
	for _, text := range []string{"", "{", `{"jsonrpc":"1.0","id":1}`, `[]`} {
		if err := conn.Send([]byte(text)); err == nil {
			t.Errorf("%q was sent", text)
		}
	}
}

// TestServerIsDown checks that Send returns why the server cannot be reached.
func TestServerIsDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	conn, err := mcpconn.Open(t.Context(), &mcp.StreamableClientTransport{Endpoint: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	defer closeNow(t, conn)
	err = conn.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Code != sdk.Unavailable || !strings.Contains(e.Message, address) ||
		!errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

func send(t *testing.T, c sdk.Conn, msg string) {
	t.Helper()
	if err := c.Send([]byte(msg)); err != nil {
		t.Error(err)
	}
}

func recv(t *testing.T, c sdk.Conn) []byte {
	t.Helper()
	msg, err := c.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func closeNow(t *testing.T, c sdk.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := c.Close(ctx); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
