package buffer

import "testing"

// TestBuffers checks the size of buffers, and that a large one is used again.
func TestBuffers(t *testing.T) {
	for _, size := range []int{0, 1, 1<<smallest - 1, 1 << smallest, 1<<20 + 81, 1 << largest, 1<<largest + 1} {
		b := New(size)
		if len(b) != 0 || cap(b) < size {
			t.Errorf("a buffer for %d bytes has the length %d and the capacity %d", size, len(b), cap(b))
		}
		reused := size >= 1<<smallest && size <= 1<<largest
		if release := Releaser(b); reused != (release != nil) {
			t.Errorf("a buffer of %d bytes is reused: %t, want %t", size, release != nil, reused)
		}
		Free(b)
	}
	const size = 1<<20 + 81
	allocated := testing.AllocsPerRun(100, func() { Free(append(New(size), 1)) })
	if allocated > 2 { // the race detector makes the pool lose some
		t.Errorf("%.0f allocations for a buffer that was used before", allocated)
	}
}
