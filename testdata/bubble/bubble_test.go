package bubble

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSleep checks that a bubble's time passes, and that real time does not.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if Sleep(24 * time.Hour); time.Since(begun) != 24*time.Hour {
			t.Errorf("%v passed", time.Since(begun))
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("Sleep does not panic outside of a bubble")
		}
	}()
	Sleep(time.Hour)
}
