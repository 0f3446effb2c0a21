//go:build !unix

package httpconn

// descriptors returns 0, because the system has no such limit. newLimiter calls it once for
// each listener.
func descriptors() int { return 0 }
