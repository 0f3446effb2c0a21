//go:build !linux

package doctor

// orphans is not known on this system, where no process reads the environment of another.
func orphans() []int { return nil }

func nameOf(int) string { return "" }
