package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

func TestParseListen(t *testing.T) {
	const bad = ""
	for text, want := range map[string]string{
		"127.0.0.1:7575":                         "127.0.0.1:7575",
		"127.0.0.1:0":                            "127.0.0.1:0",
		"[::1]:0":                                "[::1]:0",
		"[fe80::1%eth0]:80":                      "[fe80::1%eth0]:80",
		":7575":                                  ":7575",
		"localhost:65535":                        "localhost:65535",
		"a-1.example.com:80":                     "a-1.example.com:80",
		"unix:/run/x.sock":                       "unix:/run/x.sock",
		"unix:x.sock":                            "unix:/etc/junctor/x.sock",
		"unix:../run//x.sock":                    "unix:/etc/run/x.sock",
		"unix:@abstract":                         "unix:/etc/junctor/@abstract", // still a file
		"unix:/" + strings.Repeat("a", 99):       "unix:/" + strings.Repeat("a", 99),
		"unix:/" + strings.Repeat("a", 100):      bad,
		"unix:":                                  bad,
		"unix:/run/\x00x":                        bad,
		"unix:/run/\nx":                          bad,
		"":                                       bad,
		"7575":                                   bad,
		"localhost":                              bad,
		"127.0.0.1":                              bad,
		"127.0.0.1:":                             bad,
		"127.0.0.1:-1":                           bad,
		"127.0.0.1:+80":                          bad,
		"127.0.0.1:65536":                        bad,
		"127.0.0.1:007575":                       bad,
		"127.0.0.1:http":                         bad,
		"127.1:80":                               bad, // some parsers read 127.0.0.1
		"0x7f.1:80":                              bad,
		"2130706433:80":                          bad,
		"256.0.0.1:80":                           bad,
		"127.0.0.01:80":                          bad,
		"::1:80":                                 bad,
		"[localhost]:80":                         bad,
		"[127.0.0.1]:80":                         bad,
		"[::1]":                                  bad,
		"[::1:80":                                bad,
		"*:80":                                   bad,
		"local host:80":                          bad,
		"-a.example.com:80":                      bad,
		"a..example.com:80":                      bad,
		"example.com.:80":                        bad,
		"http://127.0.0.1:80":                    bad,
		"127.0.0.1:80/mcp":                       bad,
		"user@127.0.0.1:80":                      bad,
		"127.0.0.1:80\n":                         bad,
		strings.Repeat("a", 254) + ":80":         bad,
		"ｌｏｃａｌｈｏｓｔ:80":                           bad,
		"127.0.0.1:\u0661\u0662":                 bad,
		"unix:/" + strings.Repeat("a/../", 2000): "unix:/",
	} {
		got, err := parseListen(text, "/etc/junctor")
		if got != want || (err != nil) != (want == bad) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestIsLocal(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:80": true, "127.255.255.254:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
		"localhost:80": true, "LocalHost:80": true, "unix:/run/x.sock": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "[::ffff:0.0.0.0]:80": false,
		"128.0.0.1:80": false, "10.0.0.1:80": false,
		"[fe80::1%lo]:80": false, "[::2]:80": false, "localhost.example.com:80": false,
		"localhost6:80": false, "example.com:80": false,
		"127.0.0.1.example.com:80": false, "": false, "unix": false,
	} {
		if got := isLocal(listen); got != want {
			t.Errorf("%q: %v", listen, got)
		}
	}
}

// FuzzParseListen checks that parsing an accepted address again does not change it,
// that it contains no line break, and that isLocal holds for loopback addresses only.
func FuzzParseListen(f *testing.F) {
	for _, text := range []string{"127.0.0.1:80", "[::1]:0", ":1", "unix:x", "localhost:80", "[::ffff:7f00:1]:80",
		"a.b:1", "[fe80::1%a]:1", "[::1%0]:0", "[::1%\x00]:0", "[::1%a\nb]:0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kept, err := parseListen(text, "/etc")
		if err != nil {
			return
		}
		if again, err := parseListen(kept, "/"); again != kept || err != nil {
			t.Errorf("%q becomes %q, then %q: %v", text, kept, again, err)
		}
		if strings.ContainsAny(kept, "\r\n\x00") {
			t.Errorf("%q", kept)
		}
		if !isLocal(kept) || strings.HasPrefix(kept, "unix:/") {
			return
		}
		host, _, err := net.SplitHostPort(kept)
		host, _, _ = strings.Cut(host, "%")
		if err != nil || !net.ParseIP(host).IsLoopback() && !strings.EqualFold(host, "localhost") {
			t.Errorf("isLocal(%q) is true", kept)
		}
	})
}

// withHTTP returns a configuration with the given body of the http block.
func withHTTP(body string) string { return "gateway {\n  http {\n" + body + "\n  }\n}\n" }

const (
	aToken = "auth \"static_token\" {\n token = env(\"LONG_TOKEN\")\n subject = \"a\"\n}\n"
	aCert  = "tls {\n cert = \"c\"\n key = \"k\"\n}\n"
	anyCA  = "tls {\n cert = \"c\"\n key = \"k\"\n client_ca = \"ca\"\n}\n"
)

func TestWithAddressChecksAddressOfFlag(t *testing.T) {
	const auth, tls, plain, open = "must be authenticated", "must have TLS", "has no TLS", "nothing authenticates"
	for _, c := range []struct {
		text, listen string
		want         []string // in this order; an error begins with "!"
	}{
		{"", "127.0.0.1:0", []string{open}},
		{"", "unix:x.sock", []string{open}},
		{"", "0.0.0.0:80", []string{"!" + auth, "!" + tls}},
		{"", ":80", []string{"!" + auth, "!" + tls}},
		{"", "", []string{"!is not an address"}},
		{"", "80", []string{"!is not an address"}},
		{"", strings.Repeat("9", 1<<20), []string{"!the address of --http is not an address"}},
		{withHTTP(""), "127.0.0.1:0", []string{open}},
		{withHTTP(""), "unix:x.sock", []string{"that can open it: " + open}},
		{withHTTP("socket_mode = \"0660\""), "unix:x.sock", []string{"of its group: " + open}},
		{withHTTP("socket_mode = \"0666\""), "unix:x.sock", []string{"on this machine: " + open}},
		{withHTTP(aToken + "socket_mode = \"0660\""), "unix:x.sock", nil},
		{withHTTP(aToken + "socket_mode = \"0660\"\nlisten = \"unix:/x.sock\""), "127.0.0.1:0",
			[]string{"no unix socket"}},
		{withHTTP(""), "[::]:80", []string{"!" + auth, "!" + tls}},
		{withHTTP(aToken), "127.0.0.1:0", nil},
		{withHTTP(aToken), "0.0.0.0:80", []string{"!" + tls}},
		{withHTTP(aToken + aCert), "0.0.0.0:80", nil},
		{withHTTP(aToken + aCert), "unix:x.sock", []string{"!which has no TLS"}},
		{withHTTP(aToken + "allow_plaintext = true"), "0.0.0.0:80", []string{plain}},
		{withHTTP(aToken + "allow_plaintext = true\nlisten = \":1\""), "0.0.0.0:80", []string{plain}},
		{withHTTP(aToken + "allow_plaintext = true\nlisten = \":1\""), "127.0.0.1:80", nil},
		{withHTTP("allow_plaintext = true"), "0.0.0.0:80", []string{"!" + auth, plain}},
		{withHTTP(aCert), "0.0.0.0:80", []string{"!" + auth}},
		{withHTTP(anyCA), "0.0.0.0:80", nil},
		{withHTTP(anyCA + "origins = []"), "0.0.0.0:80", nil},
		{withHTTP(anyCA + "origins = []"), "localhost:80", nil},
		{withHTTP(anyCA + "listen = \":80\""), "127.0.0.1:80", nil},
		{withHTTP(aCert + aToken + "listen = \":80\""), "example.com:80", nil},
	} {
		loaded, said := loadText(t, c.text)
		if loaded == nil {
			t.Fatal(rendered(said))
		}
		h := loaded.Gateway.HTTP
		got, ds := h.WithAddress(c.listen, said)
		if len(ds) != len(c.want) {
			t.Errorf("%q on %.40q:\n%s\nwant %q", c.text, c.listen, rendered(ds), c.want)
			continue
		}
		for i, d := range ds {
			want, refused := strings.CutPrefix(c.want[i], "!")
			if !strings.Contains(d.Summary, want) || refused != (d.Severity == source.Error) ||
				!strings.Contains(d.Summary, "--http") ||
				len(d.Summary) > 300 || d.Hint == "" ||
				d.Code != map[bool]fault.Code{true: fault.ConfigInvalid}[refused] {
				t.Errorf("%q on %.40q: %+v, want %q", c.text, c.listen, d, c.want[i])
			}
			if place := fmt.Sprint(d.At, d.In, d.Snippet); h.Given && place != "junctor.hcl:2:3gateway[  http {]" ||
				!h.Given && place != "[]" {
				t.Errorf("the place is %s", place)
			}
		}
		if !ds.HasErrors() && !strings.HasPrefix(c.listen, "unix:") && got.Listen != c.listen ||
			h.Listen != loadGood(t, c.text).Gateway.HTTP.Listen {
			t.Errorf("listens on %s instead of %s", got.Listen, c.listen)
		}
	}
}

// TestWithAddressKeepsOtherDiagnostics checks that WithAddress returns, once, the warnings of the load
// that are not about the address.
func TestWithAddressKeepsOtherDiagnostics(t *testing.T) {
	text := withHTTP("auth \"static_token\" {\n token = \"literal-of-the-file\"\n subject = \"a\"\n}\nallow_plaintext = true\nlisten = \":1\"")
	c, loaded := loadText(t, text)
	if c == nil || len(loaded) != 2 {
		t.Fatal(rendered(loaded))
	}
	for listen, want := range map[string]int{"127.0.0.1:1": 1, ":2": 2, "": 2} {
		_, ds := c.Gateway.HTTP.WithAddress(listen, loaded)
		if len(ds) != want || !strings.Contains(ds[0].Summary, "token") || strings.Contains(rendered(ds), "listen = ") {
			t.Errorf("%q:\n%s", listen, rendered(ds))
		}
	}
	if len(loaded) != 2 {
		t.Error("WithAddress changed the diagnostics of the load")
	}
}

// TestWithAddressResolvesSocketPath checks that a path of the flag starts at the working
// directory, and a path in the file at the directory of the file.
func TestWithAddressResolvesSocketPath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("conf", 0o700); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(Options{})
	l.layers[0].keep(l.files.Add(filepath.Join("conf", "junctor.hcl"), []byte(withHTTP(`listen = "unix:x.sock"`))))
	c, ds := l.load(t.Context())
	if len(here) > 60 || c == nil {
		t.Skipf("the path of a socket in %s would be too long: %s", here, rendered(ds))
	}
	if want := "unix:" + filepath.Join(here, "conf", "x.sock"); c.Gateway.HTTP.Listen != want {
		t.Errorf("%s, want %s", c.Gateway.HTTP.Listen, want)
	}
	on, ds := c.Gateway.HTTP.WithAddress("unix:x.sock", nil)
	if want := "unix:" + filepath.Join(here, "x.sock"); on.Listen != want || len(ds) != 1 {
		t.Errorf("%s, want %s\n%s", on.Listen, want, rendered(ds))
	}
}
