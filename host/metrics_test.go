package host

import (
	"fmt"
	"net"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestOptionalMetricsOfAReload: a process that goes on without metrics, because another one has
// their address, goes on after a reload too. A process that needs them keeps its configuration.
func TestOptionalMetricsOfAReload(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, optional := range []bool{true, false} {
		a := loadApp(t)
		defer a.Stop()
		stop, err := startTelemetry(t.Context(), a.App, optional)
		if err != nil {
			t.Fatal(err)
		}
		err = a.audited(t, fmt.Sprintf("telemetry {\n  metrics {\n    listen = %q\n  }\n}\n", l.Addr()))
		if optional && err != nil || !optional && !fault.Is(err, fault.ListenAddress) {
			t.Errorf("optional %v: %v", optional, err)
		}
		stop()
	}
}
