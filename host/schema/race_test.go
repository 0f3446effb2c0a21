//go:build race

package schema

const slow = 10 // slowdown of the race detector
