//go:build race

package plugin

// racing reports that the race detector slows everything down about ten times.
const racing = true
