// Command acme-transport connects to MCP servers that listen on a socket and
// send one JSON message per line.
package main

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

type config struct {
	Address string        `hcl:"address" doc:"Where the server listens: host:port, or the path of a unix socket."`
	Timeout time.Duration `hcl:"timeout" doc:"How long to try to connect." default:"5s"`
}

func open(ctx context.Context, _ *sdk.Server, c *config) (sdk.Conn, error) {
	network := "tcp"
	if strings.Contains(c.Address, "/") {
		network = "unix"
	}
	dialer := net.Dialer{Timeout: c.Timeout}
	conn, err := dialer.DialContext(ctx, network, c.Address)
	if err != nil {
		return nil,
			&sdk.Error{Code: sdk.Unavailable, Path: "address", Message: err.Error(), Hint: "is the server running?"}
	}
	return sdk.PipeConn(conn, conn), nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "acme-transport", Version: "1.0.0", Description: "Reaches MCP servers on sockets.",
		Transports: map[string]sdk.Transport{"acme": sdk.NewTransport(open)},
	}
}

func main() { serve.Main(plugin()) }
