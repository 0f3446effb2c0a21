package serve

import (
	"os"
	"runtime"
	"runtime/debug"
)

// gcPercent is the GOGC of a plugin. Its live heap is small, and the messages that it
// carries are not: a higher value costs little memory and saves most of the time of the
// garbage collector.
const gcPercent = 400

// tuneRuntime sets the Go runtime up for a plugin, unless the environment says
// otherwise. A plugin shares the machine with the host and the servers, and its
// goroutines pass each message on after a few microseconds. With half of the
// processors, they meet on the same thread more often, and fewer threads are woken.
func tuneRuntime() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(processors(runtime.GOMAXPROCS(0)))
	}
}

// processors returns how many of the available processors a plugin uses.
func processors(available int) int { return max(1, available/2) }
