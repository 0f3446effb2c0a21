//go:build !linux

package sandbox

// Probe returns what this system can enforce: nothing, because the wall exists on
// Linux only.
func Probe() Support { return Support{} }
