package plugin

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestBrokenStart covers processes that do not become plugins. The fault must name the
// cause and contain the last lines, and nothing may remain (see testHost.end). #1.4 #14
// #21, L6 L22
func TestBrokenStart(t *testing.T) {
	for _, c := range []struct {
		mode  string
		code  fault.Code
		words []string
	}{
		{"silent", fault.PluginStartTimeout, []string{"no handshake", "I have nothing to say"}},
		{"garbage", fault.PluginHandshake, []string{`"Listening on port 8080...\x1b]0;pwned\a`, "standard error"}},
		{"longline", fault.PluginHandshake, []string{strings.Repeat("x", 200) + "…"}},
		{"hello", fault.PluginHandshake, []string{`printed "hello`}},
		{"exits", fault.PluginExited, []string{"exited with status 3 before its handshake", "missing DATABASE_URL"}},
		{"closes", fault.PluginHandshake, []string{"closed its standard output", "who needs standard output"}},
		{"vanishes", fault.PluginExited, []string{"exited with status 5", "that was it"}},
		{"heir", fault.PluginExited, []string{"exited with status 6"}},
		{"mute", fault.PluginStartTimeout, []string{"did not respond in time"}},
		{"core2", fault.PluginProtocol, []string{`go-plugin "2"`}},
		{"version99", fault.PluginProtocol, []string{`protocol "99", this host speaks 1`}},
		{"grpc", fault.PluginProtocol, []string{"grpc"}},
		{"nosocket", fault.PluginHandshake, []string{"not a socket of the plugin"}},
		{"file", fault.PluginHandshake, []string{"not a socket of the plugin"}},
		{"attachhang", fault.PluginStartTimeout, []string{"did not respond in time"}},
		{"attachexit", fault.PluginExited, []string{"exited with status 9", "no, thanks"}},
		{"attachpanic", fault.PluginBroken, []string{"oh no"}},
		{"attachjunk", fault.PluginBroken, []string{"describes itself differently"}},
		{"liar", fault.PluginBroken, []string{"describes itself differently"}},
		{"fickle", fault.PluginBroken, []string{"describes itself differently"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			h := newHost(t)
			if c.code == fault.PluginStartTimeout {
				h.limits.start = 3 * time.Second
			}
			if c.mode == "closes" {
				h.limits.exit = time.Second
			}
			h.mustNotOpen(Request{Spec: h.spec(c.mode, ""), Component: "evil"}, c.code, c.words...)
			if s := h.Status(); len(s) != 1 || s[0].State != Backoff || s[0].PID != 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestLaterManifest checks that unknown members of a newer SDK are accepted.
func TestLaterManifest(t *testing.T) {
	h := newHost(t)
	h.mustOpen(h.request("future", "", "")).echoes(t)
}

// TestOtherProtocol checks that a plugin without a common protocol version never starts.
// L22
func TestOtherProtocol(t *testing.T) {
	h := newHost(t)
	r := h.request("protocol99", "", "")
	h.mustNotOpen(r, fault.PluginProtocol, "evil 1.2.3 speaks protocol 99, this host speaks 1")
	if _, err := os.Stat(r.Spec.Path + ".EVIL_STARTED"); err == nil {
		t.Error("the plugin was started")
	}
}

// TestCanary checks that a handshake cannot make the host dial other addresses, or crash
// it with a certificate. P9 P10, L7 L8
func TestCanary(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "canary")
	tcp, onTCP := canary(t, "tcp", "127.0.0.1:0")
	unix, onUnix := canary(t, "unix", path)
	abstract, onAbstract := canary(t, "unix", "@"+filepath.Base(dir)+t.Name())
	for mode, address := range map[string]string{
		"tcp": tcp.String(), "outside": path, "link": path, "dotdot": path,
		"abstract": strings.TrimPrefix(abstract.String(), "@"), "certificate": "",
	} {
		t.Run(mode, func(t *testing.T) {
			h := newHost(t, hurried)
			h.mustNotOpen(Request{Spec: h.spec(mode, address), Component: "evil"}, fault.PluginHandshake)
		})
	}
	_ = unix
	for name, n := range map[string]*atomic.Int64{"TCP": onTCP, "unix": onUnix, "abstract": onAbstract} {
		if n.Load() > 0 {
			t.Errorf("the host connected to the %s canary %d times", name, n.Load())
		}
	}
}

// canary listens and counts connections.
func canary(t *testing.T, network, address string) (net.Addr, *atomic.Int64) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	n := new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			c.Close()
		}
	}()
	return l.Addr(), n
}

// TestHeirStays checks that another process that listens on the socket of an ended plugin
// does not block the host. #5 #6
func TestHeirStays(t *testing.T) {
	h := newHost(t, hurried)
	h.opts.Orphans = nil // the heir is not killed
	takes(t, "failing", 5*time.Second, func() {
		h.mustNotOpen(Request{Spec: h.spec("heir", ""), Component: "evil"}, fault.PluginExited, "exited with status 6")
	})
	takes(t, "Stop", 3*time.Second, func() { h.Stop(0) })
	endAdopted()
}

// TestStopWhileStarting checks that Stop does not wait for a plugin that is not ready, or
// for a program that does not describe itself.
func TestStopWhileStarting(t *testing.T) {
	for _, mode := range []string{"silent", "mute", "attachhang", "describehang"} {
		t.Run(mode, func(t *testing.T) {
			h := newHost(t)
			h.limits.start, h.limits.describe = patience, patience
			failed := make(chan error, 1)
			r := h.request(mode, "", "")
			go func() {
				_, err := h.Open(t.Context(), r)
				failed <- err
			}()
			eventually.True(t, "it runs", func() bool { return len(marked(process.RunVariable+"="+h.opts.run)) > 0 })
			time.Sleep(50 * time.Millisecond) // until it blocks, which no test can see
			takes(t, "Stop", 5*time.Second, func() { h.Stop(time.Second) })
			mustFail(t, <-failed, fault.UpstreamStopped)
		})
	}
}
