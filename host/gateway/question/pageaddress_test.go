package question

import (
	"strings"
	"testing"
)

func TestCheckPageURL(t *testing.T) {
	for _, good := range []string{
		"https://example.com", "https://example.com/authorize?client=1&redirect=https%3A%2F%2Fx.test%2F",
		"HTTPS://Example.COM:8443/x#y", "https://192.0.2.1/", "https://[2001:db8::1]:443/",
		"http://127.0.0.1:7575/login", "http://localhost/x", "http://[::1]:1/", "https://xn--mnchen-3ya.de/",
		"https://xn--80ak6aa92e.com/", "https://xn--wgv71a119e.jp/", "https://xn--r8jz45g.jp/",
		"https://example.com/" + strings.Repeat("x", maxPageURL-len("https://example.com/")),
	} {
		if err := checkPageURL(good); err != nil {
			t.Errorf("%.60s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "x", "/x", "//example.com/x", "javascript:alert(1)", "JavaScript:alert(1)", "file:///etc/passwd",
		"file://example.com/x", "data:text/html,x", "ftp://example.com/", "vbscript:x", "intent://x#Intent;end",
		"about:blank", "https:example.com", "https:///x", "https://", "https://:443/", "http://example.com/",
		"http://127.0.0.1.example.com/", "http://localhost.example.com/", "http://10.0.0.1/",
		"https://user@example.com/", "https://user:word@example.com/", "https://accounts.example.com@evil.test/",
		"https://@evil.test/", "https://\u0430pple.com/", "https://xn--pple-43d.com/", "https://www.xn--pple-43d.com/",
		"https://xn--.com/", "https://xn--a.com/", "https://xn--\u0430.com/", "https://XN--PPLE-43D.com/",
		"https://example.com\\@evil.test/", "https://exa mple.com/", "https://example.com/\nx",
		"https://example.com/\u202e", "https://example.com/\x00", " https://example.com/",
		"https://example.com/\x1b[31m", "https://[fe80::1%25eth0]/", "https://..example.com/",
		"https://example.com:port/", "https://%65xample.com/", "https://example.com/" + strings.Repeat("x", maxPageURL),
	} {
		if err := checkPageURL(bad); err == nil {
			t.Errorf("%.60q may be shown", bad)
		}
	}
}

func FuzzCheckPageURL(f *testing.F) {
	f.Add("https://xn--pple-43d.com/")
	f.Fuzz(func(t *testing.T, address string) {
		if checkPageURL(address) == nil && !strings.HasPrefix(strings.ToLower(address), "http") {
			t.Errorf("%q may be shown", address)
		}
	})
}
