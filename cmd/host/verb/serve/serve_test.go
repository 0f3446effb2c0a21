package serve

import (
	"fmt"
	"net"
	"testing"

	"github.com/junctor-mcp/junctor/host/config"
)

// TestEndpointAttributes: the log has the URL of the gateway, and never an unspecified
// address.
func TestEndpointAttributes(t *testing.T) {
	named := config.HTTP{Hosts: []string{"mcp.example.com"}}
	secure := config.HTTP{TLS: &config.TLS{}}
	for _, c := range []struct {
		at   net.Addr
		h    config.HTTP
		want string
	}{
		{tcp("127.0.0.1", 7575), config.HTTP{}, "[endpoint http://127.0.0.1:7575/mcp]"},
		{tcp("127.0.0.1", 7575), named, "[endpoint http://127.0.0.1:7575/mcp]"},
		{tcp("::1", 1), secure, "[endpoint https://[::1]:1/mcp]"},
		{tcp("0.0.0.0", 80), config.HTTP{}, "[endpoint http://ADDRESS:80/mcp at any IPv4 address of this machine]"},
		{tcp("::", 80), secure, "[endpoint https://ADDRESS:80/mcp at any address of this machine]"},
		{tcp("::", 80), named, "[endpoint http://ADDRESS:80/mcp at any address of this machine, or one of hosts]"},
		{&net.UnixAddr{Net: "unix", Name: "/x.sock"}, config.HTTP{}, "[]"},
	} {
		if got := fmt.Sprint(endpointAttrs(c.at, c.h)); got != c.want {
			t.Errorf("%s: %s, want %s", c.at, got, c.want)
		}
	}
}

func tcp(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
