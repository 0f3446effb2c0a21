package origin

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func policyAt(a net.Addr, hosts ...string) Policy {
	at := AddressOf(a)
	return Policy{Address: &at, Hosts: hosts}
}

// TestHosts checks the allowed Host headers for each kind of
// address.
func TestHosts(t *testing.T) {
	at := func(address string, hosts ...string) Policy {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return policyAt(a, hosts...)
	}
	loopback, all, web := at("127.0.0.1:7575"), at("[::]:7575", "mcp.example.com", "other.example.com:8443"),
		at("192.0.2.1:80")
	for _, c := range []struct {
		g    Policy
		host string
		want bool
	}{
		{loopback, "localhost:7575", true},
		{loopback, "LocalHost:7575", true},
		{loopback, "127.0.0.1:7575", true},
		{loopback, "[::1]:7575", true},
		{loopback, "127.0.0.2:7575", false},
		{loopback, "::1:7575", false},
		{loopback, "mcp.example.com", false},
		{all, "mcp.example.com", true},
		{all, "mcp.example.com:7575", true},
		{all, "mcp.example.com:1", false},
		{all, "other.example.com:8443", true},
		{all, "other.example.com", false},
		{all, "192.0.2.1:7575", true},
		{all, "[2001:db8::1]:7575", true},
		{all, "localhost:7575", true},
		{all, "evil.com:7575", false},
		{all, "192.0.2.1", false},
		{all, "", false},
		{all, ":7575", false},
		{web, "192.0.2.1", true},
		{web, "192.0.2.1:80", true},
		{web, "localhost", false},
		{web, "", false},
		{policyAt(&net.UnixAddr{Name: "x", Net: "unix"}), "anything", true},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Host = c.host
		if got := c.g.Check(r) == nil; got != c.want {
			t.Errorf("%q at %v: %t", c.host, c.g.Address.own, got)
		}
	}
	// A page cannot come from a unix socket.
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header.Set("Origin", "http://"+r.Host)
	g := policyAt(&net.UnixAddr{Name: "x", Net: "unix"})
	if g.Check(r) == nil {
		t.Error("a unix socket allows an Origin header")
	}
}
