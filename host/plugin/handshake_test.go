package plugin

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestCheckHandshake covers valid and invalid handshakes. P9 P10, L6 L7 L8 L22
func TestCheckHandshake(t *testing.T) {
	dir := filepath.Join(string(filepath.Separator)+"run", "d")
	in := func(elem ...string) string {
		return dir + string(filepath.Separator) + strings.Join(elem, string(filepath.Separator))
	}
	unix := func(address string) string { return "1|1|unix|" + address + "|netrpc|\n" }
	for _, c := range []struct {
		line string
		tls  bool
		code fault.Code // empty if accepted
	}{
		{unix(in("s")), false, ""},
		{"1|1|unix|" + in("s") + "|netrpc", false, ""},
		{"1|1|unix|" + in("s") + "|netrpc||true\r\n", false, ""},
		{"  1|1|unix|" + in("s") + "|netrpc|\n", false, ""},
		{unix(in("...")), false, ""},
		{"1|1|tcp|127.0.0.1:10000|netrpc|MIIB\n", true, ""},

		{unix(in()), false, fault.PluginHandshake},
		{unix(dir), false, fault.PluginHandshake},
		{unix(in(".")), false, fault.PluginHandshake},
		{unix(in("..")), false, fault.PluginHandshake},
		{unix(in("..", "x")), false, fault.PluginHandshake},
		{unix(in("sub", "s")), false, fault.PluginHandshake},
		{unix(in("link", "..", "s")), false, fault.PluginHandshake},
		{unix(in(".", "s")), false, fault.PluginHandshake},
		{unix(in("", "s")), false, fault.PluginHandshake},
		{unix(dir + "x" + string(filepath.Separator) + "s"), false, fault.PluginHandshake},
		{unix("s"), false, fault.PluginHandshake},
		{unix(""), false, fault.PluginHandshake},
		{unix("@" + in("s")), false, fault.PluginHandshake},
		{unix("/run/docker.sock"), false, fault.PluginHandshake},
		{"1|1|unixgram|" + in("s") + "|netrpc|\n", false, fault.PluginHandshake},
		{"1|1|tcp|127.0.0.1:1|netrpc|\n", false, fault.PluginHandshake},
		{unix(in("s")) + "MIIB", false, fault.PluginHandshake},
		{"1|1|unix|" + in("s") + "|netrpc|MIIB\n", false, fault.PluginHandshake},
		{"1|1|unix|" + in("s") + "|netrpc|MIIB\n", true, fault.PluginHandshake},
		{"1|1|tcp|127.0.0.1:10000|netrpc|\n", true, fault.PluginHandshake},
		{"1|1|tcp|127.0.0.1:10000.evil:80|netrpc|MIIB\n", true, fault.PluginHandshake},
		{"1|1|tcp|127.0.0.1:http|netrpc|MIIB\n", true, fault.PluginHandshake},
		{"1|1|tcp|127.0.0.1:0|netrpc|MIIB\n", true, fault.PluginHandshake},
		{"1|1|tcp|127.0.0.1:65536|netrpc|MIIB\n", true, fault.PluginHandshake},
		{"1|1|tcp|127.0.0.1|netrpc|MIIB\n", true, fault.PluginHandshake},
		{"1|1|tcp|10.0.0.1:80|netrpc|MIIB\n", true, fault.PluginHandshake},
		{"1|1|tcp|localhost:80|netrpc|MIIB\n", true, fault.PluginHandshake},

		{"", false, fault.PluginHandshake},
		{"\n", false, fault.PluginHandshake},
		{"||||\n", false, fault.PluginProtocol},
		{"hello\n", false, fault.PluginHandshake},
		{"1|1|unix|" + in("s") + "\n", false, fault.PluginHandshake},
		{"2|1|unix|" + in("s") + "|netrpc|\n", false, fault.PluginProtocol},
		{"1|0|unix|" + in("s") + "|netrpc|\n", false, fault.PluginProtocol},
		{"1|2|unix|" + in("s") + "|netrpc|\n", false, fault.PluginProtocol},
		{"1|-1|unix|" + in("s") + "|netrpc|\n", false, fault.PluginProtocol},
		{"1|one|unix|" + in("s") + "|netrpc|\n", false, fault.PluginProtocol},
		{"1|1|unix|" + in("s") + "|grpc|\n", false, fault.PluginProtocol},
	} {
		network, address, err := checkHandshake(c.line, dir, c.tls)
		if c.code == "" && (err != nil || !strings.Contains(c.line, "|"+network+"|"+address+"|")) {
			t.Errorf("%q: %q %q, %v", c.line, network, address, err)
		}
		if c.code != "" && !fault.Is(err, c.code) {
			t.Errorf("%q: got %v, want %s", c.line, err, c.code)
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "\"\"",
		"a\x1b[2J\xff\u202e":              `"a\x1b[2J` + "\uFFFD" + `\u202e"`,
		strings.Repeat("x", 3*quotedSize): `"` + strings.Repeat("x", quotedSize) + `…"`,
	} {
		if got := quoted(in); got != want {
			t.Errorf("%.40q: got %s", in, got)
		}
	}
}

// FuzzHandshake checks that a handshake leads only to a file in the directory or, with
// TLS, to a local port.
func FuzzHandshake(f *testing.F) {
	for _, line := range []string{
		"1|1|unix|/run/d/s|netrpc|\n", "1|1|unix|/run/d/../x|netrpc|\n", "1|1|tcp|127.0.0.1:1234|netrpc|MIIB\n",
		"1|1|unix|@/run/d/s|netrpc|", "hello", "1|1|unix|/run/d/a\x00b|netrpc||x|y",
		"1|1|tcp|127.0.0.1:1@evil|netrpc|c",
	} {
		f.Add(line, true)
		f.Add(line, false)
	}
	f.Fuzz(func(t *testing.T, line string, tls bool) {
		dir := filepath.FromSlash("/run/d")
		network, address, err := checkHandshake(line, dir, tls)
		if err != nil {
			if network != "" || address != "" || fault.As(err).Code == fault.Internal || len(err.Error()) > 2000 {
				t.Errorf("rejected with %q %q, %v", network, address, err)
			}
			return
		}
		if tls {
			a, err := net.ResolveTCPAddr(network, address)
			if err != nil || !a.IP.Equal(net.IPv4(127, 0, 0, 1)) {
				t.Errorf("accepted %q %q: %v", network, address, err)
			}
			return
		}
		if network != "unix" || filepath.Dir(address) != dir || filepath.Clean(address) != address || address == dir {
			t.Errorf("accepted %q %q", network, address)
		}
	})
}
