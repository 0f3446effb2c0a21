package launch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launch"
)

// BenchmarkStart runs /bin/true to its end without a wall and behind walls of
// different sizes. The unit p50-ms is the median of the runs.
func BenchmarkStart(b *testing.B) {
	few := sandbox.Rules{Read: []string{"/usr", "/lib", "/lib64", "/bin"}, Devices: sandbox.Devices}
	user := sandbox.Rules{Read: asUser(sandbox.System()), Devices: sandbox.Devices}
	system := sandbox.Rules{Read: sandbox.System(), Devices: sandbox.Devices}
	for _, c := range []struct {
		name  string
		rules *sandbox.Rules
	}{
		{"plain", nil},
		{fmt.Sprintf("wall-of-%d", len(few.Read)), &few},
		{fmt.Sprintf("wall-of-%d", len(user.Read)), &user},
		{fmt.Sprintf("wall-of-%d", len(system.Read)), &system},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				p, err := launch.Start(c.rules, process.Command{Path: "/bin/true", Args: []string{"true"}})
				if err != nil {
					b.Fatal(err)
				}
				<-p.Done()
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}

// asUser returns the paths that an ordinary user has, who can read no secret in
// /etc: root's rules name its other entries.
func asUser(paths []string) []string {
	all := []string{"/etc"}
	for _, path := range paths {
		if !sandbox.Within(path, "/etc") {
			all = append(all, path)
		}
	}
	return all
}
