package plugin

import (
	"fmt"
	"os"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// opensForLeaks is how many connections are opened to find a descriptor that leaks.
const opensForLeaks = 1000

// catRequest returns a request for a server that repeats what it reads, behind the plugin
// stdio.
func (h *testHost) catRequest() Request {
	h.t.Helper()
	return Request{
		Spec: Spec{Name: "stdio", Path: build(h.t, "plugins/stdio")}, Component: "stdio", Server: "s",
		MaxMessage: 1 << 20,
		Settings:   []byte(`{"command":["cat"]}`), Dir: h.dir,
	}
}

// openFiles counts the descriptors of a process.
func openFiles(pid int) int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries)
}

// TestOpensLeakNoDescriptor opens connections whose streams the host takes over. Neither
// host nor plugin may keep a descriptor of a closed one.
func TestOpensLeakNoDescriptor(t *testing.T) {
	h := newHost(t)
	opens := opensForLeaks
	if testing.Short() {
		opens /= 10
	}
	var host, plugin int
	for n := range opens {
		c := h.mustOpen(h.catRequest())
		if !c.stream.Piped() {
			t.Fatal("the plugin kept the streams of the server")
		}
		c.echoes(t)
		c.Close(0)
		if n == 10 { // what is made once is open now
			host, plugin = openFiles(os.Getpid()), openFiles(h.pid())
		}
	}
	eventually.NoError(t, func() error {
		if now, below := openFiles(os.Getpid()), openFiles(h.pid()); now > host || below > plugin {
			return fmt.Errorf("the host has %d descriptors and had %d, the plugin %d and had %d",
				now, host, below, plugin)
		}
		return nil
	})
	t.Logf("%d descriptors in the host and %d in the plugin after %d opens", host, plugin, opens)
}
