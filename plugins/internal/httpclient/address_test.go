package httpclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclienttest"
	"github.com/junctor-mcp/junctor/sdk"
)

// names replaces DNS in this process. Each query for any name returns the next
// of the addresses, and then the last one.
func names(t *testing.T, addresses ...string) (asked *atomic.Int32) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = new(atomic.Int32)
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Header = dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}
			q := m.Questions[0]
			if q.Type == dnsmessage.TypeA {
				i := int(asked.Add(1)) - 1
				if ip := netip.MustParseAddr(addresses[min(i, len(addresses)-1)]); ip.Is4() {
					m.Answers = []dnsmessage.Resource{{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0},
						Body:   &dnsmessage.AResource{A: ip.As4()},
					}}
				}
			}
			if b, err := m.Pack(); err == nil {
				_, _ = server.WriteTo(b, from)
			}
		}
	}()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		_ = server.Close()
	})
	return asked
}

// get sends one GET request to a server.
func get(t *testing.T, o Options) error {
	t.Helper()
	o.Log, o.Connect = hclog.NewNullLogger(), 2*time.Second
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	res, _, err := c.Do(ctx, Request{Method: "GET"})
	if err == nil {
		_ = res.Body.Close()
	}
	return err
}

func refused(err error) bool {
	var e *sdk.Error
	return errors.As(err, &e) && e.Reason == "address_refused"
}

func TestSameOrigin(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"https://a.example/x", "https://A.example:443/y?z"}: true, {"http://a.example:80", "http://a.example"}: true,
		{"http://[::1]:8/x", "http://[::1]:8"}: true, {"https://a.example", "http://a.example:443"}: false,
		{"https://a.example", "https://a.example.:443"}: false, {"http://a.example", "http://a.example:8080"}: false,
	} {
		a, errA := url.Parse(pair[0])
		b, errB := url.Parse(pair[1])
		if errA != nil || errB != nil || SameOrigin(a, b) != want {
			t.Errorf("%v: %t", pair, !want)
		}
	}
}

// TestAddresses checks that a name may lead to public addresses only, unless
// more is allowed, and that the checked address is the one dialled. TRN-20,
// D12, U3
func TestAddresses(t *testing.T) {
	var hits atomic.Int32
	base, _ := httpclienttest.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	port := base[strings.LastIndexByte(base, ':'):]

	for _, a := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
		"255.255.255.255",
	} {
		names(t, a)
		if err := get(t, Options{URL: "http://public.example" + port}); !refused(err) {
			t.Errorf("a name that leads to %s: %v", a, err)
		}
	}
	// Names that the transport spells differently, or with a dot at the end.
	for _, name := range []string{"b\u00fccher.example", "PUBLIC.example", "public.example.",
		"p\u00fcblic\u3002example"} {
		names(t, "127.0.0.1")
		if err := get(t, Options{URL: "http://" + name + port}); !refused(err) {
			t.Errorf("%s led to the loopback: %v", name, err)
		}
	}
	// The DNS answer changes between two queries.
	asked := names(t, "127.0.0.1", "93.184.216.34")
	if err := get(t, Options{URL: "http://public.example" + port}); !refused(err) || asked.Load() != 1 {
		t.Errorf("looked up %d times: %v", asked.Load(), err)
	}
	if n := hits.Load(); n > 0 {
		t.Fatalf("%d connections were made", n)
	}

	names(t, "127.0.0.1")
	for name, o := range map[string]Options{
		"an address in the URL": {URL: "http://127.0.0.1" + port},
		"localhost":             {URL: "http://sub.localhost" + port},
		"a permission":          {URL: "http://public.example" + port, AllowPrivate: true},
	} {
		if err := get(t, o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	names(t, "10.0.0.1")
	if err := get(t, Options{URL: "http://sub.localhost" + port}); !refused(err) {
		t.Errorf("localhost led elsewhere: %v", err)
	}
}
