package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestListenAt: what is accepted, as it is kept, and what is not.
func TestListenAt(t *testing.T) {
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
		"unix:@abstract":                         "unix:/etc/junctor/@abstract", // a file all the same
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
		"127.1:80":                               bad, // 127.0.0.1 to some, a name to others
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
		got, err := listenAt(text, "/etc/junctor")
		if got != want || (err != nil) != (want == bad) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestLocal: only what cannot be reached from elsewhere is local.
func TestLocal(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:80": true, "127.255.255.254:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
		"localhost:80": true, "LocalHost:80": true, "unix:/run/x.sock": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "[::ffff:0.0.0.0]:80": false, "128.0.0.1:80": false, "10.0.0.1:80": false,
		"[fe80::1%lo]:80": false, "[::2]:80": false, "localhost.example.com:80": false, "localhost6:80": false, "example.com:80": false,
		"127.0.0.1.example.com:80": false, "": false, "unix": false,
	} {
		if got := isLocal(listen); got != want {
			t.Errorf("%q: %v", listen, got)
		}
	}
}

// FuzzListenAt: what is accepted is accepted again as it is kept, fits a line,
// and is local only if it says so.
func FuzzListenAt(f *testing.F) {
	for _, text := range []string{"127.0.0.1:80", "[::1]:0", ":1", "unix:x", "localhost:80", "[::ffff:7f00:1]:80", "a.b:1", "[fe80::1%a]:1", "[::1%0]:0", "[::1%\x00]:0", "[::1%a\nb]:0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kept, err := listenAt(text, "/etc")
		if err != nil {
			return
		}
		if again, err := listenAt(kept, "/"); again != kept || err != nil {
			t.Errorf("%q is kept as %q, then as %q: %v", text, kept, again, err)
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
			t.Errorf("%q is called local", kept)
		}
	})
}

// front is a configuration whose http block holds a body.
func front(body string) string { return "gateway {\n  http {\n" + body + "\n  }\n}\n" }

const (
	aToken = "auth \"static_token\" {\n token = env(\"LONG_TOKEN\")\n subject = \"a\"\n}\n"
	aCert  = "tls {\n cert = \"c\"\n key = \"k\"\n}\n"
	anyCA  = "tls {\n cert = \"c\"\n key = \"k\"\n client_ca = \"ca\"\n}\n"
)

// TestOn: another address is checked as the one in the file is.
func TestOn(t *testing.T) {
	const auth, tls, plain, origins, open = "must be authenticated", "must have TLS", "has no TLS", "must not be empty", "nothing authenticates"
	for _, c := range []struct {
		text, listen string
		want         []string // in this order; what is refused begins with "!"
	}{
		{"", "127.0.0.1:0", []string{open}},
		{"", "unix:x.sock", []string{open}},
		{"", "0.0.0.0:80", []string{"!" + auth, "!" + tls}},
		{"", ":80", []string{"!" + auth, "!" + tls}},
		{"", "", []string{"!is not an address"}},
		{"", "80", []string{"!is not an address"}},
		{"", strings.Repeat("9", 1<<20), []string{"!the address of --http is not an address"}},
		{front(""), "127.0.0.1:0", []string{open}},
		{front(""), "unix:x.sock", []string{"that can open it: " + open}},
		{front("socket_mode = \"0660\""), "unix:x.sock", []string{"of its group: " + open}},
		{front("socket_mode = \"0666\""), "unix:x.sock", []string{"on this machine: " + open}},
		{front(aToken + "socket_mode = \"0660\""), "unix:x.sock", nil},
		{front(aToken + "socket_mode = \"0660\"\nlisten = \"unix:/x.sock\""), "127.0.0.1:0", []string{"no unix socket"}},
		{front(""), "[::]:80", []string{"!" + auth, "!" + tls}},
		{front(aToken), "127.0.0.1:0", nil},
		{front(aToken), "0.0.0.0:80", []string{"!" + tls}},
		{front(aToken + aCert), "0.0.0.0:80", nil},
		{front(aToken + aCert), "unix:x.sock", []string{"!which has no TLS"}},
		{front(aToken + "allow_plaintext = true"), "0.0.0.0:80", []string{plain}},
		{front(aToken + "allow_plaintext = true\nlisten = \":1\""), "0.0.0.0:80", []string{plain}},
		{front(aToken + "allow_plaintext = true\nlisten = \":1\""), "127.0.0.1:80", nil},
		{front("allow_plaintext = true"), "0.0.0.0:80", []string{"!" + auth, plain}},
		{front(aCert), "0.0.0.0:80", []string{"!" + auth}},
		{front(anyCA), "0.0.0.0:80", nil},
		{front(anyCA + "origins = []"), "0.0.0.0:80", []string{"!" + origins}},
		{front(anyCA + "origins = []"), "localhost:80", nil},
		{front(anyCA + "listen = \":80\""), "127.0.0.1:80", nil},
		{front(aCert + aToken + "listen = \":80\""), "example.com:80", nil},
	} {
		loaded, said := loadText(t, c.text)
		if loaded == nil {
			t.Fatal(rendered(said))
		}
		h := loaded.Gateway.HTTP
		got, ds := h.On(c.listen, said)
		if len(ds) != len(c.want) {
			t.Errorf("%q on %.40q:\n%s\nwant %q", c.text, c.listen, rendered(ds), c.want)
			continue
		}
		for i, d := range ds {
			want, refused := strings.CutPrefix(c.want[i], "!")
			if !strings.Contains(d.Summary, want) || refused != (d.Severity == Error) || !strings.Contains(d.Summary, "--http") ||
				len(d.Summary) > 300 || d.Hint == "" || d.Code != map[bool]fault.Code{true: fault.ConfigInvalid}[refused] {
				t.Errorf("%q on %.40q: %+v, want %q", c.text, c.listen, d, c.want[i])
			}
			if place := fmt.Sprint(d.At, d.In, d.Snippet); h.Given && place != "junctor.hcl:2:3gateway[  http {]" || !h.Given && place != "[]" {
				t.Errorf("the place is %s", place)
			}
		}
		if !ds.HasErrors() && !strings.HasPrefix(c.listen, "unix:") && got.Listen != c.listen || h.Listen != loadGood(t, c.text).Gateway.HTTP.Listen {
			t.Errorf("listens on %s instead of %s", got.Listen, c.listen)
		}
	}
}

// TestOnKeeps: what the load warned of beside the address is still said, once.
func TestOnKeeps(t *testing.T) {
	text := front("auth \"static_token\" {\n token = \"literal-of-the-file\"\n subject = \"a\"\n}\nallow_plaintext = true\nlisten = \":1\"")
	c, loaded := loadText(t, text)
	if c == nil || len(loaded) != 2 {
		t.Fatal(rendered(loaded))
	}
	for listen, want := range map[string]int{"127.0.0.1:1": 1, ":2": 2, "": 2} {
		_, ds := c.Gateway.HTTP.On(listen, loaded)
		if len(ds) != want || !strings.Contains(ds[0].Summary, "token") || strings.Contains(rendered(ds), "listen = ") {
			t.Errorf("%q:\n%s", listen, rendered(ds))
		}
	}
	if len(loaded) != 2 {
		t.Error("it changed what the load said")
	}
}

// TestOnSocket: a path on the command line starts where that is written, one in
// a file at the file.
func TestOnSocket(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("conf", 0o700); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(Options{})
	l.add(filepath.Join("conf", "junctor.hcl"), []byte(front(`listen = "unix:x.sock"`)))
	c, ds := l.load(t.Context())
	if len(here) > 60 || c == nil {
		t.Skipf("no room for a socket's path in %s: %s", here, rendered(ds))
	}
	if want := "unix:" + filepath.Join(here, "conf", "x.sock"); c.Gateway.HTTP.Listen != want {
		t.Errorf("%s, want %s", c.Gateway.HTTP.Listen, want)
	}
	on, ds := c.Gateway.HTTP.On("unix:x.sock", nil)
	if want := "unix:" + filepath.Join(here, "x.sock"); on.Listen != want || len(ds) != 1 {
		t.Errorf("%s, want %s\n%s", on.Listen, want, rendered(ds))
	}
}
