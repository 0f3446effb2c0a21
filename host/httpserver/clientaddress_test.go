package httpserver

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// TestForwardedFor reads lists of addresses that a client has begun and proxies have
// continued.
func TestForwardedFor(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/64")}
	for header, want := range map[string]string{
		"203.0.113.7":                          "203.0.113.7",
		"203.0.113.7, 10.1.2.3":                "203.0.113.7",
		"1.1.1.1, 203.0.113.7, 10.1.2.3":       "203.0.113.7",
		"1.1.1.1|203.0.113.7|10.1.2.3":         "203.0.113.7", // several headers
		"203.0.113.7:4711":                     "203.0.113.7",
		"[2001:db8:1::7]:4711, 2001:db8::1":    "2001:db8:1::7",
		"::ffff:203.0.113.7":                   "203.0.113.7",
		"":                                     "",
		"10.1.2.3":                             "", // no client
		"unknown":                              "",
		"1.1.1.1, unknown":                     "",
		"1.1.1.1, ":                            "",
		"evil, 203.0.113.7":                    "203.0.113.7",
		strings.Repeat("10.0.0.1, ", 30) + "x": "",
		"1.1.1.1, " + strings.TrimSuffix(strings.Repeat("10.0.0.1,", 30), ","): "",
	} {
		got, ok := forwardedFor(strings.Split(header, "|"), proxies)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%.80q: %s, %t", header, got, ok)
		}
	}
}

// TestRateBehindAProxy checks that clients behind a proxy have limits of their own, and
// that X-Forwarded-For of other peers changes nothing.
func TestRateBehindAProxy(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		h := openFixture(t, func(o *Options) {
			o.PerAddress, o.Loopback = Rate{PerSecond: 0.001, Burst: 2}, true
			if trusted {
				o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			}
		})
		v := h.newClient(t)
		status := func(forwarded string) int {
			status, _, _, err := v.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "X-Forwarded-For", forwarded)
			if err != nil {
				t.Fatal(err)
			}
			return status
		}
		limited := 0
		for _, forwarded := range []string{"203.0.113.1", "203.0.113.1", "203.0.113.2", "203.0.113.2",
			"1.1.1.1, 203.0.113.1", "2.2.2.2, 203.0.113.1"} {
			if status(forwarded) == http.StatusTooManyRequests {
				limited++
			}
		}
		if want := map[bool]int{true: 2, false: 4}[trusted]; limited != want {
			t.Errorf("trusted %t: %d requests are limited, want %d", trusted, limited, want)
		}
	}
}
