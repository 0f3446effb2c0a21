// Package eventually waits in tests for what another goroutine or process does.
package eventually

import (
	"testing"
	"time"
)

// limit is far more than anything takes on a busy machine. A test that has a bar measures the time
// itself.
const limit = time.Minute

// True waits until holds returns true. It ends the test if that takes a minute; what then says what
// was expected, such as "the request has ended".
func True(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); pause(begun) {
		if time.Since(begun) > limit {
			t.Fatalf("after %s it is not true that %s", limit, what)
		}
	}
}

// NoError waits until check returns nil. It ends the test with the last error if that takes a
// minute.
func NoError(t testing.TB, check func() error) {
	t.Helper()
	for begun := time.Now(); ; pause(begun) {
		err := check()
		if err == nil {
			return
		}
		if time.Since(begun) > limit {
			t.Fatalf("after %s: %v", limit, err)
		}
	}
}

// pause lets a hundredth of the time pass that was waited so far, at least a millisecond.
func pause(begun time.Time) {
	time.Sleep(max(time.Millisecond, time.Since(begun)/100))
}
