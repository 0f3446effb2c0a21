//go:build race

package schema

const slow = 10 // times as long as without the race detector
