package login

import (
	"errors"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestAddress: addresses are normalized, and http is accepted only to the loopback.
func TestAddress(t *testing.T) {
	for raw, want := range map[string]string{
		"https://login.example.com/authorize?client_id=a&state=b%20c": "https://login.example.com/authorize?client_id=a&state=b%20c",
		"HTTPS://Login.Example.COM:8443/a":                            "https://login.example.com:8443/a",
		"https://a/;calc&x":                                           "https://a/%3Bcalc%26x",
		"https://a/$(touch$IFS/tmp/pwn)?b=`id`&c='|x":                 "https://a/%24%28touch%24IFS/tmp/pwn%29?b=%60id%60&c=%27%7Cx",
		"https://a/?x=%zz&y=100%":                                     "https://a/?x=%25zz&y=100%25",
		"https://a/ä?ö=ü#ß":                                           "https://a/%C3%A4?%C3%B6=%C3%BC#%C3%9F",
		"https://xn--pple-43d.com/":                                   "https://xn--pple-43d.com/",
		"https://[2001:db8::1]:444/x":                                 "https://[2001:db8::1]:444/x",
		"https://127.0.0.1:9/x":                                       "https://127.0.0.1:9/x",
	} {
		got, err := Address(raw, false)
		if err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"http://127.0.0.1:8080/a", "http://localhost/a", "http://[::1]:1/a",
		"http://127.9.9.9/"} {
		if _, err := Address(raw, true); err != nil {
			t.Errorf("%q with a server on this machine: %v", raw, err)
		}
		if _, err := Address(raw, false); err == nil {
			t.Errorf("%q was accepted though the server is elsewhere", raw)
		}
	}
}

// evil are addresses that are rejected wherever the server is.
var evil = []string{
	"", "x", "/a", "//a/b", "https:", "https://", "https:a", "https:///a", "https://:443/",
	"javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "ftp://a/", "ms-msdt:/id",
	"chrome://settings", "mailto:a@b", "http://x$(touch /tmp/pwn)/", "http://x$(touch${IFS}/tmp/pwn)/",
	"https://x$(touch${IFS}/tmp/pwn)/", "https://`id`/", "https://a;b/", "https://a&b/", "https://a|b/",
	"--upload-pack=x", "-https://a/", " https://a/", "https://a/ b", "https://a/\nb", "https://a/\x1b[2J",
	"https://a/\u202ebc", "https://a\u200b.com/", "https://a/\xff", "https://u:p@h/", "https://u@h/", "https://@h/",
	"https://good.example@evil.example/", `https://good.example\@evil.example/`, `https://a\b/`,
	"https://\u0430pple.com/", "https://a%2eb/", "https://a..b/", "https://.a/", "https://-a/", "https://a:b/",
	"https://[::1%25eth0]/", "https://[::1/", "https://a:/", "http://example.com/", "http://10.0.0.1/",
	"http://169.254.169.254/latest/", "http://localhost.example.com/", "http://[::ffff:10.0.0.1]/", "http://0.0.0.0/",
	"https://a/" + strings.Repeat("x", maxAddress),
}

func TestAddressRejects(t *testing.T) {
	for _, raw := range evil {
		for _, loopback := range []bool{false, true} {
			got, err := Address(raw, loopback)
			e, ok := errors.AsType[*sdk.Error](err)
			if !ok || e.Code != sdk.Denied || e.Reason != "auth_url_rejected" || e.Hint == "" {
				t.Errorf("%q became %q, %v", raw, got, err)
				continue
			}
			if strings.ContainsFunc(e.Message, strange) || len(e.Message) > 400 {
				t.Errorf("%q is refused with %q", raw, e.Message)
			}
		}
	}
	if _, err := Address("https://user:s3cret@h/?code=s3cret", false); strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a password is shown: %v", err)
	}
}

// TestHints: a service is known by its exact host only.
func TestHints(t *testing.T) {
	known := map[string]bool{}
	for host, h := range services {
		got, ok := HintFor("https://" + host + "/mcp?x=1")
		if !ok || got != *h || h.Advice == "" || !strings.HasPrefix(h.Auth, "auth ") {
			t.Errorf("%s: %+v", host, got)
		}
		if _, err := Address(h.Page, false); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		known[h.Service] = true
	}
	if len(known) != 12 {
		t.Errorf("%d services", len(known))
	}
	for _, other := range []string{
		"", "mcp.sentry.dev", "http://mcp.sentry.dev/", "https://mcp.sentry.dev.evil.example/",
		"https://evil-mcp.sentry.dev/", "https://sentry.dev/", "https://mcp.sentry.dev:8443/",
		"https://evil.example/mcp.sentry.dev", "https://mcp.sentry.dev@evil.example/", "https://x.gitlab.com/",
	} {
		if h, ok := HintFor(other); ok {
			t.Errorf("%q is taken for %s", other, h.Service)
		}
	}
	if h, ok := HintFor("https://API.githubcopilot.com./mcp/"); !ok ||
		!strings.Contains(h.Advice, "personal access token") {
		t.Errorf("GitHub: %+v", h)
	}
}

func TestPorts(t *testing.T) {
	for text, want := range map[string]portRange{"": {8085, 8099}, "0": {}, "9000": {9000, 9000},
		" 9000 - 9001 ": {9000, 9001}, "7-7": {7, 7}} {
		if got, err := parsePorts(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "-", "1-", "-1", "9-8", "0-3", "65536", "1-65536", "1-2-3", "+1", "1,2"} {
		if _, err := parsePorts(text); sdk.CodeOf(err) != sdk.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestHeadless(t *testing.T) {
	for name, c := range map[string]struct {
		never  bool
		env    string
		system string
		opens  bool
	}{
		"a desktop":             {false, "DISPLAY", "linux", true},
		"wayland":               {false, "WAYLAND_DISPLAY", "linux", true},
		"macOS":                 {false, "", "darwin", true},
		"windows":               {false, "", "windows", true},
		"a named browser":       {false, "SSH_CONNECTION BROWSER", "linux", true},
		"no display":            {false, "", "linux", false},
		"ssh":                   {false, "DISPLAY SSH_CONNECTION", "linux", false},
		"ssh to a mac":          {false, "SSH_CONNECTION", "darwin", false},
		"ci":                    {false, "DISPLAY CI BROWSER", "linux", false},
		"ci=false":              {false, "DISPLAY CI=false BROWSER", "linux", true},
		"ci=0":                  {false, "DISPLAY CI=0", "linux", true},
		"ci=False, no display":  {false, "CI=False", "linux", false},
		"NO_BROWSER":            {false, "DISPLAY NO_BROWSER BROWSER", "linux", false},
		"--no-browser":          {true, "DISPLAY BROWSER", "linux", false},
		"NO_BROWSER on windows": {false, "NO_BROWSER", "windows", false},
	} {
		lookup := func(v string) (string, bool) {
			for _, set := range strings.Fields(c.env) {
				if name, value, ok := strings.Cut(set, "="); name == v {
					return map[bool]string{true: value, false: "1"}[ok], true
				}
			}
			return "", false
		}
		if why := headless(c.never, lookup, c.system); (why == "") != c.opens {
			t.Errorf("%s: %q", name, why)
		}
	}
}
