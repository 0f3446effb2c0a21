package managed

import "testing"

// TestBlocked is the table of allow-lists: what an entry of one kind means for servers of
// another.
func TestBlocked(t *testing.T) {
	program := Server{Name: "files", Command: []string{"npx", "-y", "files"}}
	remote := Server{Name: "files", URL: "https://mcp.example.com/mcp"}
	other := Server{Name: "files"} // of a plugin that is neither
	name, argv, address := Entry{Name: "files"}, Entry{Command: []string{"npx", "-y", "files"}},
		Entry{URL: "https://*.example.com/*"}
	for _, c := range []struct {
		what                   string
		rules                  Rules
		program, remote, other bool // allowed
	}{
		{"no list", Rules{}, true, true, true},
		{"an empty list", Rules{Allow: []Entry{}}, false, false, false},
		{"a name", Rules{Allow: []Entry{name}}, true, true, true},
		{"another name", Rules{Allow: []Entry{{Name: "Files"}}}, false, false, false},
		{"a command", Rules{Allow: []Entry{argv}}, true, false, false},
		{"a name is not enough where commands are listed",
			Rules{Allow: []Entry{name, {Command: []string{"other"}}}}, false, true, false},
		{"a name is not enough where URLs are listed",
			Rules{Allow: []Entry{name, {URL: "https://other.example.org"}}}, true, false, true},
		{"a URL", Rules{Allow: []Entry{address}}, false, true, false},
		{"both", Rules{Allow: []Entry{argv, address}}, true, true, false},
		{"deny wins", Rules{Allow: []Entry{name}, Deny: []Entry{name}}, false, false, false},
		{"deny a command", Rules{Deny: []Entry{argv}}, false, true, true},
		{"deny another order", Rules{Deny: []Entry{{Command: []string{"npx", "files", "-y"}}}}, true, true, true},
		{"deny fewer arguments", Rules{Deny: []Entry{{Command: []string{"npx", "-y"}}}}, true, true, true},
		{"deny a URL", Rules{Deny: []Entry{address}}, true, false, true},
	} {
		for server, want := range map[*Server]bool{&program: c.program, &remote: c.remote, &other: c.other} {
			if why := c.rules.Blocked(*server); (why == "") != want {
				t.Errorf("%s: %+v: %q, want allowed: %v", c.what, *server, why, want)
			}
		}
	}
}

// TestURLEvasions writes a URL in other ways. A pattern that denies it denies them all, and
// one that allows another host allows none of them.
func TestURLEvasions(t *testing.T) {
	deny := Rules{Deny: []Entry{{URL: "https://evil.example.com/*"}}}
	allow := Rules{Allow: []Entry{{URL: "https://good.example.com/mcp/*"}}}
	for _, raw := range []string{
		"https://evil.example.com/mcp",
		"HTTPS://EVIL.example.COM/mcp",
		"https://evil.example.com:443/mcp",
		"https://evil.example.com:0443/mcp",
		"https://evil.example.com./mcp",
		"https://evil.example.com",
		"https://good.example.com@evil.example.com/mcp",
		"https://good.example.com:x@evil.example.com/mcp",
		"https://evil.example.com/mcp#good.example.com",
		"https://evil.example.com\\@good.example.com/mcp",
		"https://good.example.com\\.evil.example.com/mcp",
		"https://ev%69l.example.com/mcp",
		"https://ｅｖｉｌ.example.com/mcp",
		"https://evil。example。com/mcp",
		"https://evil.example.com/%2e%2e/mcp",
		"https://evil.example.com//mcp",
		"https://evil.example.com/mcp;good",
		"https://evil.example.com/a%2fb",
		"https://evil.example.com/mcp?x=https://good.example.com/mcp/",
		"https://evil.example.com /mcp",
		"https://[::ffff:evil.example.com]/mcp",
		"https:evil.example.com/mcp",
		"//evil.example.com/mcp",
		"https://evil\u00ad.example.com/mcp",
	} {
		if why := deny.Blocked(Server{Name: "x", URL: raw}); why == "" {
			t.Errorf("%q is not denied", raw)
		}
		if why := allow.Blocked(Server{Name: "x", URL: raw}); why == "" {
			t.Errorf("%q is allowed", raw)
		}
	}
}

func TestMatchURL(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"https://good.example.com/mcp/*", "https://good.example.com/mcp/x", true},
		{"https://good.example.com/mcp/*", "https://good.example.com/mcp/../admin", false},
		{"https://good.example.com/mcp/*", "https://good.example.com/mcp/%2e%2e/admin", false},
		{"https://good.example.com/mcp/*", "https://good.example.com/mcp", false},
		{"https://good.example.com", "https://good.example.com/any/path", true},
		{"https://good.example.com/", "https://good.example.com/any/path", true},
		{"https://good.example.com:443/*", "https://good.example.com/x", true},
		{"https://good.example.com/*", "https://good.example.com:8443/x", false},
		{"https://good.example.com/*", "http://good.example.com/x", false},
		{"https://*.example.com/*", "https://a.example.com/", true},
		{"https://*.example.com/*", "https://a.b.example.com/", true},
		{"https://*.example.com/*", "https://example.com/", false},
		{"https://*.example.com/*", "https://evilexample.com/", false},
		{"https://*.example.com/*", "https://a.example.com.evil.org/", false},
		{"https://*.example.com/*", "https://evil.org/a.example.com/", false},
		{"https://a.*.com/*", "https://a.b.com/", true},
		{"https://a.*.com/*", "https://a.b.c.com/", false},
		{"https://bücher.example/*", "https://xn--bcher-kva.example/x", true},
		{"http://127.0.0.1/*", "http://[::ffff:127.0.0.1]/x", true},
		{"http://127.0.0.1/*", "http://127.1/x", false},
		{"http://127.0.0.1/*", "http://2130706433/x", false},
		{"http://[::1]:8080/*", "http://[0:0::1]:8080/x", true},
		{"https://ex*mple.com/*", "https://example.com/", false},
		{"*://example.com/*", "https://example.com/", false},
		{"https://u@example.com/*", "https://example.com/", false},
	} {
		if got := MatchURL(c.pattern, c.url); got != c.want {
			t.Errorf("%s of %s: %v", c.pattern, c.url, got)
		}
	}
}

func FuzzMatchURL(f *testing.F) {
	f.Add("https://*.example.com/*", "https://a.example.com/x")
	f.Fuzz(func(t *testing.T, pattern, raw string) {
		if MatchURL(pattern, raw) && (&Rules{Deny: []Entry{{URL: pattern}}}).Blocked(Server{URL: raw}) == "" {
			t.Error("a URL that matches is not denied")
		}
	})
}
