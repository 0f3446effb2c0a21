package plugin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestBrokenDescription covers programs that do not describe themselves properly. #14,
// L6
func TestBrokenDescription(t *testing.T) {
	for _, c := range []struct {
		mode  string
		words []string
	}{
		{"describehang", []string{"did not describe itself within 2s", "thinking about it"}},
		{"describebig", []string{"printed more than 1048576 bytes"}},
		{"describeforever", []string{"printed more than 1048576 bytes"}},
		{"describenothing", []string{"printed no manifest", "exited with status 4", "no idea what I am"}},
		{"describejunk",
			[]string{`did not print a manifest: its output begins with "usage: evil [options]"`, "before serve.Main"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			h := newHost(t)
			if h.limits.describe = patience / 4; c.mode == "describehang" {
				h.limits.describe = 2 * time.Second
			}
			takes(t, "describing", 5*time.Second, func() {
				_, _, err := h.Describe(h.soon(), h.brokenProgram(c.mode), "")
				mustFail(t, err, fault.PluginDescribe, c.words...)
			})
			h.mustNotOpen(h.request(c.mode, "", ""), fault.PluginDescribe)
			if left, _ := filepath.Glob(filepath.Join(h.dir, "cache", "manifests", "*")); len(left) > 0 {
				t.Errorf("cached: %q", left)
			}
		})
	}
}

// TestHeldDescription checks that a description ends with its program, even if another
// process holds its standard output open. #4
func TestHeldDescription(t *testing.T) {
	h := newHost(t)
	defer endAdopted()
	h.limits.describe = patience
	takes(t, "describing", 5*time.Second, func() {
		if m, _, err := h.Describe(h.soon(), h.brokenProgram("describeheld"), ""); err != nil || m.Version != "1.2.3" {
			t.Errorf("got %+v, %v", m, err)
		}
	})
}

// TestDescribeOnce checks that a program describes itself once for all callers, and never
// if the cache has its digest.
func TestDescribeOnce(t *testing.T) {
	h := newHost(t)
	path := h.brokenProgram("marker")
	ran := func() bool { return os.Remove(path+".EVIL_DESCRIBED") == nil }
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if m, digest, err := h.Describe(h.soon(), path, ""); err != nil || m.Name != "evil" || len(digest) != 64 {
				t.Errorf("got %+v, %q, %v", m, digest, err)
			}
		})
	}
	all.Wait()
	if !ran() {
		t.Error("the program did not run")
	}
	_, digest, _ := h.Describe(h.soon(), path, "")
	again := h.another()
	if _, _, err := again.Describe(h.soon(), path, digest); err != nil || ran() {
		t.Errorf("the cache was not used: %v", err)
	}
	cached := filepath.Join(h.dir, "cache", "manifests", digest+".json")
	for _, junk := range []string{"", "{}", "\x00", `{"name":"evil","version":"1.0.0"}`} {
		if err := os.WriteFile(cached, []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		again := h.another()
		if m, _, err := again.Describe(h.soon(), path, ""); err != nil || m.Version != "1.2.3" || !ran() {
			t.Errorf("with %q in the cache: %+v, %v", junk, m, err)
		}
		if text, _ := os.ReadFile(cached); !strings.Contains(string(text), "1.2.3") {
			t.Errorf("the cache still has %q", text)
		}
	}
}

// another returns a second supervisor with the same options.
func (h *testHost) another() *Supervisor {
	s := New(h.opts)
	h.t.Cleanup(func() { s.Stop(0) })
	return s
}

// TestDescribeCancellation checks that cancellation and Stop kill the program, and that
// Status does not block meanwhile.
func TestDescribeCancellation(t *testing.T) {
	h := newHost(t)
	h.limits.describe = patience
	r := h.request("describehang", "", "")
	opened := make(chan error, 1)
	go func() {
		_, err := h.Open(h.soon(), r)
		opened <- err
	}()
	runs := func() bool { return len(marked(process.RunVariable+"="+h.opts.run)) > 0 }
	eventually.True(t, "it runs", runs)
	takes(t, "Status", time.Second, func() {
		if s := h.Status(); len(s) != 1 || s[0].State != Starting {
			t.Errorf("got %+v", s)
		}
	})
	h.Stop(0)
	mustFail(t, <-opened, fault.UpstreamStopped)
	if _, _, err := h.Describe(h.soon(), r.Spec.Path, ""); !fault.Is(err, fault.UpstreamStopped) {
		t.Errorf("after Stop: %v", err)
	}

	h = newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	described := make(chan error, 1)
	go func() {
		_, _, err := h.Describe(ctx, h.brokenProgram("describehang"), "")
		described <- err
	}()
	eventually.True(t, "it runs", runs)
	cancel()
	if err := <-described; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestParseManifest(t *testing.T) {
	const schema = `{"attributes":[]}`
	for _, text := range []string{
		"", "null", "[]", "{}", `{"name":"a"}`, `{"name":"a","version":"1.0.0"}`,
		`{"name":"a","version":"1.0.0","transports":{}}`, `{"name":"a","transports":{"t":` + schema + `}}`,
		`{"name":1,"version":"1.0.0"}`, `{"name":"a","version":"1.0.0","protocols":"1"}`,
		`{"name":"a","version":"1.0.0","transports":{"t":` + schema + `}} x`, strings.Repeat("[", 100000),
	} {
		if m, err := parseManifest([]byte(text)); err == nil {
			t.Errorf("parseManifest(%.60q) = %+v, want an error", text, m)
		}
	}
	text := `{"name":"a","version":"1.0.0","news":[1],"transports":{"t":{"news":2}}}`
	m, err := parseManifest([]byte(text))
	if err != nil || !describes([]byte(text), m) {
		t.Errorf("unknown members changed the manifest: %v", err)
	}
	for _, other := range []string{
		`{"name":"b","version":"1.0.0","transports":{"t":{}}}`, `{"name":"a","version":"1.0.1","transports":{"t":{}}}`,
		`{"name":"a","version":"1.0.0","transports":{"u":{}}}`,
		`{"name":"a","version":"1.0.0","transports":{"t":{}},"protocols":[1]}`, "",
	} {
		if describes([]byte(other), m) {
			t.Errorf("describes(%q) is true", other)
		}
	}
}

func TestCheckProtocol(t *testing.T) {
	for _, c := range []struct {
		protocols []int
		ok        bool
	}{{[]int{1}, true}, {[]int{2, 1}, true}, {[]int{2}, false}, {nil, false}, {[]int{-1, 0}, false}} {
		if err := checkProtocol(sdk.Manifest{Protocols: c.protocols}); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.protocols, err)
		}
	}
	err := checkProtocol(sdk.Manifest{Name: "new", Version: "9.9.9", Protocols: []int{7, 6}})
	mustFail(t, err, fault.PluginProtocol, "new 9.9.9", "7, 6", "speaks 1", "update junctor")
	err = checkProtocol(sdk.Manifest{Name: "old", Version: "9.9.9", Protocols: []int{0}})
	mustFail(t, err, fault.PluginProtocol, "speaks protocol 0", "rebuild")
}
