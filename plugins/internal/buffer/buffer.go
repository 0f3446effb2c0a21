// Package buffer reuses the buffers of large messages. Most of the cost of a new buffer
// is to clear it and to collect it.
package buffer

import (
	"math/bits"
	"sync"
)

const (
	smallest = 16 // binary logarithm of the size in bytes from which buffers are reused
	largest  = 22 // of the size up to which they are reused, which is 4 MiB
)

// pools holds free buffers by the binary logarithm of their size, rounded down.
var pools [largest + 1]sync.Pool

// New returns an empty buffer with room for at least size bytes.
func New(size int) []byte {
	if class := bits.Len(uint(size)) - 1; class >= smallest {
		for c := class; c <= min(class+1, largest); c++ {
			if b, ok := pools[c].Get().(*[]byte); ok && cap(*b) >= size {
				return (*b)[:0]
			}
		}
	}
	return make([]byte, 0, size)
}

// Free makes the memory of b available to New. Nothing may use b afterwards.
func Free(b []byte) {
	if class := bits.Len(uint(cap(b))) - 1; class >= smallest && cap(b) <= 1<<largest {
		pools[class].Put(&b)
	}
}

// Releaser returns a function that frees b, or nil if b is not reused.
func Releaser(b []byte) func() {
	if cap(b) < 1<<smallest || cap(b) > 1<<largest {
		return nil
	}
	return func() { Free(b) }
}
