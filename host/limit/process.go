package limit

import (
	"math"
	"os"
	"runtime/debug"
)

// goPart is the part of the process's memory that is left to what the Go runtime
// does not count, such as the program itself.
const goPart = 8

// ProcessMemory returns the bytes that the process may take: most, or less where
// its control group or GOMEMLIMIT allows less.
func ProcessMemory(most int64) int64 {
	if group := groupMemory(os.DirFS("/")); group > 0 {
		most = min(most, group)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		most = min(most, debug.SetMemoryLimit(-1)) // a negative limit only reads it
	}
	return most
}

// SetGoMemory makes the Go runtime collect garbage as often as it takes to stay
// within most bytes, unless GOMEMLIMIT says how often. It returns the limit.
func SetGoMemory(most int64) int64 {
	if os.Getenv("GOMEMLIMIT") == "" && most > 0 && most < math.MaxInt64 {
		debug.SetMemoryLimit(most - most/goPart)
	}
	return debug.SetMemoryLimit(-1)
}
