//go:build !linux

package process

// MarkDescendants does nothing: no limit of this system marks the descendants of a process.
func MarkDescendants() error { return nil }

func markDescendant(int) error { return nil }

// yieldMemory does nothing: no other system is told which process to end first.
func yieldMemory(int) error { return nil }

func numbered(start func()) uint64 { start(); return 0 }

// IsDescendant returns false: see [MarkDescendants].
func IsDescendant(int) (bool, error) { return false, nil }
