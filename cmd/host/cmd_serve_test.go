package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
)

// TestServeHTTPWithoutBlock: without a configuration, --http warns that it admits all
// users of the machine. The address is in use, so that the verb ends.
func TestServeHTTPWithoutBlock(t *testing.T) {
	if l, err := net.Listen("tcp", "127.0.0.1:7575"); err == nil {
		defer l.Close()
	}
	file := filepath.Join(t.TempDir(), "junctor.hcl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // in case the address becomes free
	defer cancel()
	cmd := exec.CommandContext(ctx, "junctor", "-c", file, "serve", "--http")
	cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+t.TempDir())
	said, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(said), "warning: --http 127.0.0.1:7575 lets every program on this machine in") ||
		!strings.Contains(string(said), "code: listen.address") {
		t.Errorf("%v\n%s", err, said)
	}
}

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
