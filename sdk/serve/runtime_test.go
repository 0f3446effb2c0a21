package serve

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestRuntime checks that a plugin tunes the Go runtime, and that the environment
// overrides it.
func TestRuntime(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	gc := debug.SetGCPercent(100)
	defer func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(gc)
	}()
	t.Setenv("GOGC", "100")
	t.Setenv("GOMAXPROCS", "7")
	tuneRuntime()
	if got := debug.SetGCPercent(100); got != 100 || runtime.GOMAXPROCS(0) != procs {
		t.Errorf("with values in the environment: GOGC=%d GOMAXPROCS=%d, want 100 and %d",
			got, runtime.GOMAXPROCS(0), procs)
	}
	t.Setenv("GOGC", "")
	t.Setenv("GOMAXPROCS", "")
	tuneRuntime()
	if got, want := debug.SetGCPercent(100), processors(procs); got != gcPercent || runtime.GOMAXPROCS(0) != want {
		t.Errorf("GOGC=%d GOMAXPROCS=%d, want %d and %d", got, runtime.GOMAXPROCS(0), gcPercent, want)
	}
	for available, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 16: 8} {
		if got := processors(available); got != want {
			t.Errorf("%d of %d processors, want %d", got, available, want)
		}
	}
}
