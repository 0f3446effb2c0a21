package host

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestClientsAreLocal: a page leads back to the machine of the browser, so
// clients must be on this one.
func TestClientsAreLocal(t *testing.T) {
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 7575} }
	for _, c := range []struct {
		at    net.Addr
		hosts []string
		want  bool
	}{
		{tcp("127.0.0.1"), nil, true},
		{tcp("::1"), []string{"localhost", "localhost:7575", "127.0.0.1", "[::1]:7575"}, true},
		{tcp("127.0.0.1"), []string{"localhost", "mcp.example.com"}, false},
		{tcp("127.0.0.1"), []string{"mcp.example.com:443"}, false},
		{tcp("127.0.0.1"), []string{"192.0.2.1"}, false},
		{tcp("0.0.0.0"), nil, false},
		{tcp("::"), nil, false},
		{tcp("192.0.2.1"), nil, false},
		{&net.UnixAddr{Name: "/run/junctor.sock", Net: "unix"}, nil, false},
	} {
		if got := clientsAreLocal(c.at, c.hosts); got != c.want {
			t.Errorf("%s with %q: %t", c.at, c.hosts, got)
		}
	}
}

// TestMayLogIn: no client logs in on behalf of others.
func TestMayLogIn(t *testing.T) {
	auth := &config.Block{}
	for _, c := range []struct {
		share, method string
		auth          *config.Block
		want          bool
	}{
		{"global", "local", auth, true},
		{"global", "none", auth, true},
		{"global", "static_token", auth, false},
		{"global", "certificate", auth, false},
		{"", "static_token", auth, false},
		{"tenant", "static_token", auth, true},
		{"session", "certificate", auth, true},
		{"tenant", "local", nil, false},
	} {
		s := &config.Server{Share: c.share, Auth: c.auth}
		if got := mayLogIn(s, authn.Principal{Subject: "ann", Tenant: "acme", Method: c.method}); got != c.want {
			t.Errorf("share %q by %q: %t", c.share, c.method, got)
		}
	}
}

// TestPagesOfADay: a client that calls all day long while its user is away begins
// few logins, each of which may register anew.
func TestPagesOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *loginPage
		begun := 0
		for end := time.Now().Add(24 * time.Hour); time.Now().Before(end); bubble.Sleep(time.Second) {
			if p != nil && !p.replaceable() {
				continue
			}
			p = p.successor()
			begun++
			bubble.Sleep(defaultLoginTime)
			p.end(errors.New("nobody came"))
		}
		if begun < 20 || begun > 30 {
			t.Errorf("%d logins", begun)
		}
		p = p.successor()
		p.show("https://as.test/")
		p.show("https://evil.test/")
		if p.end(nil); p.url != "https://as.test/" || p.replaceable() || p.wait(t.Context()) != nil {
			t.Errorf("a login that succeeded is %+v", p)
		}
		if p = p.successor(); p.pause != 0 || p.ended() {
			t.Errorf("the next one is %+v", p)
		}
	})
}
