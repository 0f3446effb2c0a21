// Package memory returns memory to the system while a process is idle.
//
// The garbage collector runs when the heap has grown by a factor. After a start or a
// burst of messages an idle process would keep the garbage until the next burst.
package memory

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	lookBusy = 500 * time.Millisecond
	lookIdle = 5 * time.Second // after a release
	// quiet is the most that an idle process allocates between two looks, in bytes.
	quiet = 256 << 10
	// worthIt is the least allocated since a release before the next one, in bytes.
	worthIt = 2 << 20
)

// ReleaseWhenIdle returns memory to the system whenever the process has become idle,
// until ctx ends. A process is idle while it allocates little. A release takes a few
// milliseconds of processor time, and makes the next call about one slower.
func ReleaseWhenIdle(ctx context.Context) {
	var w watch
	every := lookBusy
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		every = lookIdle
		switch w.look(allocated()) {
		case busy:
			every = lookBusy
		case release:
			debug.FreeOSMemory()
		}
		timer.Reset(every)
	}
}

// A watch decides from the allocated bytes when memory is released. The first release
// follows the start.
type watch struct {
	last, released uint64
	started        bool
}

type verdict int

const (
	busy verdict = iota
	idle
	release
)

// look takes the number of bytes allocated since the start of the process.
func (w *watch) look(total uint64) verdict {
	since := total - w.last
	w.last = total
	switch {
	case since > quiet:
		return busy
	case w.started && total-w.released < worthIt:
		return idle
	}
	w.released, w.started = total, true
	return release
}

// allocated returns the bytes allocated on the heap since the start of the process. It
// does not stop the process.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
