//go:build !linux

package serve

// nameProcess does nothing: the system names the process after its program.
func nameProcess(string) {}
